-- Requests that were refused or slow, by the id that their answers bear: who asked for what, and what was said. Never what
-- they carried. Bounded by whoever writes it, kept for some days, small and never spread.
create table request_log (
  request_id  text     primary key,
  answered_at bigint   not null,
  merchant_id text,                                                 -- as the envelope says
  is_opened   boolean  not null,                                    -- the envelope is that merchant's
  verb        text     not null,
  route       text     not null,
  method      text,
  http_status smallint not null,
  code        integer,
  field       text,
  message     text,
  duration_ms integer  not null
);
create index request_log_answered on request_log (answered_at, request_id);
create index request_log_merchant on request_log (merchant_id, answered_at, request_id);
