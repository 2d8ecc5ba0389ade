-- People of merchants, who sign in to the portal by e-mail address. An account is a person's, whatever number of merchants
-- it is a member of. The tables of accounts have the columns of the operators' ones. Small and never spread.
create table member_accounts (
  login               text     primary key check (login = lower(login) and length(login) between 3 and 254),
  status              text     not null check (status in ('active', 'disabled')),
  sealed_password     bytea    not null,
  password_changed_at bigint   not null,
  tries               smallint not null default 0 check (tries >= 0),
  locked_until        bigint,
  last_try_at         bigint,
  access_version      integer  not null default 0,
  created_at          bigint   not null
);

create table members (
  merchant_id text   not null,
  login       text   not null references member_accounts on delete cascade,
  role        text   not null check (role in ('viewer', 'finance', 'developer', 'owner')),
  created_at  bigint not null,
  primary key (merchant_id, login)
);
create index members_login on members (login);

create table member_sessions (
  token_hash   bytea    primary key,
  login        text     not null references member_accounts on delete cascade,
  address      text     not null,
  created_at   bigint   not null,
  last_seen_at bigint   not null,
  ends_at      bigint   not null,
  tries        smallint not null default 0 check (tries >= 0),
  last_try_at  bigint,
  locked_until bigint
);
create index member_sessions_login on member_sessions (login);
create index member_sessions_end on member_sessions (ends_at);

create table member_tries (
  login_hash   bytea    primary key,
  tries        smallint not null check (tries >= 0),
  locked_until bigint,
  last_try_at  bigint   not null
);
create index member_tries_last on member_tries (last_try_at);

create table member_totp (
  login         text   primary key references member_accounts on delete cascade,
  sealed_secret bytea  not null,
  last_step     bigint not null default 0,
  created_at    bigint not null,
  confirmed_at  bigint
);

create table member_recovery_codes (
  login     text  not null references member_totp on delete cascade,
  code_hash bytea not null,
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
create index member_links_merchant on member_links (merchant_id, login) where used_at is null;
create index member_links_login on member_links (login) where used_at is null;
create index member_links_end on member_links (expires_at);

-- What a merchant says of itself: where callbacks go of orders that name no address, and the logo on the checkout.
alter table merchants add column default_callback_url text check (length(default_callback_url) <= 2048);
alter table merchants add column logo bytea check (length(logo) <= 65536);
alter table merchants add column logo_type text check (logo_type in ('image/png', 'image/jpeg', 'image/webp'));
alter table merchants add column logo_hash text;
alter table merchants add constraint merchants_logo
  check (num_nulls(logo, logo_type, logo_hash) in (0, 3));

-- What was given up of one merchant's, for its own page of what needs attention.
create index callbacks_exhausted_merchant on callbacks (merchant_id, callback_id) where exhausted_at is not null;
