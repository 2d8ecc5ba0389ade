create table operators (
  login               text     primary key check (login ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  role                text     not null check (role in ('viewer', 'operator', 'admin')),
  status              text     not null check (status in ('active', 'disabled')),
  password_changed_at bigint   not null,
  tries               smallint not null default 0 check (tries >= 0),
  locked_until        bigint,           -- after wrong attempts
  created_at          bigint   not null,
  sealed_password     bytea,
  last_try_at         bigint,
  access_version      integer  not null default 0,
  email               text     unique check (length(email) <= 254),
  identity            text     unique,  -- issuer and subject
  name                text     check (length(name) between 1 and 128),
  constraint operators_identity check (identity is null or email is not null),
  constraint operators_password check (num_nonnulls(sealed_password, email) = 1)
);

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

-- Logins without an active operator lock like others, so that a lock does not reveal a login. The login is hashed.
create table operator_tries (
  login_hash   bytea    primary key,
  tries        smallint not null check (tries >= 0),
  locked_until bigint,
  last_try_at  bigint   not null
);
create index operator_tries_last on operator_tries (last_try_at);

create table operator_totp (
  login         text   primary key references operators(login) on delete cascade,
  sealed_secret bytea  not null,
  last_step     bigint not null default 0,  -- a code works once
  created_at    bigint not null,
  confirmed_at  bigint                      -- null: not confirmed yet
);

create table operator_recovery_codes (
  login     text references operator_totp(login) on delete cascade,
  code_hash bytea,
  primary key (login, code_hash)
);

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

create table member_accounts (
  login               text     primary key check (login = lower(login) and length(login) between 3 and 254),
  status              text     not null check (status in ('active', 'disabled')),
  sealed_password     bytea,
  password_changed_at bigint   not null,
  tries               smallint not null default 0 check (tries >= 0),
  locked_until        bigint,
  last_try_at         bigint,
  access_version      integer  not null default 0,
  created_at          bigint   not null,
  identity            text     unique,  -- issuer and subject
  name                text     check (length(name) between 1 and 128),
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
  like operator_sessions including all,
  foreign key (login) references member_accounts(login) on delete cascade
);
create index member_sessions_end on member_sessions (ends_at);

create table member_tries (like operator_tries including all);

create table member_totp (like operator_totp including all, foreign key (login) references member_accounts(login) on delete cascade);

create table member_recovery_codes (like operator_recovery_codes including all, foreign key (login) references member_totp(login) on delete cascade);

create table member_links (
  link_id     uuid   primary key,
  token_hash  bytea  not null unique,
  kind        text   not null check (kind in ('invitation', 'recovery')),
  login       text   not null,
  name        text   check (length(name) between 1 and 128),
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

create table passkeys (
  credential_id     bytea  primary key check (length(credential_id) between 1 and 1023),
  account_kind      text   not null check (account_kind in ('operator', 'member', 'wallet')),
  account           text   not null,
  name              text   not null check (length(name) between 1 and 60),
  public_key        bytea  not null,
  sign_count        bigint not null check (sign_count >= 0),
  last_challenge_at bigint not null,
  created_at        bigint not null,
  last_used_at      bigint
);
create index passkeys_account on passkeys (account_kind, account);

create table wallet_sessions (
  token_hash   bytea  primary key,
  wallet_id    text   not null references wallets(wallet_id) on delete cascade,
  session_id   uuid   not null unique,  -- for ending the session; it opens nothing
  address      text   not null,
  device       text   not null,
  created_at   bigint not null,
  last_seen_at bigint not null,
  ends_at      bigint not null,
  scans        smallint not null default 0 check (scans between 0 and 5)  -- payments by code since the last confirmed one
);
create index wallet_sessions_end on wallet_sessions (ends_at);
create index wallet_sessions_wallet on wallet_sessions (wallet_id);

-- Codes that a wallet shows in a store, as keyed hashes. A used code names its order and is never used again.
create table pay_codes (
  code_hash    text   primary key,
  digits_hash  text   not null unique,
  session_hash bytea  not null references wallet_sessions(token_hash) on delete cascade,
  expires_at   bigint not null,  -- of its order once it is used
  merchant_id  text,             -- null: unused
  payment_id   text   unique,
  check (num_nonnulls(merchant_id, payment_id) in (0, 2))
);
create index pay_codes_session on pay_codes (session_hash);

-- Login and code are hashed under a key that is not in the database, so a row does not reveal who has a wallet.
create table registrations (
  login_hash text     primary key,
  code_hash  text     not null,
  tries      smallint not null default 0 check (tries between 0 and 5),
  created_at bigint   not null,
  expires_at bigint   not null
);
create index registrations_expiry on registrations (expires_at);

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
  question       text,  -- the operator's newest question
  answer         text,  -- the applicant's answer
  decided_by     text,
  reason         text,
  merchant_id    text,
  created_at     bigint not null,
  changed_at     bigint not null,
  check ((status = 'approved') = (merchant_id is not null))
);
create index applications_status on applications (status, application_id);
