create table wallets (
  wallet_id      text     primary key,
  login          text     not null unique,  -- E.164, or an email address in lower case
  name           text     not null check (name <> ''),
  status         text     not null check (status in ('active', 'locked', 'closed')),
  tries          smallint not null default 0 check (tries >= 0),
  locked_until   bigint,                    -- after wrong attempts
  behaviour      text     unique check (
    behaviour in ('approves', 'declines', 'too_little_money', 'confirms_later', 'refund_fails', 'stays_confirming')),
  created_at     bigint   not null,
  sealed_pin     bytea    not null,
  last_try_at    bigint,
  language       text,
  confirmed_at   bigint,                    -- the owner confirmed the login
  closed_at      bigint,
  access_version integer  not null default 0,
  constraint wallets_closed check ((status = 'closed') = (closed_at is not null))
);
create index wallets_created_at on wallets (created_at, wallet_id);
create index wallets_last_name on wallets (split_part(lower(name), ' ', -1) text_pattern_ops);
create index wallets_login on wallets (login text_pattern_ops);
create index wallets_name on wallets (lower(name) text_pattern_ops);

-- Wrong PINs by address or known device. The login is hashed, because people type other secrets into that field.
create table wallet_tries (
  tried_from   text,  -- 'address …' or 'device …'
  login_hash   bytea,
  tries        smallint not null check (tries >= 0),
  locked_until bigint,
  last_try_at  bigint   not null,
  primary key (tried_from, login_hash)
);
create index wallet_tries_last on wallet_tries (last_try_at);
create index wallet_tries_login on wallet_tries (login_hash);

create table pin_resets (
  wallet_id  text     primary key references wallets(wallet_id),
  code_hash  text     not null,
  tries      smallint not null default 0 check (tries between 0 and 5),
  created_at bigint   not null,
  expires_at bigint   not null,
  is_mailed  boolean  not null default false
);
create index pin_resets_expiry on pin_resets (expires_at);
