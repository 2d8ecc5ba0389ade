-- Callbacks: what merchants are told, the queue of what is still to be delivered, every attempt, and the keys that
-- sign them.

-- The gateway's own RSA pairs. Two at most are not retired, so that one can follow the other without a pause; the
-- newest signs, all of them are published.
create table platform_keys (
  key_id     uuid     primary key,
  slot       smallint not null check (slot in (1, 2)),
  public_key text     not null,                                     -- SPKI as PEM
  sealed_key bytea    not null,                                     -- PKCS#8, under the master key
  created_at bigint   not null,
  retired_at bigint
);
create unique index platform_keys_live on platform_keys (slot) where retired_at is null;

-- One row for every event, kept as history; `refund_id` is empty for an event of the order itself.
-- It waits while both delivered_at and exhausted_at are null. No index holds a column that an attempt changes on
-- the usual way, so that recording one touches the row alone.
create table callbacks (
  merchant_id      text     not null,
  callback_id      uuid     not null,
  payment_id       text     not null,
  refund_id        text     not null default '',
  event_name       text     not null,
  callback_url     text     not null,
  host             text     not null,                               -- of callback_url, with its port if it has one
  body             text,                                            -- plain; null once the history is pruned
  created_at       bigint   not null,
  attempts_made    integer  not null default 0,                     -- all of them, resends included
  retries_made     smallint not null default 0 check (retries_made between 0 and 8),
  first_attempt_at bigint,
  last_attempt_at  bigint,
  next_attempt_at  bigint,                                          -- by the ladder; null: none will come by itself
  last_outcome     text,
  last_http_status smallint,
  delivered_at     bigint,
  is_warned        boolean  not null default false,                 -- HTTP 200, but not {"code":20000…}
  exhausted_at     bigint,
  held_reason      text,                                            -- why it cannot even be tried
  resent_at        bigint,                                          -- when it was last asked for again
  primary key (merchant_id, callback_id),
  unique (merchant_id, payment_id, event_name, refund_id),
  foreign key (merchant_id, payment_id) references orders,
  check (delivered_at is null or exhausted_at is null)
) with (fillfactor = 80);

-- The newest first, over all merchants, and the oldest first for pruning: a callback's id begins with its time.
create index callbacks_kept on callbacks (callback_id) where body is not null;
create index callbacks_exhausted on callbacks (callback_id) where exhausted_at is not null;

-- Written by the very statement that changes the callback's row, so that a foreign key would only cost.
create table callback_attempts (
  merchant_id text    not null,
  callback_id uuid    not null,
  attempt     integer not null,                                     -- 1 is the first
  started_at  bigint  not null,
  duration_ms integer not null,
  outcome     text    not null,                                     -- acknowledged, refused, or why unreachable
  http_status smallint,
  detail      text,
  answer      bytea,                                                -- its first bytes
  is_resend   boolean not null,
  primary key (merchant_id, callback_id, attempt)
);

-- What is still to be delivered: small, never spread, claimed from by workers. The row goes when it is done.
-- A claim leaves the indexed columns alone, so it is cheap and leaves nothing in the indexes.
create table callback_queue (
  callback_id   uuid    primary key,
  merchant_id   text    not null,
  host          text    not null,
  due_at        bigint  not null,
  is_resend     boolean not null default false,
  claim_id      uuid,                                               -- who sends it now …
  claimed_until bigint                                              -- … and until when nobody else may
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- What is due, whoever's it is.
create index callback_queue_due on callback_queue (due_at);
-- The line of one merchant at one host. Claims ask line by line, so that no line can stand in the way of another.
create index callback_queue_lines on callback_queue (merchant_id, host, due_at);

-- Hosts that fail just now; a success takes the row away. Belongs to no merchant: many may share a host.
create table callback_hosts (
  host          text    primary key,
  failures      integer not null,                                   -- in a row
  failing_since bigint  not null,
  reason        text    not null,
  pauses        integer not null default 0,
  paused_at     bigint,
  paused_until  bigint                                              -- then one callback is sent to see
);
