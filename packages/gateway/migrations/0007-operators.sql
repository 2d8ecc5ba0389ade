-- Operators of the console and their sessions, and the index that lists orders over all merchants.
-- Small and never spread: both belong to the gateway, not to a merchant.

create table operators (
  login               text     primary key check (login ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  role                text     not null check (role in ('viewer', 'operator', 'admin')),
  status              text     not null check (status in ('active', 'disabled')),
  password_hash       text     not null,
  password_changed_at bigint   not null,
  tries               smallint not null default 0 check (tries between 0 and 5),
  locked_until        bigint,                                       -- by wrong tries
  created_at          bigint   not null
);

-- Only a hash of the token rests here: whoever reads this table cannot sign in with it.
create table operator_sessions (
  token_hash   bytea  primary key,
  login        text   not null references operators on delete cascade,
  address      text   not null,
  created_at   bigint not null,
  last_seen_at bigint not null,
  ends_at      bigint not null
);
create index operator_sessions_login on operator_sessions (login);

-- The newest orders over all merchants, of one status or of each: a paymentId begins with its time.
create index orders_by_status on orders (status, payment_id);

-- What was done to a merchant, and by whom, the newest first.
create index audit_merchant on audit (merchant_id, audit_id) where merchant_id is not null;
