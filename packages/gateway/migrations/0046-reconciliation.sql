-- Reconciliation: what banks and rails say, line by line, beside what the books have. All of it belongs to the operator's
-- outside accounts, not to a merchant, and stays in one place. Lines, matches and closed days are only ever added.

-- One row for each currency of an outside account that a statement was read of: `bank:main`, `rail:card`. Locked by whoever
-- imports, matches or closes.
create table outside_accounts (
  account        text           not null check (account ~ '^(bank|rail):[a-z][a-z0-9-]{0,31}$'),
  currency       text           not null check (currency ~ '^[A-Z]{3}$'),
  start_day      date           not null,                           -- what was booked before is not looked for
  start_minor    numeric(38, 0) not null,                           -- of the books, when that day began
  seen_through   date           not null,                           -- the last day of which there is a statement
  closed_through date,
  primary key (account, currency)
);

-- How a CSV file of an account is read.
create table statement_mappings (
  mapping_name text   primary key check (mapping_name ~ '^[a-z][a-z0-9-]{0,31}$'),
  account      text   not null,
  settles_to   text   references bank_accounts,                     -- of a rail: where its money comes to
  columns      jsonb  not null,
  changed_at   bigint not null
);

create table statement_imports (
  import_id   uuid    primary key,
  file_sha256 text    not null unique check (length(file_sha256) = 64),
  file_name   text    not null,
  format      text    not null check (format in ('camt.053', 'csv')),
  mapping     text,
  lines       integer not null check (lines >= 0),
  known       integer not null check (known >= 0),                  -- that were in another file before
  skipped     integer not null check (skipped >= 0),                -- not booked yet, or left out by the mapping
  accounts    text[]  not null,
  first_day   date,
  last_day    date,
  imported_at bigint  not null,
  audit_id    uuid    not null
);
create index statement_imports_newest on statement_imports (imported_at, import_id);

-- amount_minor: above zero came in, below zero went out. day: when the outside booked it; accounting_day: the first day
-- that was open then. line_id is made of everything that the file says of the line, so that it is the same in another file.
create table statement_lines (
  account        text           not null,
  line_id        text           collate "C" not null,
  import_id      uuid,                                              -- null: follows from a line of another account
  line_number    integer        not null,
  day            date           not null,
  value_day      date           not null,
  accounting_day date           not null,
  currency       text           not null,
  amount_minor   numeric(20, 0) not null check (amount_minor <> 0),
  fee_minor      numeric(20, 0) not null default 0,
  mark           text           not null,                           -- by what the books name it
  refs           text[]         not null,
  batch          text,
  is_return      boolean        not null default false,
  party          text,
  description    text,
  match_id       uuid,
  break_id       uuid,                                              -- the open one
  primary key (account, line_id)
);
create index statement_lines_open on statement_lines (account, line_id) where match_id is null and break_id is null;
create index statement_lines_broken on statement_lines (account, line_id) where break_id is not null;
create index statement_lines_import on statement_lines (import_id, line_number);
create index statement_lines_match on statement_lines (match_id) where match_id is not null;
create index statement_lines_day on statement_lines (account, currency, accounting_day);

create table statement_balances (
  account      text           not null,
  currency     text           not null,
  day          date           not null,                             -- at its end
  amount_minor numeric(38, 0) not null,
  primary key (account, currency, day)
);

create table reconciliation_matches (
  match_id   uuid   primary key,
  account    text   not null,
  rule       text   not null,
  matched_at bigint not null
);

-- A transfer is matched once for each outside account that it touches. With what sums need, so that none reads transfers.
create table matched_transfers (
  account      text           not null,
  merchant_id  text           not null,
  transfer_id  text           not null,
  match_id     uuid           not null,
  currency     text           not null,
  amount_minor numeric(20, 0) not null,
  day          date           not null,
  primary key (account, merchant_id, transfer_id)
);
create index matched_transfers_match on matched_transfers (match_id);

-- What a rail says it will pay over in one sum, and how much of it came.
create table rail_batches (
  account       text           not null,
  currency      text           not null,
  batch         text           not null,
  settles_to    text           not null,
  gross_minor   numeric(20, 0) not null,
  fee_minor     numeric(20, 0) not null,
  settled_gross numeric(20, 0) not null default 0,
  settled_fee   numeric(20, 0) not null default 0,
  last_day      date           not null,
  primary key (account, currency, batch)
);
create index rail_batches_open on rail_batches (settles_to, currency, last_day)
  where (gross_minor, fee_minor) <> (settled_gross, settled_fee);

-- amount_minor: what is unexplained by it, outside less books; 0 where the books are right and somebody should still look.
-- act_id: of the correction that settles it, once an operator chose that.
create table reconciliation_breaks (
  break_id     uuid           primary key,
  account      text           not null,
  currency     text           not null,
  kind         text           not null check (kind in ('missing_here', 'missing_there', 'amount_differs', 'twice', 'late')),
  amount_minor numeric(20, 0) not null,
  size_minor   numeric(20, 0) not null check (size_minor > 0),      -- of what it is about
  day          date           not null,
  line_id      text,
  merchant_id  text,
  transfer_id  text,
  item         jsonb,                                               -- the books' side, as it was
  found_at     bigint         not null,
  owner        text,
  act_id       uuid,
  settled_at   bigint,
  settled_by   text,
  settlement   text           check (settlement in ('matched', 'accepted', 'written_off', 'confirmed', 'paired')),
  reason       text,
  check ((settled_at is null) = (settlement is null)),
  check (line_id is not null or transfer_id is not null)
);
create index reconciliation_breaks_open on reconciliation_breaks (found_at, break_id) where settled_at is null;
create unique index reconciliation_breaks_line on reconciliation_breaks (account, line_id) where settled_at is null and line_id is not null;
create unique index reconciliation_breaks_item on reconciliation_breaks (account, merchant_id, transfer_id)
  where settled_at is null and kind in ('missing_there', 'amount_differs');

create table break_notes (
  break_id uuid   not null references reconciliation_breaks,
  note_id  uuid   not null,
  actor    text   not null,
  noted_at bigint not null,
  text     text   not null check (text <> ''),
  primary key (break_id, note_id)
);

-- A closed day never changes.
create table reconciliation_days (
  account      text           not null,
  currency     text           not null,
  day          date           not null,
  book         numeric(38, 0) not null,
  outside      numeric(38, 0) not null,
  in_transit   numeric(38, 0) not null,
  unexplained  numeric(38, 0) not null,
  breaks       integer        not null,                             -- that were open
  closed_at    bigint         not null,
  audit_id     uuid           not null,
  primary key (account, currency, day),
  check (unexplained = outside - book - in_transit)
);

-- What the outside names is found by it.
create index transfers_outside_reference on transfers (outside_reference) where outside_reference is not null;
create index transfers_outside_debit on transfers (debit_account, made_at)
  where phase in ('post', 'direct') and (debit_account like 'bank:%' or debit_account like 'rail:%');
create index transfers_outside_credit on transfers (credit_account, made_at)
  where phase in ('post', 'direct') and (credit_account like 'bank:%' or credit_account like 'rail:%');
drop index rail_attempts_creditor_reference;
create index rail_attempts_reference on rail_attempts (reference) where reference is not null;
create index refunds_id on refunds (refund_id);
create index payouts_id on payouts (payout_id);

-- A rail pays over what it collected, less what it keeps: its cost to the operator is below zero in `rail_fees`.
alter table accounts
  drop constraint accounts_owner_kind_check,
  add constraint accounts_owner_kind_check
    check (owner_kind in ('wallet', 'merchant', 'bank', 'rail', 'suspense', 'fees', 'write_off', 'rail_fees')),
  drop constraint accounts_no_overdraft,
  add constraint accounts_no_overdraft
    check (owner_kind in ('bank', 'rail', 'write_off', 'rail_fees') or credits_posted - debits_posted - debits_pending >= 0);

-- Those that are there were held to the same by the constraints that these replace.
alter table transfers
  drop constraint transfers_kind_check,
  add constraint transfers_kind_check
    check (kind in ('payment', 'refund', 'top_up', 'top_up_credit', 'payout', 'payout_return', 'late_payment', 'late_return', 'transfer_received',
                    'transfer_applied', 'transfer_returned', 'fee', 'fee_return', 'correction', 'rail_settlement',
                    'rail_fee')) not valid,
  drop constraint transfers_of_payment,
  add constraint transfers_of_payment
    check ((kind in ('top_up', 'payout', 'payout_return', 'correction', 'rail_settlement', 'rail_fee'))
           = (payment_id is null)) not valid,
  drop constraint transfers_act,
  add constraint transfers_act
    check (kind in ('payout', 'payout_return')
           or (kind in ('top_up', 'correction', 'rail_settlement', 'rail_fee')) = (audit_id is not null)) not valid,
  drop constraint transfers_of_nobody,
  add constraint transfers_of_nobody
    check (kind = 'correction' or (kind in ('top_up', 'rail_settlement', 'rail_fee')) = (merchant_id = '')) not valid;
