create table operators (
  login               text     primary key check (login ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  role                text     not null check (role in ('viewer', 'operator', 'admin')),
  status              text     not null check (status in ('active', 'disabled')),
  password_changed_at bigint   not null,
  tries               smallint not null default 0 check (tries >= 0),
  locked_until        bigint,                                          -- by wrong tries
  created_at          bigint   not null,
  sealed_password     bytea,
  last_try_at         bigint,
  access_version      integer  not null default 0,
  email               text     unique check (length(email) <= 254),
  identity            text     unique,                                 -- issuer and subject
  constraint operators_identity check (identity is null or email is not null),
  constraint operators_password check (num_nonnulls(sealed_password, email) = 1)
);

-- Only a hash of the token rests here: whoever reads this table cannot sign in with it.
create table operator_sessions (
  token_hash   bytea    primary key,
  login        text     not null references operators(login) on delete cascade,
  address      text     not null,
  created_at   bigint   not null,
  last_seen_at bigint   not null,
  ends_at      bigint   not null,
  tries        smallint not null default 0 check (tries >= 0),
  last_try_at  bigint,
  locked_until bigint
);
create index operator_sessions_login on operator_sessions (login);

-- Wrong tries at logins that no active operator has: they lock like the others, so that a lock tells nobody whose login
-- exists. Of the login a hash, for people type other things into that field. Bounded in number, small and never spread.
create table operator_tries (
  login_hash   bytea    primary key,
  tries        smallint not null check (tries >= 0),
  locked_until bigint,
  last_try_at  bigint   not null
);
create index operator_tries_last on operator_tries (last_try_at);

-- The second step of signing in: a secret that an app makes codes from, and recovery codes for when the app is lost.
-- The secret is sealed by the vault, of the codes only hashes rest here. Small and never spread.
create table operator_totp (
  login         text   primary key references operators(login) on delete cascade,
  sealed_secret bytea  not null,
  last_step     bigint not null default 0,                             -- a code works once: later steps only
  created_at    bigint not null,
  confirmed_at  bigint                                                 -- null: begun, and not asked for yet
);

create table operator_recovery_codes (
  login     text  references operator_totp(login) on delete cascade,
  code_hash bytea,
  primary key (login, code_hash)
);

-- Bearer tokens of the admin API, each an operator's, and the ids behind Idempotency-Key. Small and never spread.
-- Only a hash of a token rests here: whoever reads this table cannot use it.
create table api_tokens (
  token_id       uuid   primary key,
  token_hash     bytea  not null unique,
  login          text   not null references operators(login) on delete cascade,
  name           text   not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,31}$'),
  scopes         text[] not null check (cardinality(scopes) > 0),
  created_at     bigint not null,
  expires_at     bigint not null,
  last_used_at   bigint,
  last_used_from text,
  revoked_at     bigint
);
create index api_tokens_login on api_tokens (login);

-- People of merchants, who sign in to the portal by e-mail address. An account is a person's, whatever number of merchants
-- it is a member of. The tables of accounts have the columns of the operators' ones. Small and never spread.
create table member_accounts (
  login               text     primary key check (login = lower(login) and length(login) >= 3 and length(login) <= 254),
  status              text     not null check (status in ('active', 'disabled')),
  sealed_password     bytea,
  password_changed_at bigint   not null,
  tries               smallint not null default 0 check (tries >= 0),
  locked_until        bigint,
  last_try_at         bigint,
  access_version      integer  not null default 0,
  created_at          bigint   not null,
  identity            text     unique,                                 -- issuer and subject
  constraint member_accounts_password check (num_nonnulls(sealed_password, identity) = 1)
);

create table members (
  merchant_id text,
  login       text   references member_accounts(login) on delete cascade,
  role        text   not null check (role in ('viewer', 'finance', 'developer', 'owner')),
  created_at  bigint not null,
  primary key (merchant_id, login)
);
create index members_login on members (login);

create table member_sessions (
  token_hash   bytea    primary key,
  login        text     not null references member_accounts(login) on delete cascade,
  address      text     not null,
  created_at   bigint   not null,
  last_seen_at bigint   not null,
  ends_at      bigint   not null,
  tries        smallint not null default 0 check (tries >= 0),
  last_try_at  bigint,
  locked_until bigint
);
create index member_sessions_end on member_sessions (ends_at);
create index member_sessions_login on member_sessions (login);

create table member_tries (
  login_hash   bytea    primary key,
  tries        smallint not null check (tries >= 0),
  locked_until bigint,
  last_try_at  bigint   not null
);
create index member_tries_last on member_tries (last_try_at);

create table member_totp (
  login         text   primary key references member_accounts(login) on delete cascade,
  sealed_secret bytea  not null,
  last_step     bigint not null default 0,
  created_at    bigint not null,
  confirmed_at  bigint
);

create table member_recovery_codes (
  login     text  references member_totp(login) on delete cascade,
  code_hash bytea,
  primary key (login, code_hash)
);

-- One-time links: an invitation to a merchant, or a new password. Only a hash of the token rests here. Used ones stay until
-- they would have expired, so that whoever comes second is told so.
create table member_links (
  link_id     uuid   primary key,
  token_hash  bytea  not null unique,
  kind        text   not null check (kind in ('invitation', 'recovery')),
  login       text   not null,
  merchant_id text,
  role        text   check (role in ('viewer', 'finance', 'developer', 'owner')),
  made_by     text   not null,
  created_at  bigint not null,
  expires_at  bigint not null,
  used_at     bigint,
  check ((kind = 'invitation') = (merchant_id is not null)),
  check ((kind = 'invitation') = (role is not null))
);
create index member_links_end on member_links (expires_at);
create index member_links_login on member_links (login) where used_at is null;
create index member_links_merchant on member_links (merchant_id, login) where used_at is null;

-- Passkeys: public keys with which people sign in without a password. One table for every kind of account. Small and never
-- spread.
create table passkeys (
  credential_id     bytea  primary key check (length(credential_id) >= 1 and length(credential_id) <= 1023),
  account_kind      text   not null check (account_kind in ('operator', 'member', 'wallet')),
  account           text   not null,
  name              text   not null check (length(name) >= 1 and length(name) <= 60),
  public_key        bytea  not null,
  -- Both only grow: an answer that was seen before, or one of a copied authenticator, signs nobody in.
  sign_count        bigint not null check (sign_count >= 0),
  last_challenge_at bigint not null,
  created_at        bigint not null,
  last_used_at      bigint
);
create index passkeys_account on passkeys (account_kind, account);

create table wallet_sessions (
  token_hash   bytea  primary key,
  wallet_id    text   not null references wallets(wallet_id) on delete cascade,
  session_id   uuid   not null unique,                                 -- by which its owner ends it; opens nothing
  address      text   not null,
  device       text   not null,
  created_at   bigint not null,
  last_seen_at bigint not null,
  ends_at      bigint not null
);
create index wallet_sessions_end on wallet_sessions (ends_at);
create index wallet_sessions_wallet on wallet_sessions (wallet_id);

-- Logins that somebody wants a wallet for. Of login and code a hash under a key that is not in the database: a row tells
-- nobody who asked. There is one for a login that has a wallet too.
create table registrations (
  login_hash text     primary key,
  code_hash  text     not null,
  tries      smallint not null default 0 check (tries >= 0 and tries <= 5),
  created_at bigint   not null,
  expires_at bigint   not null
);
create index registrations_expiry on registrations (expires_at);

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
  question       text,                                                 -- the operator's, the newest
  answer         text,                                                 -- the applicant's to it
  decided_by     text,
  reason         text,
  merchant_id    text,
  created_at     bigint not null,
  changed_at     bigint not null,
  check ((status = 'approved') = (merchant_id is not null))
);
create index applications_status on applications (status, application_id);
