-- Bank accounts of the operator, in place of the one funding account. Whatever comes from outside or goes there names one
-- of them, and bears the bank's reference and value date. Small, never spread.
create table bank_accounts (
  bank_name  text   primary key check (bank_name ~ '^[a-z][a-z0-9-]{0,31}$'),
  currency   text   check (currency ~ '^[A-Z]{3}$'),                   -- null: every currency
  holder     text   not null check (holder <> ''),
  iban       text   check (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$'),
  lines      text[] check (cardinality(lines) > 0),                    -- where there is no IBAN
  bic        text   check (bic ~ '^[A-Z0-9]{8}([A-Z0-9]{3})?$'),
  created_at bigint not null,
  closed_at  bigint,
  check (iban is null or lines is null)
);

-- The opening balance of a bank account in a currency. Small, never spread. amount_minor is below zero for an account that
-- began overdrawn; reversed_minor is what corrections took back of it.
create table bank_openings (
  transfer_id    text         primary key,
  bank_name      text         not null references bank_accounts(bank_name),
  currency       text         not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor   numeric(20,0) not null check (amount_minor <> 0::numeric),
  reversed_minor numeric(20,0) not null default 0,
  day            date         not null,                                -- the balance with which this day began
  book_day       date         not null,                                -- when the ledger got it
  check (reversed_minor >= 0::numeric and reversed_minor <= abs(amount_minor))
);
-- At most one of a bank account and currency stands.
create unique index bank_openings_standing on bank_openings (bank_name, currency)
  where reversed_minor < abs(amount_minor);

-- One row for each currency of an outside account that a statement was read of: `bank:main`, `rail:card`. Locked by whoever
-- imports, matches or closes.
create table outside_accounts (
  account        text         check (account ~ '^(bank|rail):[a-z][a-z0-9-]{0,31}$'),
  currency       text         check (currency ~ '^[A-Z]{3}$'),
  start_day      date         not null,                                -- what was booked before is not looked for
  start_minor    numeric(38,0) not null,                               -- of the books, when that day began
  seen_through   date         not null,                                -- the last day of which there is a statement
  closed_through date,
  primary key (account, currency)
);

insert into bank_accounts (bank_name, holder, created_at)
values ('main', 'Operator', (extract(epoch from now()) * 1000)::bigint);
