-- Addresses of a merchant that hear of its events beside an order's own callbackUrl. Small and read with every event, so
-- it stays in one place. The slots hold a merchant to 16 that are not removed; the address of one never changes.
create table callback_endpoints (
  merchant_id text     not null,
  endpoint_id text     not null,
  slot        smallint not null check (slot between 1 and 16),
  url         text     not null,
  host        text     not null,                                    -- of url, with its port if it has one
  format      text     not null check (format in ('envelope', 'standard')),
  events      text[]   check (cardinality(events) > 0),             -- null: all of them, also those to come
  created_at  bigint   not null,
  paused_at   bigint,                                               -- its callbacks wait
  removed_at  bigint,                                               -- its callbacks are given up
  primary key (merchant_id, endpoint_id)
);
create unique index callback_endpoints_live on callback_endpoints (merchant_id, slot) where removed_at is null;

-- What Standard Webhooks are signed with. Two slots: the third live secret is refused by the database itself.
create table callback_endpoint_secrets (
  merchant_id   text     not null,
  endpoint_id   text     not null,
  secret_id     uuid     not null,
  slot          smallint not null check (slot in (1, 2)),
  sealed_secret bytea    not null,
  created_at    bigint   not null,
  ended_at      bigint,
  primary key (merchant_id, secret_id),
  foreign key (merchant_id, endpoint_id) references callback_endpoints
);
create unique index callback_endpoint_secrets_live on callback_endpoint_secrets (merchant_id, endpoint_id, slot)
 where ended_at is null;

-- Empty: to the order's own callbackUrl. One callback of an event for each of them.
alter table callbacks add column endpoint_id text not null default '';
alter table callbacks drop constraint callbacks_merchant_id_payment_id_event_name_refund_id_key;
alter table callbacks
  add constraint callbacks_once unique (merchant_id, payment_id, event_name, refund_id, endpoint_id);
create index callbacks_endpoint on callbacks (merchant_id, endpoint_id, callback_id) where endpoint_id <> '';
alter table callback_queue add column endpoint_id text not null default '';
create index callback_queue_endpoint on callback_queue (merchant_id, endpoint_id) where endpoint_id <> '';

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
