create table accounts (
  account_id      text          primary key,
  owner_kind      text          not null check (owner_kind in ('wallet', 'merchant', 'bank', 'rail', 'suspense', 'fees',
    'write_off', 'rail_fees', 'equity', 'bank_charges', 'interest', 'disputes', 'owed')),
  owner_id        text          not null,
  currency        text          not null check (currency ~ '^[A-Z]{3}$'),
  debits_pending  numeric(38,0) not null default 0 check (debits_pending >= 0),
  debits_posted   numeric(38,0) not null default 0 check (debits_posted >= 0),
  credits_pending numeric(38,0) not null default 0 check (credits_pending >= 0),
  credits_posted  numeric(38,0) not null default 0 check (credits_posted >= 0),
  payment_limit   numeric(20,0) check (payment_limit >= 0),
  day_limit       numeric(20,0) check (day_limit >= 0),
  balance_limit   numeric(20,0) check (balance_limit >= 0),
  spent_on        integer       not null default 0,  -- days since 1970-01-01 UTC
  spent           numeric(38,0) not null default 0 check (spent >= 0),
  check (account_id = (owner_kind || ':' || owner_id || ':' || currency)),
  constraint accounts_limits check (owner_kind = 'wallet' or num_nonnulls(payment_limit, day_limit, balance_limit) = 0),
  constraint accounts_no_overdraft check (
    owner_kind in ('bank', 'rail', 'write_off', 'rail_fees', 'fees', 'equity', 'bank_charges', 'interest')
    or case owner_kind when 'owed' then credits_posted <= debits_posted else credits_posted - debits_posted - debits_pending >= 0 end)
) with (fillfactor = 50);

-- Rows are only added: a post or a void names the hold which it ends. Foreign keys would cost more than the row.
create table transfers (
  merchant_id       text,
  transfer_id       text          check (length(transfer_id) <= 30),
  kind              text          not null check (kind in ('payment', 'refund', 'top_up', 'top_up_credit', 'payout',
    'payout_return', 'late_payment', 'late_return', 'transfer_received', 'transfer_applied', 'transfer_returned', 'fee',
    'fee_return', 'correction', 'rail_settlement', 'rail_fee', 'opening_balance', 'owner_deposit', 'owner_withdrawal',
    'fee_sweep', 'bank_charge', 'interest', 'unknown_received', 'unknown_returned', 'dispute', 'dispute_won', 'dispute_lost',
    'dispute_fee', 'debt')),
  phase             text          not null check (phase in ('hold', 'post', 'void', 'direct')),
  hold_id           text,
  debit_account     text          not null,
  credit_account    text          not null,
  currency          text          not null,
  amount_minor      numeric(20,0) not null check (amount_minor > 0),
  payment_id        text,
  refund_id         text,
  audit_id          uuid,  -- the operator's action that caused the transfer
  made_at           bigint        not null,
  outside_reference text,
  value_date        date,
  corrects          text,
  primary key (merchant_id, transfer_id),
  constraint transfers_act check (kind in ('payout', 'payout_return', 'debt') or (payment_id is null) = (audit_id is not null)),
  check (debit_account <> credit_account),
  check (split_part(debit_account, ':', 3) = currency and split_part(credit_account, ':', 3) = currency),
  check ((phase in ('post', 'void')) = (hold_id is not null)),
  constraint transfers_corrects check (corrects is null or kind in ('correction', 'unknown_returned')),
  constraint transfers_direct check (kind = 'payout' or (phase = 'direct') = (kind not in ('payment', 'refund'))),
  constraint transfers_of_nobody check (kind in ('correction', 'fee_sweep')
    or (merchant_id = '') = (payment_id is null and kind not in ('payout', 'payout_return', 'debt'))),
  constraint transfers_of_payment check ((payment_id is not null) = (kind in ('payment', 'refund', 'top_up_credit',
    'fee', 'fee_return', 'late_payment', 'late_return', 'transfer_received', 'transfer_applied', 'transfer_returned',
    'dispute', 'dispute_won', 'dispute_lost', 'dispute_fee'))),
  constraint transfers_of_refund check ((kind in ('refund', 'fee_return')) = (refund_id is not null)),
  constraint transfers_outside check (phase in ('hold', 'void') or (debit_account like 'bank:%' or credit_account like 'bank:%')
      = (outside_reference is not null and value_date is not null))
);
create unique index transfers_applied on transfers (merchant_id, payment_id) where kind = 'transfer_applied';
-- A hold ends once, except by captures, whose ids are the hold's with C and a number.
create unique index transfers_ends on transfers
  (merchant_id, hold_id, (case when starts_with(transfer_id, hold_id || 'C') then transfer_id else '' end)) where hold_id is not null;
create index transfers_corrections on transfers (made_at) where kind = 'correction';
create index transfers_from_wallet on transfers (debit_account, made_at, transfer_id)
  where phase in ('post', 'direct') and starts_with(debit_account, 'wallet:');
create index transfers_outside_credit on transfers (credit_account, made_at)
  where phase in ('post', 'direct') and (credit_account like 'bank:%' or credit_account like 'rail:%' or credit_account like 'disputes:%');
create index transfers_outside_debit on transfers (debit_account, made_at)
  where phase in ('post', 'direct') and (debit_account like 'bank:%' or debit_account like 'rail:%' or debit_account like 'disputes:%');
create index transfers_outside_reference on transfers (outside_reference) where outside_reference is not null;
create unique index transfers_payment_hold on transfers (merchant_id, payment_id) where phase = 'hold' and kind = 'payment';
create unique index transfers_refund_hold on transfers (merchant_id, refund_id) where phase = 'hold' and kind = 'refund';
create index transfers_statement on transfers (merchant_id, made_at) where phase in ('post', 'direct');
create index transfers_to_wallet on transfers (credit_account, made_at, transfer_id)
  where phase in ('post', 'direct') and starts_with(credit_account, 'wallet:');
create unique index transfers_top_up_credit on transfers (merchant_id, payment_id) where kind = 'top_up_credit';

create table corrected_transfers (
  merchant_id     text,
  transfer_id     text,
  amount_minor    numeric(20,0) not null,
  corrected_minor numeric(20,0) not null check (corrected_minor > 0),
  primary key (merchant_id, transfer_id),
  check (corrected_minor <= amount_minor)
);
