-- Consumers. A behaviour marks the sandbox's test wallets.
create table wallets (
  wallet_id      text     primary key,
  login          text     not null unique,                             -- E.164, or e-mail in lower case
  name           text     not null check (name <> ''),
  status         text     not null check (status in ('active', 'locked', 'closed')),
  tries          smallint not null default 0 check (tries >= 0),
  locked_until   bigint,                                               -- by wrong tries
  behaviour      text     unique,
  created_at     bigint   not null,
  sealed_pin     bytea    not null,
  last_try_at    bigint,
  language       text,
  confirmed_at   bigint,                                               -- the owner proved that the login is theirs
  closed_at      bigint,
  access_version integer  not null default 0,
  constraint wallets_behaviour_check check (behaviour in ('approves', 'declines', 'too_little_money', 'confirms_later', 'refund_fails', 'stays_confirming')),
  constraint wallets_closed check ((status = 'closed') = (closed_at is not null))
);
create index wallets_created_at on wallets (created_at, wallet_id);
create index wallets_last_name on wallets (split_part(lower(name), ' ', '-1'::integer) text_pattern_ops);
-- Wallets by what an operator types: how login, name or last name begin.
create index wallets_login on wallets (login text_pattern_ops);
create index wallets_name on wallets (lower(name) text_pattern_ops);

-- Wrong PINs by where they came from: an address, or a device that signed in to the wallet before. Each is locked out
-- by its own tries before the wallet is locked for everybody. A row for logins that nobody has too; of the login a
-- hash, for people type other things into that field. Small and never spread.
create table wallet_tries (
  tried_from   text,                                                   -- 'address …' or 'device …'
  login_hash   bytea,
  tries        smallint not null check (tries >= 0),
  locked_until bigint,
  last_try_at  bigint   not null,
  primary key (tried_from, login_hash)
);
create index wallet_tries_last on wallet_tries (last_try_at);
create index wallet_tries_login on wallet_tries (login_hash);

-- One-time codes by which a consumer sets a new PIN: given out by an operator, one for each wallet, good for some minutes
-- and few tries. Of the code a hash under a key that is not in the database. Small and never spread.
create table pin_resets (
  wallet_id  text     primary key references wallets(wallet_id),
  code_hash  text     not null,
  tries      smallint not null default 0 check (tries >= 0 and tries <= 5),
  created_at bigint   not null,
  expires_at bigint   not null,
  is_mailed  boolean  not null default false
);
create index pin_resets_expiry on pin_resets (expires_at);
