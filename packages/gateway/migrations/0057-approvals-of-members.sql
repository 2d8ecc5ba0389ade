-- Who acts for a merchant in its portal can need a second operator: an operator's invitation, and another role, a new
-- password or a reset second step of a member.
alter table approvals
  drop constraint approvals_act_check,
  add constraint approvals_act_check
    check (act in ('order.refund', 'merchant.payout', 'wallet.top-up', 'key.add', 'merchant.callback-hosts',
                   'merchant.bank-account', 'correction', 'transfer.confirm', 'member.invite', 'member.change-role',
                   'member.recover', 'member.reset-totp')),
  drop constraint approvals_details_check,
  add constraint approvals_details_check
    check (act not in ('key.add', 'merchant.callback-hosts', 'merchant.bank-account', 'correction', 'transfer.confirm',
                       'member.invite', 'member.change-role', 'member.recover', 'member.reset-totp')
           or details is not null),
  drop constraint approvals_money_check,
  add constraint approvals_money_check
    check ((act in ('key.add', 'merchant.callback-hosts', 'merchant.bank-account', 'member.invite', 'member.change-role',
                    'member.recover', 'member.reset-totp')) = (currency is null)
           and (currency is null) = (amount_minor is null));
