create table database_mode (
  is_only boolean primary key default true check (is_only),
  mode    text    not null check (mode in ('sandbox', 'live'))
);

create table backups (
  tool     text   primary key check (tool ~ '^[a-z0-9_.-]{1,32}$'),
  taken_at bigint not null
);

create table overview_hours (
  starts_at  bigint primary key,
  figures    jsonb,  -- null: claimed, not counted yet
  counted_at bigint,
  due_at     bigint  -- the next count; null: final
);

create table request_log (
  request_id  text,
  answered_at bigint,
  merchant_id text,               -- as named in the envelope
  is_opened   boolean  not null,  -- the signature is that merchant's
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

create table erasures (
  status      text primary key,
  done_before text not null
);
