create table bank_accounts (
  bank_name  text   primary key check (bank_name ~ '^[a-z][a-z0-9-]{0,31}$'),
  currency   text   check (currency ~ '^[A-Z]{3}$'),  -- null: every currency
  holder     text   not null check (holder <> ''),
  iban       text   check (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$'),
  lines      text[] check (cardinality(lines) > 0),   -- where there is no IBAN
  bic        text   check (bic ~ '^[A-Z0-9]{8}([A-Z0-9]{3})?$'),
  created_at bigint not null,
  closed_at  bigint,
  check (iban is null or lines is null)
);

-- amount_minor is negative for an account that began overdrawn. reversed_minor is the part that corrections took back.
create table bank_openings (
  transfer_id    text          primary key,
  bank_name      text          not null references bank_accounts(bank_name),
  currency       text          not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor   numeric(20,0) not null check (amount_minor <> 0),
  reversed_minor numeric(20,0) not null default 0,
  day            date          not null,  -- the balance at the start of this day
  book_day       date          not null,  -- when it was booked
  check (reversed_minor >= 0 and reversed_minor <= abs(amount_minor))
);
create unique index bank_openings_standing on bank_openings (bank_name, currency) where reversed_minor < abs(amount_minor);

create table outside_accounts (
  account        text          check (account ~ '^(bank|rail):[a-z][a-z0-9-]{0,31}$'),
  currency       text          check (currency ~ '^[A-Z]{3}$'),
  start_day      date          not null,  -- earlier bookings are not reconciled
  start_minor    numeric(38,0) not null check (start_minor <> 'NaN'),  -- the books at the start of that day
  seen_through   date          not null,  -- the last day with a statement
  closed_through date,
  primary key (account, currency)
);

insert into bank_accounts (bank_name, holder, created_at) values ('main', 'Operator', extract(epoch from now()) * 1000);
