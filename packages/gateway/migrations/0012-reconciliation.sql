create table statement_mappings (
  mapping_name text   primary key check (mapping_name ~ '^[a-z][a-z0-9-]{0,31}$'),
  account      text   not null,
  settles_to   text   references bank_accounts(bank_name),  -- for a rail: the account that it pays to
  columns      jsonb  not null,
  changed_at   bigint not null
);

create table statement_imports (
  import_id   uuid    primary key,
  file_sha256 text    not null unique check (length(file_sha256) = 64),
  file_name   text    not null,
  format      text    not null check (format in ('camt.053', 'mt940', 'csv')),
  mapping     text,
  lines       integer not null check (lines >= 0),
  known       integer not null check (known >= 0),    -- already imported from another file
  skipped     integer not null check (skipped >= 0),  -- not booked yet, or excluded by the mapping
  accounts    text[]  not null,
  first_day   date,
  last_day    date,
  imported_at bigint  not null,
  audit_id    uuid    not null
);

create table statement_lines (
  account        text,
  line_id        text,
  import_id      uuid,                    -- null: derived from a line of another account
  line_number    integer       not null,
  position       integer,                 -- in the file, of which one text line may have several
  day            date          not null,
  value_day      date          not null,
  accounting_day date          not null,
  currency       text          not null,
  amount_minor   numeric(20,0) not null check (amount_minor <> 0),
  fee_minor      numeric(20,0) not null default 0 check (fee_minor <> 'NaN'),
  mark           text          not null,  -- the number by which the books know it
  refs           text[]        not null,
  batch          text,
  is_return      boolean       not null default false,
  party          text,
  description    text,
  match_id       uuid,
  break_id       uuid,                    -- the open break
  party_iban     text,
  primary key (account, line_id)
);
create index statement_lines_broken on statement_lines (account, day, line_id) where break_id is not null;
create index statement_lines_day on statement_lines (account, currency, accounting_day);
create index statement_lines_import on statement_lines (import_id, position);
create index statement_lines_match on statement_lines (match_id) where match_id is not null;
create index statement_lines_open on statement_lines (account, day, line_id) where match_id is null and break_id is null;

create table statement_balances (
  account      text,
  currency     text,
  day          date,  -- the balance at the end of this day
  amount_minor numeric(38,0) not null check (amount_minor <> 'NaN'),
  primary key (account, currency, day)
);

create table rail_batches (
  account       text,
  currency      text,
  batch         text,
  settles_to    text          not null,
  gross_minor   numeric(20,0) not null,
  fee_minor     numeric(20,0) not null,
  settled_gross numeric(20,0) not null default 0,
  settled_fee   numeric(20,0) not null default 0,
  last_day      date          not null,
  primary key (account, currency, batch),
  check ('NaN' not in (gross_minor, fee_minor, settled_gross, settled_fee))
);
create index rail_batches_open on rail_batches (settles_to, currency, last_day)
  where gross_minor <> settled_gross or fee_minor <> settled_fee;

create table reconciliation_matches (
  match_id   uuid   primary key,
  account    text   not null,
  rule       text   not null
);

create table matched_transfers (
  account      text,
  merchant_id  text,
  transfer_id  text,
  match_id     uuid          not null,
  currency     text          not null,
  amount_minor numeric(20,0) not null check (amount_minor <> 'NaN'),
  day          date          not null,
  primary key (account, merchant_id, transfer_id)
);
create index matched_transfers_match on matched_transfers (match_id);

create table reconciliation_breaks (
  break_id     uuid          primary key,
  account      text          not null,
  currency     text          not null,
  kind         text          not null check (kind in ('missing_here', 'missing_there', 'amount_differs', 'twice', 'late')),
  amount_minor numeric(20,0) not null check (amount_minor <> 'NaN'),
  size_minor   numeric(20,0) not null check (size_minor > 0),  -- the amount of the item
  day          date          not null,
  line_id      text,
  merchant_id  text,
  transfer_id  text,
  item         jsonb,                                          -- the transfer at that time
  found_at     bigint        not null,
  owner        text,
  correction_id uuid,
  resolved_at  bigint,
  resolved_by  text,
  resolution   text check (resolution in ('matched', 'accepted', 'written_off', 'confirmed', 'paired', 'parked', 'returned')),
  reason       text,
  check ((resolved_at is null) = (resolution is null)),
  check (line_id is not null or transfer_id is not null)
);
create unique index reconciliation_breaks_item on reconciliation_breaks (account, merchant_id, transfer_id)
  where resolved_at is null and kind in ('missing_there', 'amount_differs');
create unique index reconciliation_breaks_line on reconciliation_breaks (account, line_id)
  where resolved_at is null and line_id is not null;
create index reconciliation_breaks_open on reconciliation_breaks (found_at, break_id) where resolved_at is null;
create index reconciliation_breaks_resolved on reconciliation_breaks (resolved_at desc, break_id) where resolved_at is not null;

create table break_notes (
  break_id uuid   references reconciliation_breaks(break_id),
  note_id  uuid,
  actor    text   not null,
  noted_at bigint not null,
  text     text   not null check (text <> ''),
  primary key (break_id, note_id)
);

create table reconciliation_days (
  account     text,
  currency    text,
  day         date,
  book        numeric(38,0) not null,
  outside     numeric(38,0) not null,
  in_transit  numeric(38,0) not null,
  unexplained numeric(38,0) not null,
  breaks      integer       not null,  -- open breaks
  closed_at   bigint        not null,
  audit_id    uuid          not null,
  primary key (account, currency, day),
  check (unexplained = outside - book - in_transit)
);
