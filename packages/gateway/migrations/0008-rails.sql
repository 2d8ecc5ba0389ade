create table rails (
  rail_id      text     primary key check (rail_id ~ '^[a-z][a-z0-9-]{0,31}$' and rail_id <> 'wallet'),
  name         text     not null check (name <> ''),
  names        jsonb    not null,                                      -- by language, where it differs
  url          text,
  currencies   text[]   not null check (cardinality(currencies) > 0),
  least        jsonb    not null,                                      -- by currency, minor units as text
  most         jsonb    not null,
  merchants    text[],                                                 -- null: all
  position     smallint not null,                                      -- at the checkout, the lowest first
  logo         text,                                                   -- SVG
  is_paused    boolean  not null default false,                        -- by an operator
  failures     integer  not null default 0 check (failures >= 0),      -- in a row
  last_failure text,
  paused_until bigint,                                                 -- by its failures
  created_at   bigint   not null,
  account      jsonb,                                                  -- holder, iban, bic, lines
  constraint rails_reached check (num_nonnulls(url, account) = 1)
);

create table rail_secrets (
  rail_id       text     references rails(rail_id),
  secret_id     uuid,
  slot          smallint not null check (slot = any (array[1, 2])),
  sealed_secret bytea    not null,
  created_at    bigint   not null,
  ended_at      bigint,
  primary key (rail_id, secret_id)
);
-- Two slots: the third live secret is refused by the database itself.
create unique index rail_secrets_live on rail_secrets (rail_id, slot) where ended_at is null;

-- Open attempts, refunds and returns: small, never spread, claimed from by workers. due_at is when to ask, and while a
-- worker holds a claim, when its lease ends. Woken while it is claimed, it is asked again at once.
create table rail_tasks (
  task_id        text    primary key,                                  -- transactionId, refundId or the return's id
  kind           text    not null check (kind in ('payment', 'refund', 'return')),
  rail_id        text    not null references rails(rail_id),
  merchant_id    text    not null,
  payment_id     text    not null,
  transaction_id text    not null,                                     -- of the attempt
  created_at     bigint  not null,
  due_at         bigint  not null,
  is_woken       boolean not null default false,
  claim_id       uuid,
  claims         integer not null default 0,
  failures       integer not null default 0                            -- in a row
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index rail_tasks_due on rail_tasks (rail_id, due_at);

-- One row for each time that a consumer chose a rail. `late` is money that came after the order had ended: it is in
-- suspense, `returning` through the rail, `returned`, or `held` for an operator.
create table rail_attempts (
  merchant_id     text,
  transaction_id  text         check (length(transaction_id) <= 30),
  payment_id      text         not null,
  rail_id         text         not null,
  status          text         not null,
  amount_minor    numeric(20,0) not null check (amount_minor > 0::numeric),
  currency        text         not null,
  locale          text         not null,
  reference       text,                                                -- the rail's own number
  next_action     jsonb,                                               -- what the consumer has to do
  reason          text,                                                -- why it was declined, or is held
  cancel_asked_at bigint,                                              -- the consumer wants another way to pay
  return_id       text,                                                -- of the refund that sends late money back
  started_at      bigint       not null,
  ended_at        bigint,
  primary key (merchant_id, transaction_id),
  foreign key (merchant_id, payment_id) references orders(merchant_id, payment_id),
  check ((status in ('starting', 'pending', 'submitted')) = (ended_at is null)),
  check ((status = 'pending') = (next_action is not null)),
  check (status not in ('returning', 'returned') or return_id is not null),
  constraint rail_attempts_status_check check (status in ('starting', 'pending', 'submitted', 'approved', 'declined', 'cancelled', 'returning', 'returned', 'held'))
);
-- One open attempt for each order, whoever tries to begin two.
create unique index rail_attempts_open on rail_attempts (merchant_id, payment_id) where ended_at is null;
create index rail_attempts_order on rail_attempts (merchant_id, payment_id, started_at);
create index rail_attempts_reference on rail_attempts (reference) where reference is not null;
-- The console's search: references and names by how they begin, in any case.
create index rail_attempts_search on rail_attempts (upper(reference) text_pattern_ops)
  where reference is not null;
-- A rail names a payment by its id alone.
create index rail_attempts_transaction on rail_attempts (transaction_id);

-- What rails were asked and what came of it.
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
  outcome     text    not null,                                        -- the rail's status, or how it failed
  detail      text,
  primary key (merchant_id, payment_id, call_id)
);

-- What the bank booked and an operator recorded: money in for an order, or back out of it. Only ever added to. It belongs
-- to the rail's account, so it stays in one place: an entry of the bank counts once, whatever merchant it is for.
create table transfer_entries (
  rail_id           text         references rails(rail_id),
  outside_reference text         check (outside_reference <> ''),      -- the bank's own
  merchant_id       text         not null,
  payment_id        text         not null,
  ordinal           integer      not null check (ordinal > 0),         -- of the order: two who decide at once meet here
  direction         text         not null check (direction in ('in', 'out')),
  transfer_id       text         not null,                             -- in the ledger
  refund_id         text,
  amount_minor      numeric(20,0) not null check (amount_minor > 0::numeric),
  currency          text         not null,
  value_date        date         not null,
  party             text,                                              -- who sent it, or got it
  audit_id          uuid         not null,
  recorded_at       bigint       not null,
  bank_name         text         references bank_accounts(bank_name),
  primary key (rail_id, outside_reference),
  unique (merchant_id, payment_id, ordinal),
  check (refund_id is null or direction = 'out')
);
create index transfer_entries_party on transfer_entries (lower(party) text_pattern_ops)
  where party is not null;
create unique index transfer_entries_refund on transfer_entries (refund_id) where refund_id is not null;
create index transfer_entries_search on transfer_entries (upper(outside_reference) text_pattern_ops);
