-- How often the operator's access was ended: by a new password, a reset second step, signing out everywhere, disabling.
-- What was proven before that opens no session, makes no token and changes no password any more.
alter table operators add column access_version integer not null default 0;

-- Wrong tries at logins that no active operator has: they lock like the others, so that a lock tells nobody whose login
-- exists. Of the login a hash, for people type other things into that field. Bounded in number, small and never spread.
create table operator_tries (
  login_hash   bytea    primary key,
  tries        smallint not null check (tries >= 0),
  locked_until bigint,
  last_try_at  bigint   not null
);
create index operator_tries_last on operator_tries (last_try_at);
