-- Rails that reach outside: banks, processors' hosted pages, other wallets. The operator registers them; consumers pay
-- through them. Attempts and calls belong to a merchant's orders and are spread with them; rails, their secrets and
-- what is to be asked of them are small and stay in one place.

create table rails (
  rail_id       text     primary key check (rail_id ~ '^[a-z][a-z0-9-]{0,31}$' and rail_id <> 'wallet'),
  name          text     not null check (name <> ''),
  names         jsonb    not null,                                  -- by language, where it differs
  url           text     not null,
  currencies    text[]   not null check (cardinality(currencies) > 0),
  least         jsonb    not null,                                  -- by currency, minor units as text
  most          jsonb    not null,
  merchants     text[],                                             -- null: all
  position      smallint not null,                                  -- at the checkout, the lowest first
  logo          text,                                               -- SVG
  is_paused     boolean  not null default false,                    -- by an operator
  failures      integer  not null default 0 check (failures >= 0),  -- in a row
  last_failure  text,
  paused_until  bigint,                                             -- by its failures
  created_at    bigint   not null
);

create table rail_secrets (
  rail_id       text     not null references rails,
  secret_id     uuid     not null,
  slot          smallint not null check (slot in (1, 2)),
  sealed_secret bytea    not null,
  created_at    bigint   not null,
  ended_at      bigint,
  primary key (rail_id, secret_id)
);
-- Two slots: the third live secret is refused by the database itself.
create unique index rail_secrets_live on rail_secrets (rail_id, slot) where ended_at is null;

-- One row for each time that a consumer chose a rail. `late` is money that came after the order had ended: it is in
-- suspense, `returning` through the rail, `returned`, or `held` for an operator.
create table rail_attempts (
  merchant_id     text           not null,
  transaction_id  text           not null check (length(transaction_id) <= 30),
  payment_id      text           not null,
  rail_id         text           not null,
  status          text           not null check (status in ('starting', 'pending', 'submitted', 'approved', 'declined',
                                   'cancelled', 'returning', 'returned', 'held')),
  amount_minor    numeric(20, 0) not null check (amount_minor > 0),
  currency        text           not null,
  locale          text           not null,
  reference       text,                                             -- the rail's own number
  next_action     jsonb,                                            -- what the consumer has to do
  reason          text,                                             -- why it was declined, or is held
  cancel_asked_at bigint,                                           -- the consumer wants another way to pay
  return_id       text,                                             -- of the refund that sends late money back
  started_at      bigint         not null,
  ended_at        bigint,
  primary key (merchant_id, transaction_id),
  foreign key (merchant_id, payment_id) references orders,
  check ((status in ('starting', 'pending', 'submitted')) = (ended_at is null)),
  check ((status = 'pending') = (next_action is not null)),
  check (status not in ('returning', 'returned') or return_id is not null)
);
-- One open attempt for each order, whoever tries to begin two.
create unique index rail_attempts_open on rail_attempts (merchant_id, payment_id) where ended_at is null;
-- A rail names a payment by its id alone.
create index rail_attempts_transaction on rail_attempts (transaction_id);
create index rail_attempts_order on rail_attempts (merchant_id, payment_id, started_at);

-- What rails were asked and what came of it.
create table rail_calls (
  merchant_id text    not null,
  payment_id  text    not null,
  call_id     uuid    not null,
  rail_id     text    not null,
  task_id     text    not null,
  type        text    not null,
  called_at   bigint  not null,
  duration_ms integer not null,
  http_status integer,
  outcome     text    not null,                                     -- the rail's status, or how it failed
  detail      text,
  primary key (merchant_id, payment_id, call_id)
);

-- Open attempts, refunds and returns: small, never spread, claimed from by workers. due_at is when to ask, and while a
-- worker holds a claim, when its lease ends. Woken while it is claimed, it is asked again at once.
create table rail_tasks (
  task_id        text    primary key,                               -- transactionId, refundId or the return's id
  kind           text    not null check (kind in ('payment', 'refund', 'return')),
  rail_id        text    not null references rails,
  merchant_id    text    not null,
  payment_id     text    not null,
  transaction_id text    not null,                                  -- of the attempt
  created_at     bigint  not null,
  due_at         bigint  not null,
  is_woken       boolean not null default false,
  claim_id       uuid,
  claims         integer not null default 0,
  failures       integer not null default 0                         -- in a row
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index rail_tasks_due on rail_tasks (rail_id, due_at);

-- An order is paid from a wallet or through a rail. While an attempt at a rail is open and the order is pending, the
-- order names it, so that nothing else pays the order meanwhile.
alter table orders
  add column rail_id text,
  add column open_attempt text check (length(open_attempt) <= 30),
  drop constraint orders_check4,
  add constraint orders_payer check (num_nonnulls(wallet_id, rail_id) = num_nonnulls(transaction_id)),
  add constraint orders_open_attempt check (open_attempt is null or status = 'pending');

-- A refund that the merchant's wallet cannot cover fails without asking anybody.
alter table settlements
  alter column wallet_id drop not null,
  add constraint settlements_wallet check (wallet_id is not null or refusal is not null);

-- What a rail has collected and not passed on is below zero in its account; suspense holds money that came late.
alter table accounts
  drop constraint accounts_owner_kind_check,
  add constraint accounts_owner_kind_check
    check (owner_kind in ('wallet', 'merchant', 'funding', 'rail', 'suspense')),
  drop constraint accounts_check1,
  add constraint accounts_no_overdraft
    check (owner_kind in ('funding', 'rail') or credits_posted - debits_posted - debits_pending >= 0);

alter table transfers
  drop constraint transfers_kind_check,
  add constraint transfers_kind_check
    check (kind in ('payment', 'refund', 'top_up', 'payout', 'late_payment', 'late_return')),
  drop constraint transfers_check3,
  add constraint transfers_direct
    check ((phase = 'direct') = (kind in ('top_up', 'payout', 'late_payment', 'late_return'))),
  drop constraint transfers_check4,
  add constraint transfers_of_payment
    check ((kind in ('payment', 'refund', 'late_payment', 'late_return')) = (payment_id is not null));
