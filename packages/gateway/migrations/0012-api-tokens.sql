-- Bearer tokens of the admin API, each an operator's, and the ids behind Idempotency-Key. Small and never spread.
-- Only a hash of a token rests here: whoever reads this table cannot use it.
create table api_tokens (
  token_id       uuid   primary key,
  token_hash     bytea  not null unique,
  login          text   not null references operators on delete cascade,
  name           text   not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,31}$'),
  scopes         text[] not null check (cardinality(scopes) > 0),
  created_at     bigint not null,
  expires_at     bigint not null,
  last_used_at   bigint,
  last_used_from text,
  revoked_at     bigint
);
create index api_tokens_login on api_tokens (login);

-- What an operator's key stands for, for ever: the act's id, under which money moves once, and a hash of what was asked.
create table idempotency_keys (
  login        text   not null references operators on delete cascade,
  key          text   not null,
  act_id       uuid   not null,
  content_hash bytea  not null,
  created_at   bigint not null,
  primary key (login, key)
);
