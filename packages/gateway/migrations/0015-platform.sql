-- Whether this database holds test money or real money. Written once, when it is first opened; everything that opens it
-- compares it with its own MODE.
create table database_mode (
  is_only boolean primary key default true check (is_only),
  mode    text    not null check (mode in ('sandbox', 'live'))
);

-- When a backup was taken last, by each tool: `tillgate db backup` notes its own, scripts around other tools theirs.
create table backups (
  tool     text   primary key check (tool ~ '^[a-z0-9_.-]{1,32}$'),
  taken_at bigint not null
);

-- Orders and callbacks made in an hour, and what has become of them. Counted anew while something in it is open.
create table overview_hours (
  starts_at  bigint primary key,
  figures    jsonb,                                                    -- null: claimed and not counted yet
  counted_at bigint,
  due_at     bigint                                                    -- when to count again; null: nothing changes any more
);

-- Requests that were refused or slow, by the id that their answers bear: who asked for what, and what was said. Never what
-- they carried. Bounded by whoever writes it, kept for some days, small and never spread.
create table request_log (
  request_id  text,
  answered_at bigint,
  merchant_id text,                                                    -- as the envelope says
  is_opened   boolean  not null,                                       -- the envelope is that merchant's
  verb        text     not null,
  route       text     not null,
  method      text,
  http_status smallint not null,
  code        integer,
  field       text,
  message     text,
  duration_ms integer  not null,
  primary key (request_id, answered_at)
) partition by range (answered_at);
create table request_log_default partition of request_log default;
create index request_log_answered on request_log (answered_at, request_id);
create index request_log_merchant on request_log (merchant_id, answered_at, request_id);

-- How far erasing has come, for the orders of each final status: everything before this paymentId is looked at.
create table erasures (
  status      text primary key,
  done_before text not null
);
