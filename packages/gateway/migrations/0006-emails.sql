-- Messages by e-mail that wait to be sent, and what became of those that were: written in the transaction of what they
-- tell of. Claimed from by workers, small and never spread; the ended ones are kept for some days. due_at is when to send,
-- and while a worker holds a claim, when its lease ends.
create table emails (
  email_id   uuid    primary key,
  kind        text    not null,
  merchant_id text,
  recipient   text    check (length(recipient) <= 254),                -- null: not addressed yet, or forgotten
  language    text    not null,
  parameters  jsonb   not null,                                        -- what the text tells, never a secret
  sealed_link bytea,                                                   -- a one-time link, until the email ends
  once_key    text    unique,                                          -- told once, however often it happens
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

-- Kinds that a reader does not want any more.
create table email_optouts (
  email      text,
  kind       text,
  created_at bigint not null,
  primary key (email, kind)
);
