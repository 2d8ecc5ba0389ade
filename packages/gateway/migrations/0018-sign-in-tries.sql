-- Wrong tries to sign in lock for longer each time, and are forgotten after some quiet (domain/tries.ts), so the
-- count has no bound of five any more.
alter table wallets add column last_try_at bigint;
alter table wallets drop constraint wallets_tries_check;
alter table wallets add constraint wallets_tries_check check (tries >= 0);
alter table operators add column last_try_at bigint;
alter table operators drop constraint operators_tries_check;
alter table operators add constraint operators_tries_check check (tries >= 0);

-- Wrong PINs by where they came from: an address, or a device that signed in to the wallet before. Each is locked out
-- by its own tries before the wallet is locked for everybody. A row for logins that nobody has too; of the login a
-- hash, for people type other things into that field. Small and never spread.
create table wallet_tries (
  tried_from   text     not null,                                   -- 'address …' or 'device …'
  login_hash   bytea    not null,
  tries        smallint not null check (tries >= 0),
  locked_until bigint,
  last_try_at  bigint   not null,
  primary key (tried_from, login_hash)
);
create index wallet_tries_login on wallet_tries (login_hash);
create index wallet_tries_last on wallet_tries (last_try_at);
