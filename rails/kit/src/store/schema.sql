-- The state of one rail, in a schema of its own. A row is written before the provider is called, so that a rail that was
-- killed knows what it may have started.
create table if not exists payments (
  transaction_id text primary key,
  start          jsonb not null,
  amount_minor   numeric(20) not null check (amount_minor > 0),
  currency       text not null,
  started_at     timestamptz not null,
  status         text not null check (status in ('starting', 'pending', 'submitted', 'authorized', 'approved', 'declined',
    'cancelled')),
  provider_id    text unique,
  next_action    jsonb,
  reference      text,
  reason         text,
  -- When the rail next asks the provider without a message: after a crash, or woken by a webhook.
  look_at        timestamptz,
  looks          integer not null default 0,
  check (status <> 'pending' or (provider_id is not null and next_action is not null)),
  check (status <> 'approved' or reference is not null),
  check (status <> 'declined' or reason is not null)
);
create index if not exists payments_to_look_at on payments (look_at) where look_at is not null;

create table if not exists refunds (
  refund_id      text primary key,
  transaction_id text not null references payments,
  amount_minor   numeric(20) not null check (amount_minor > 0),
  currency       text not null,
  note           text,
  started_at     timestamptz not null,
  status         text not null check (status in ('starting', 'submitted', 'approved', 'declined')),
  provider_id    text unique,
  reference      text,
  reason         text,
  look_at        timestamptz,
  looks          integer not null default 0,
  check (status <> 'submitted' or provider_id is not null),
  check (status <> 'declined' or reason is not null)
);
-- What signed webhooks said, for providers that say it nowhere else.
-- A schema of before captures allows one status less.
alter table payments drop constraint if exists payments_status_check;
alter table payments add constraint payments_status_check check (status in ('starting', 'pending', 'submitted', 'authorized',
  'approved', 'declined', 'cancelled')) not valid;
alter table payments add column if not exists notice jsonb not null default '{}';
alter table refunds add column if not exists notice jsonb not null default '{}';
create index if not exists payments_by_reference on payments (reference);
create index if not exists refunds_of_payment on refunds (transaction_id);
create index if not exists refunds_to_look_at on refunds (look_at) where look_at is not null;

-- Reports of settlements that webhooks announced.
create table if not exists reports (
  name text primary key,
  day  date not null
);
create index if not exists reports_of_day on reports (day);

-- Payments with disputes, by our id or the provider's number.
create table if not exists disputed_payments (
  of      text primary key,
  notice  jsonb not null default '{}',
  look_at timestamptz,
  looks   integer not null default 0
);
create index if not exists disputed_payments_to_look_at on disputed_payments (look_at) where look_at is not null;

-- What the gateway was told of each dispute.
create table if not exists disputes (
  dispute_id     text primary key,
  transaction_id text not null references payments,
  status         text not null check (status in ('open', 'won', 'lost'))
);

-- Notifications to the gateway, written in the transaction of the change and removed when the gateway has them.
create table if not exists notifications (
  id         uuid primary key,
  notify_url text not null,
  body       text not null,
  send_at    timestamptz not null,
  attempts   integer not null default 0
);
create index if not exists notifications_to_send on notifications (send_at);
