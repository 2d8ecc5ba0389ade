create table callback_endpoints (
  merchant_id text,
  endpoint_id text,
  slot        smallint not null check (slot between 1 and 16),
  url         text     not null,
  host        text     not null,                         -- of url, with its port if it has one
  format      text     not null check (format in ('envelope', 'standard')),
  events      text[]   check (cardinality(events) > 0),  -- null: all, also future ones
  created_at  bigint   not null,
  paused_at   bigint,                                    -- its callbacks wait
  removed_at  bigint,                                    -- its callbacks are exhausted
  primary key (merchant_id, endpoint_id)
);
create unique index callback_endpoints_live on callback_endpoints (merchant_id, slot) where removed_at is null;

create table callback_endpoint_secrets (
  merchant_id   text,
  endpoint_id   text     not null,
  secret_id     uuid,
  slot          smallint not null check (slot in (1, 2)),
  sealed_secret bytea    not null,
  created_at    bigint   not null,
  ended_at      bigint,
  primary key (merchant_id, secret_id),
  foreign key (merchant_id, endpoint_id) references callback_endpoints(merchant_id, endpoint_id)
);
create unique index callback_endpoint_secrets_live on callback_endpoint_secrets (merchant_id, endpoint_id, slot) where ended_at is null;

-- No index holds a column that a successful attempt changes, so recording an attempt writes only the row.
create table callbacks (
  merchant_id      text,
  callback_id      uuid,
  payment_id       text     not null,
  refund_id        text     not null default '',
  event_name       text     not null,
  callback_url     text     not null,
  host             text     not null,                -- of callback_url, with its port if it has one
  body             text,                             -- plain; null once the history is pruned
  created_at       bigint   not null,
  attempts_made    integer  not null default 0,      -- including resends
  retries_made     smallint not null default 0 check (retries_made between 0 and 8),
  first_attempt_at bigint,
  last_attempt_at  bigint,
  next_attempt_at  bigint,                           -- by the retry schedule; null: no retry is scheduled
  last_outcome     text,
  last_http_status smallint,
  delivered_at     bigint,
  is_warned        boolean  not null default false,  -- HTTP 200, but not {"code":20000…}
  exhausted_at     bigint,
  held_reason      text,                             -- why no attempt is possible
  resent_at        bigint,                           -- when the newest resend was requested
  endpoint_id      text     not null default '',
  primary key (merchant_id, callback_id),
  constraint callbacks_once unique (merchant_id, payment_id, event_name, refund_id, endpoint_id),
  foreign key (merchant_id, payment_id) references orders(merchant_id, payment_id),
  check (delivered_at is null or exhausted_at is null)
) with (fillfactor = 90);
create index callbacks_endpoint on callbacks (merchant_id, endpoint_id, callback_id) where endpoint_id <> '';
create index callbacks_exhausted on callbacks (callback_id) where exhausted_at is not null;
create index callbacks_exhausted_merchant on callbacks (merchant_id, callback_id) where exhausted_at is not null;
create index callbacks_kept on callbacks (callback_id) where body is not null;
create index callbacks_resent on callbacks (merchant_id, resent_at) where resent_at is not null;

create table callback_attempts (
  merchant_id text,
  callback_id uuid,
  attempt     integer,           -- 1 is the first
  started_at  bigint  not null,
  duration_ms integer not null,
  outcome     text    not null,  -- acknowledged, refused, or why the host was unreachable
  http_status smallint,
  detail      text,
  answer      bytea,             -- the first bytes of the response
  is_resend   boolean not null,
  primary key (merchant_id, callback_id, attempt)
) partition by range (callback_id);
create table callback_attempts_default partition of callback_attempts default;

create table callback_queue (
  callback_id    uuid    primary key,
  merchant_id    text    not null,
  host           text    not null,
  due_at         bigint  not null,
  is_resend      boolean not null default false,
  claim_id       uuid,    -- the worker that sends it
  claimed_until  bigint,  -- the end of its lease
  endpoint_id    text    not null default '',
  destination_id uuid    not null default '00000000-0000-0000-0000-000000000000'::uuid
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, fillfactor = 45);
create index callback_queue_due on callback_queue (due_at);
create index callback_queue_endpoint on callback_queue (merchant_id, endpoint_id) where endpoint_id <> '';
create index callback_queue_lines on callback_queue (merchant_id, host, destination_id, due_at);

create table callback_hosts (
  host          text    primary key,
  failures      integer not null,  -- consecutive
  failing_since bigint  not null,
  reason        text    not null,
  pauses        integer not null default 0,
  paused_at     bigint,
  paused_until  bigint             -- then one callback is a probe
);

create table callback_destinations (
  merchant_id    text,
  host           text,
  destination_id uuid,
  endpoint_id    text    not null,  -- empty: the callbackUrl of orders
  url            text    not null,  -- without its query
  failures       integer not null,  -- consecutive
  failing_since  bigint  not null,
  failed_at      bigint  not null,
  reason         text    not null,
  pauses         integer not null default 0,
  paused_at      bigint,
  paused_until   bigint,            -- then one callback is a probe
  primary key (merchant_id, host, destination_id)
);
create index callback_destinations_failed on callback_destinations (failed_at);
create index callback_destinations_host on callback_destinations (host);

create table resend_requests (
  merchant_id  text,
  requested_at bigint,  -- the envelope's timestamp
  sign_hash    bytea,
  queued       integer not null default 0,
  primary key (merchant_id, requested_at, sign_hash)
);

-- Events get positions when they are read, by one reader at a time under the lock of this row: without gaps.
create table event_feed (
  feed_id         smallint primary key check (feed_id = 1),
  is_kept         boolean  not null default false,
  last_position   bigint   not null default 0,
  pruned_position bigint   not null default 0  -- the last purged position
);

create table events (
  event_id    uuid     primary key,
  merchant_id text     not null,
  payment_id  text     not null,
  refund_id   text     not null default '',
  event_name  text     not null,
  body        text     not null,
  created_at  bigint   not null,
  step        smallint not null,  -- the order of events with the same time
  position    bigint   unique
);
create index events_without_position on events (step, event_id) where "position" is null;

create view callbacks_with_progress as
select c.merchant_id, c.callback_id, c.payment_id, c.refund_id, c.event_name, c.callback_url, c.host, c.body,
       c.created_at, coalesce(a.attempt, c.attempts_made) as attempts_made, c.retries_made,
       coalesce(a.started_at, c.first_attempt_at) as first_attempt_at,
       coalesce(a.started_at, c.last_attempt_at) as last_attempt_at,
       case when a.attempt is null then c.next_attempt_at end as next_attempt_at,
       coalesce(a.outcome, c.last_outcome) as last_outcome,
       coalesce(a.http_status, c.last_http_status) as last_http_status,
       coalesce(a.started_at + a.duration_ms, c.delivered_at) as delivered_at,
       c.is_warned, c.exhausted_at, c.held_reason, c.resent_at, c.endpoint_id from callbacks c left join callback_attempts a
    on c.attempts_made = 0 and a.merchant_id = c.merchant_id and a.callback_id = c.callback_id and a.attempt = 1;
