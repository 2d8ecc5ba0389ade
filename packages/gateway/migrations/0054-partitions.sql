-- What leaves after a time is cut by time, so that it leaves as whole tables: attempts of callbacks and the request log.
-- The tables as they are become their first partitions; database/partitions.ts makes those that follow, and drops those
-- that are past. What falls into none is taken by the default, so that no insert fails.
alter table callback_attempts rename to callback_attempts_before;
alter index callback_attempts_pkey rename to callback_attempts_before_pkey;
create table callback_attempts (
  like callback_attempts_before,
  primary key (merchant_id, callback_id, attempt)
) partition by range (callback_id);
-- The rows are not read again: the check has the same bound.
do 'begin
  execute format(
    ''alter table callback_attempts attach partition callback_attempts_before for values from (minvalue) to (%L)'',
    (select substring(pg_get_constraintdef(oid) from ''[0-9a-f-]{36}'')
       from pg_constraint
      where conname = ''callback_attempts_bound'' and conrelid = ''callback_attempts_before''::regclass));
end';
alter table callback_attempts_before drop constraint callback_attempts_bound;
create table callback_attempts_default partition of callback_attempts default;

create or replace view callbacks_with_progress as
select c.merchant_id, c.callback_id, c.payment_id, c.refund_id, c.event_name, c.callback_url, c.host, c.body, c.created_at,
       coalesce(a.attempt, c.attempts_made) as attempts_made, c.retries_made,
       coalesce(a.started_at, c.first_attempt_at) as first_attempt_at,
       coalesce(a.started_at, c.last_attempt_at) as last_attempt_at,
       case when a.attempt is null then c.next_attempt_at end as next_attempt_at,
       coalesce(a.outcome, c.last_outcome) as last_outcome,
       coalesce(a.http_status, c.last_http_status) as last_http_status,
       coalesce(a.started_at + a.duration_ms, c.delivered_at) as delivered_at,
       c.is_warned, c.exhausted_at, c.held_reason, c.resent_at, c.endpoint_id
  from callbacks c
  left join callback_attempts a
    on c.attempts_made = 0 and a.merchant_id = c.merchant_id and a.callback_id = c.callback_id and a.attempt = 1;

-- Small enough to be read and to get another key at once. A key of a partitioned table holds the column that it is cut by.
alter table request_log rename to request_log_before;
alter index request_log_answered rename to request_log_before_answered;
alter index request_log_merchant rename to request_log_before_merchant;
alter table request_log_before drop constraint request_log_pkey;
create table request_log (
  like request_log_before,
  primary key (request_id, answered_at)
) partition by range (answered_at);
create index request_log_answered on request_log (answered_at, request_id);
create index request_log_merchant on request_log (merchant_id, answered_at, request_id);
do 'begin
  execute format(
    ''alter table request_log attach partition request_log_before for values from (minvalue) to (%L)'',
    (select (greatest((extract(epoch from now()) * 1000)::bigint, max(answered_at)) / 86400000 + 2) * 86400000
       from request_log_before));
end';
create table request_log_default partition of request_log default;
