create table bill_turns (
  merchant_id text primary key,
  next_day    date not null
) with (fillfactor = 70);
create index bill_turns_due on bill_turns (next_day);

create table bills (
  merchant_id text    references merchants(merchant_id),
  day         date,
  made_at     bigint  not null,
  lines       integer not null check (lines > 0),
  bytes       bigint  not null check (bytes > 0),
  sha256      bytea   not null check (length(sha256) = 32),  -- of the bytes of all parts
  primary key (merchant_id, day)
);

create table bill_totals (
  merchant_id       text,
  day               date,
  currency          text          check (currency ~ '^[A-Z]{3}$'),
  opening_minor     numeric(38,0) not null,  -- the closing balance of the previous bill
  late_minor        numeric(38,0) not null,  -- of earlier days, booked after their bills
  payments_minor    numeric(38,0) not null,
  refunds_minor     numeric(38,0) not null,
  fees_minor        numeric(38,0) not null,
  payouts_minor     numeric(38,0) not null,
  corrections_minor numeric(38,0) not null,
  closing_minor     numeric(38,0) not null,
  primary key (merchant_id, day, currency),
  foreign key (merchant_id, day) references bills(merchant_id, day),
  check (opening_minor + late_minor + payments_minor + refunds_minor + fees_minor + payouts_minor + corrections_minor = closing_minor)
);

create table bill_parts (
  merchant_id text,
  day         date,
  part        integer check (part > 0),
  content     text    not null,
  primary key (merchant_id, day, part)
);
