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

-- Whoever is signed in proves the password anew for some acts. These tries count for the session alone: strangers who
-- lock the login do not keep its owner from a new password.
alter table operator_sessions add column tries smallint not null default 0 check (tries >= 0);
alter table operator_sessions add column last_try_at bigint;
alter table operator_sessions add column locked_until bigint;
