create table rails (
  rail_id      text     primary key check (rail_id ~ '^[a-z][a-z0-9-]{0,31}$' and rail_id <> 'wallet'),
  name         text     not null check (name <> ''),
  names        jsonb    not null,                                  -- by language, where it differs
  url          text,
  currencies   text[]   not null check (cardinality(currencies) > 0),
  least        jsonb    not null,                                  -- by currency, minor units as text
  most         jsonb    not null,
  merchants    text[],                                             -- null: all
  position     smallint not null,                                  -- at the checkout, the lowest first
  logo         text,                                               -- SVG
  is_paused    boolean  not null default false,                    -- by an operator
  failures     integer  not null default 0 check (failures >= 0),  -- consecutive
  last_failure text,
  paused_until bigint,                                             -- after failures
  created_at   bigint   not null,
  account      jsonb,                                              -- holder, iban, bic, lines
  authorization_days smallint check (authorization_days > 0),      -- null: takes no captureMode manual
  constraint rails_reached check (num_nonnulls(url, account) = 1)
);

create table rail_secrets (
  rail_id       text     references rails(rail_id),
  secret_id     uuid,
  slot          smallint not null check (slot in (1, 2)),
  sealed_secret bytea    not null,
  created_at    bigint   not null,
  ended_at      bigint,
  primary key (rail_id, secret_id)
);
create unique index rail_secrets_live on rail_secrets (rail_id, slot) where ended_at is null;

create table rail_tasks (
  task_id        text    primary key,        -- transactionId, refundId, the return's id, or rail:disputeId
  kind           text    not null check (kind in ('payment', 'refund', 'return', 'dispute')),
  rail_id        text    not null references rails(rail_id),
  merchant_id    text    not null,
  payment_id     text    not null,
  transaction_id text    not null,           -- of the attempt
  created_at     bigint  not null,
  due_at         bigint  not null,
  is_woken       boolean not null default false,
  claim_id       uuid,
  claims         integer not null default 0,
  failures       integer not null default 0  -- consecutive
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index rail_tasks_due on rail_tasks (rail_id, due_at);

create table rail_attempts (
  merchant_id     text,
  transaction_id  text          check (length(transaction_id) <= 30),
  payment_id      text          not null,
  rail_id         text          not null,
  status          text          not null check (status in ('starting', 'pending', 'submitted', 'authorized', 'approved',
    'declined', 'cancelled', 'returning', 'returned', 'held')),
  amount_minor    numeric(20,0) not null check (amount_minor > 0),
  currency        text          not null,
  locale          text          not null,
  reference       text,    -- the rail's own number
  next_action     jsonb,   -- what the consumer must do
  reason          text,    -- why the attempt was declined or is held
  cancel_asked_at bigint,  -- the consumer wants another way to pay
  return_id       text,    -- the refund that returns late money from suspense
  started_at      bigint        not null,
  ended_at        bigint,
  primary key (merchant_id, transaction_id),
  foreign key (merchant_id, payment_id) references orders(merchant_id, payment_id),
  check ((status in ('starting', 'pending', 'submitted', 'authorized')) = (ended_at is null)),
  check ((status = 'pending') = (next_action is not null)),
  check (status not in ('returning', 'returned') or return_id is not null)
);
create unique index rail_attempts_open on rail_attempts (merchant_id, payment_id) where ended_at is null;
create index rail_attempts_order on rail_attempts (merchant_id, payment_id, started_at);
create index rail_attempts_reference on rail_attempts (reference) where reference is not null;
create index rail_attempts_search on rail_attempts (upper(reference) text_pattern_ops) where reference is not null;
create index rail_attempts_transaction on rail_attempts (transaction_id);

create table rail_calls (
  merchant_id text,
  payment_id  text,
  call_id     uuid,
  rail_id     text    not null,
  task_id     text    not null,
  type        text    not null,
  called_at   bigint  not null,
  duration_ms integer not null,
  http_status integer,
  outcome     text    not null,  -- the rail's status, or how it failed
  detail      text,
  primary key (merchant_id, payment_id, call_id)
);

create table disputes (
  merchant_id  text,
  dispute_id   text          check (length(dispute_id) = 27),
  rail_id      text          not null,
  reference    text          not null,                             -- the rail's own number
  payment_id   text          not null,
  status       text          not null check (status in ('open', 'won', 'lost')),
  amount_minor numeric(20,0) not null check (amount_minor > 0),
  currency     text          not null,
  fee_minor    numeric(20,0) not null check (fee_minor >= 0),
  reason       text          not null,
  respond_by   bigint,
  opened_at    bigint        not null,
  accepts      text[]        not null,                             -- what the rail passes on: evidence, accept
  response     jsonb,                                              -- the merchant's: evidence or acceptance
  sealed_file  bytea,
  passed_on_at bigint        check (passed_on_at is null or response is not null),
  closed_at    bigint        check ((status = 'open') = (closed_at is null)),
  rounds       integer       not null check (rounds > 0),          -- changes, each with its transfers
  primary key (merchant_id, dispute_id),
  unique (merchant_id, rail_id, reference),
  foreign key (merchant_id, payment_id) references orders(merchant_id, payment_id)
);
create index disputes_open on disputes (respond_by) where status = 'open';
create index disputes_order on disputes (merchant_id, payment_id);

create table transfer_entries (
  rail_id           text          references rails(rail_id),
  outside_reference text          check (outside_reference <> ''),  -- the bank's own
  merchant_id       text          not null,
  payment_id        text          not null,
  ordinal           integer       not null check (ordinal > 0),     -- of the order: one of two concurrent entries fails
  direction         text          not null check (direction in ('in', 'out')),
  transfer_id       text          not null,                         -- in the ledger
  refund_id         text,
  amount_minor      numeric(20,0) not null check (amount_minor > 0),
  currency          text          not null,
  value_date        date          not null,
  party             text,                                           -- the sender or the recipient
  audit_id          uuid          not null,
  recorded_at       bigint        not null,
  bank_name         text          references bank_accounts(bank_name),
  primary key (rail_id, outside_reference),
  unique (merchant_id, payment_id, ordinal),
  check (refund_id is null or direction = 'out')
);
create index transfer_entries_party on transfer_entries (lower(party) text_pattern_ops) where party is not null;
create unique index transfer_entries_refund on transfer_entries (refund_id) where refund_id is not null;
create index transfer_entries_search on transfer_entries (upper(outside_reference) text_pattern_ops);
