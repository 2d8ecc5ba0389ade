-- A second operator's approval for merchants' keys and callback hosts, which are not about an amount of money: what is
-- asked for rests in details.
alter table approvals drop constraint approvals_act_check;
alter table approvals add constraint approvals_act_check
  check (act in ('order.refund', 'merchant.payout', 'wallet.top-up', 'key.add', 'merchant.callback-hosts'));
alter table approvals alter column currency drop not null;
alter table approvals alter column amount_minor drop not null;
alter table approvals add column details jsonb;
alter table approvals add constraint approvals_details_check
  check ((act in ('key.add', 'merchant.callback-hosts')) = (details is not null));
alter table approvals add constraint approvals_money_check
  check ((details is null) = (currency is not null and amount_minor is not null));

-- Disabling an operator revokes the tokens from now on; those of operators who are disabled already must not come
-- back to life either.
update api_tokens set revoked_at = (extract(epoch from now()) * 1000)::bigint
 where revoked_at is null and login in (select login from operators where status = 'disabled');
