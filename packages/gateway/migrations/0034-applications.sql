-- Applications for live keys: what somebody says of their business, and what operators decided. The applicant reads it by a
-- link of which only a hash rests here. Small and never spread.
create table applications (
  application_id uuid   primary key,
  token_hash     bytea  not null unique,
  status         text   not null check (status in ('waiting', 'asked', 'approved', 'rejected')),
  business       text   not null,
  contact        text   not null,
  email          text   not null,
  website        text   not null,
  about          text   not null,
  callback_hosts text[],
  public_key     text   not null,
  question       text,                                              -- the operator's, the newest
  answer         text,                                              -- the applicant's to it
  decided_by     text,
  reason         text,
  merchant_id    text,
  created_at     bigint not null,
  changed_at     bigint not null,
  check ((status = 'approved') = (merchant_id is not null))
);
create index applications_status on applications (status, application_id);
