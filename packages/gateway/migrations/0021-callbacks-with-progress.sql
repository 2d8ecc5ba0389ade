-- How far callbacks have come, for whoever reads it. A callback that is acknowledged at its first attempt is written down
-- as that attempt alone: where its own row knows of no attempt and there is one, that was the first, and it was
-- acknowledged. Only what stands in callback_queue has all of it in its own row.
create view callbacks_with_progress as
select c.merchant_id, c.callback_id, c.payment_id, c.refund_id, c.event_name, c.callback_url, c.host, c.body, c.created_at,
       coalesce(a.attempt, c.attempts_made) as attempts_made, c.retries_made,
       coalesce(a.started_at, c.first_attempt_at) as first_attempt_at,
       coalesce(a.started_at, c.last_attempt_at) as last_attempt_at,
       case when a.attempt is null then c.next_attempt_at end as next_attempt_at,
       coalesce(a.outcome, c.last_outcome) as last_outcome,
       coalesce(a.http_status, c.last_http_status) as last_http_status,
       coalesce(a.started_at + a.duration_ms, c.delivered_at) as delivered_at,
       c.is_warned, c.exhausted_at, c.held_reason, c.resent_at
  from callbacks c
  left join callback_attempts a
    on c.attempts_made = 0 and a.merchant_id = c.merchant_id and a.callback_id = c.callback_id and a.attempt = 1;
