-- Written in the transaction of their cause. due_at is the next attempt, or the end of the lease of a claim.
create table emails (
  email_id    uuid    primary key,
  kind        text    not null,
  merchant_id text,
  recipient   text    check (length(recipient) <= 254),  -- null: not addressed yet, or erased
  language    text    not null,
  parameters  jsonb   not null,                          -- the values of the text, never a secret
  sealed_link bytea,                                     -- a one-time link, until the email ends
  once_key    text    unique,                            -- one email, however often the cause repeats
  state       text    not null check (state in ('queued', 'sent', 'refused', 'given_up')),
  created_at  bigint  not null,
  give_up_at  bigint  not null,
  due_at      bigint,
  claim_id    uuid,
  attempts    integer not null default 0,
  last_error  text,
  ended_at    bigint,
  check ((state = 'queued') = (due_at is not null)),
  check ((state = 'queued') = (ended_at is null)),
  check (state = 'queued' or (claim_id is null and sealed_link is null)),
  check (sealed_link is null or recipient is not null)
) with (fillfactor = 70);
create index emails_due on emails (due_at) where state = 'queued';
create index emails_ended on emails (ended_at) where ended_at is not null;
create index emails_failed on emails (ended_at) where state in ('refused', 'given_up');

create table email_optouts (
  email      text,
  kind       text,
  created_at bigint not null,
  primary key (email, kind)
);
