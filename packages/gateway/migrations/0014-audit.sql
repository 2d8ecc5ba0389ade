create table audit (
  audit_id    uuid   primary key,
  acted_at    bigint not null,
  actor       text   not null,
  act         text   not null,
  merchant_id text,
  subject     text   not null,
  reason      text
);
create index audit_acted_at on audit (acted_at);
create index audit_merchant on audit (merchant_id, audit_id) where merchant_id is not null;

create table approvals (
  approval_id     uuid   primary key,  -- starts with the time of the request
  action          text   not null,
  merchant_id     text,
  reason          text   not null,
  requested_by    text   not null references operators(login),
  requested_as    text   not null,     -- the actor, as in the audit log
  requested_at    bigint not null,
  expires_at      bigint not null,
  status          text   not null check (status in ('waiting', 'approved', 'rejected', 'withdrawn', 'expired')),
  decided_by      text,
  decided_as      text,
  decided_at      bigint,
  decision_reason text,
  params          jsonb  not null,
  input           jsonb  not null,
  summary         text   not null,
  content_hash    bytea,
  check ((status = 'waiting') = (decided_at is null)),
  check ((status in ('approved', 'rejected', 'withdrawn')) = (decided_by is not null)),
  check (status not in ('approved', 'rejected') or decided_by <> requested_by),
  check (status <> 'withdrawn' or decided_by = requested_by)
);
create unique index approvals_same_action on approvals (requested_by, content_hash) where status = 'waiting' and content_hash is not null;
create index approvals_waiting on approvals (expires_at) where status = 'waiting';

create table idempotency_keys (
  login        text   references operators(login) on delete cascade,
  key          text,
  action_id    uuid   not null,
  content_hash bytea  not null,
  primary key (login, key)
);
