-- What the bank booked names the operator's own account at it, and recording that money came can need a second operator.
alter table transfer_entries
  add column bank_name text references bank_accounts;

alter table approvals
  drop constraint approvals_act_check,
  add constraint approvals_act_check
    check (act in ('order.refund', 'merchant.payout', 'wallet.top-up', 'key.add', 'merchant.callback-hosts',
                   'merchant.bank-account', 'correction', 'transfer.confirm')),
  drop constraint approvals_details_check,
  add constraint approvals_details_check
    check (act not in ('key.add', 'merchant.callback-hosts', 'merchant.bank-account', 'correction', 'transfer.confirm')
           or details is not null);
