-- Corrections: an operator's transfer that puts another one right, and names it. Nothing is edited or removed.
alter table transfers add column corrects text;                     -- of the same merchant_id
create index transfers_corrections on transfers (made_at) where kind = 'correction';

-- How much of a transfer was corrected: never more than its amount, however many corrections it has.
create table corrected_transfers (
  merchant_id     text           not null,
  transfer_id     text           not null,
  amount_minor    numeric(20, 0) not null,
  corrected_minor numeric(20, 0) not null check (corrected_minor > 0),
  primary key (merchant_id, transfer_id),
  check (corrected_minor <= amount_minor)
);

-- What was written off is a loss below zero, a gain above it.
alter table accounts
  drop constraint accounts_owner_kind_check,
  add constraint accounts_owner_kind_check
    check (owner_kind in ('wallet', 'merchant', 'bank', 'rail', 'suspense', 'fees', 'write_off')),
  drop constraint accounts_no_overdraft,
  add constraint accounts_no_overdraft
    check (owner_kind in ('bank', 'rail', 'write_off') or credits_posted - debits_posted - debits_pending >= 0);

-- Those that are there were held to the same by the constraints that these replace.
alter table transfers
  drop constraint transfers_kind_check,
  add constraint transfers_kind_check
    check (kind in ('payment', 'refund', 'top_up', 'payout', 'payout_return', 'late_payment', 'late_return', 'transfer_received',
                    'transfer_applied', 'transfer_returned', 'fee', 'fee_return', 'correction')) not valid,
  drop constraint transfers_of_payment,
  add constraint transfers_of_payment
    check ((kind in ('top_up', 'payout', 'payout_return', 'correction')) = (payment_id is null)) not valid,
  drop constraint transfers_act,
  add constraint transfers_act
    check (kind in ('payout', 'payout_return') or (kind in ('top_up', 'correction')) = (audit_id is not null)) not valid,
  drop constraint transfers_check7,
  add constraint transfers_of_nobody
    check (kind = 'correction' or (kind = 'top_up') = (merchant_id = '')) not valid,
  add constraint transfers_corrects check (corrects is null or kind = 'correction') not valid;

alter table approvals
  drop constraint approvals_act_check,
  add constraint approvals_act_check
    check (act in ('order.refund', 'merchant.payout', 'wallet.top-up', 'key.add', 'merchant.callback-hosts',
                   'merchant.bank-account', 'correction')),
  drop constraint approvals_check1,
  add constraint approvals_merchant
    check (act = 'correction' or (act = 'wallet.top-up') = (merchant_id is null)),
  drop constraint approvals_details_check,
  add constraint approvals_details_check
    check (act not in ('key.add', 'merchant.callback-hosts', 'merchant.bank-account', 'correction')
           or details is not null);
