-- How often the operator's access was ended: by a new password, a reset second step, signing out everywhere, disabling.
-- What was proven before that opens no session, makes no token and changes no password any more.
alter table operators add column access_version integer not null default 0;
