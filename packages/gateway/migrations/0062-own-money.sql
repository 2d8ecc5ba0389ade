-- The operator's own money: opening balances of bank accounts, deposits and withdrawals of the owner, fees that are swept, bank
-- charges and interest. A fees account is below zero by what refunds gave back after its money was swept.
alter table accounts
  drop constraint accounts_owner_kind_check,
  add constraint accounts_owner_kind_check
    check (owner_kind in ('wallet', 'merchant', 'bank', 'rail', 'suspense', 'fees', 'write_off', 'rail_fees', 'equity',
                          'bank_charges', 'interest')),
  drop constraint accounts_no_overdraft,
  add constraint accounts_no_overdraft
    check (owner_kind in ('bank', 'rail', 'write_off', 'rail_fees', 'fees', 'equity', 'bank_charges', 'interest')
           or credits_posted - debits_posted - debits_pending >= 0);

-- Existing rows already satisfy the constraints that these replace.
alter table transfers
  drop constraint transfers_kind_check,
  add constraint transfers_kind_check
    check (kind in ('payment', 'refund', 'top_up', 'top_up_credit', 'payout', 'payout_return', 'late_payment', 'late_return',
                    'transfer_received', 'transfer_applied', 'transfer_returned', 'fee', 'fee_return', 'correction',
                    'rail_settlement', 'rail_fee', 'opening_balance', 'owner_deposit', 'owner_withdrawal', 'fee_sweep',
                    'bank_charge', 'interest')) not valid,
  drop constraint transfers_of_payment,
  add constraint transfers_of_payment
    check ((kind in ('top_up', 'payout', 'payout_return', 'correction', 'rail_settlement', 'rail_fee', 'opening_balance',
                     'owner_deposit', 'owner_withdrawal', 'fee_sweep', 'bank_charge', 'interest'))
           = (payment_id is null)) not valid,
  drop constraint transfers_act,
  add constraint transfers_act
    check (kind in ('payout', 'payout_return')
           or (kind in ('top_up', 'correction', 'rail_settlement', 'rail_fee', 'opening_balance', 'owner_deposit',
                        'owner_withdrawal', 'fee_sweep', 'bank_charge', 'interest')) = (audit_id is not null)) not valid,
  drop constraint transfers_of_nobody,
  add constraint transfers_of_nobody
    check (kind in ('correction', 'fee_sweep')
           or (kind in ('top_up', 'rail_settlement', 'rail_fee', 'opening_balance', 'owner_deposit', 'owner_withdrawal',
                        'bank_charge', 'interest')) = (merchant_id = '')) not valid;

-- The opening balance of a bank account in a currency. Small, never spread. amount_minor is below zero for an account that
-- began overdrawn; reversed_minor is what corrections took back of it.
create table bank_openings (
  transfer_id    text           primary key,
  bank_name      text           not null references bank_accounts,
  currency       text           not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor   numeric(20, 0) not null check (amount_minor <> 0),
  reversed_minor numeric(20, 0) not null default 0 check (reversed_minor between 0 and abs(amount_minor)),
  day            date           not null,                           -- the balance with which this day began
  book_day       date           not null                            -- when the ledger got it
);
-- At most one of a bank account and currency stands.
create unique index bank_openings_standing on bank_openings (bank_name, currency) where reversed_minor < abs(amount_minor);
