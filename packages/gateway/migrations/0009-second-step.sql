-- The second step of signing in: a secret that an app makes codes from, and recovery codes for when the app is lost.
-- The secret is sealed by the vault, of the codes only hashes rest here. Small and never spread.
create table operator_totp (
  login         text   primary key references operators on delete cascade,
  sealed_secret bytea  not null,
  last_step     bigint not null default 0,                          -- a code works once: later steps only
  created_at    bigint not null,
  confirmed_at  bigint                                              -- null: begun, and not asked for yet
);

create table operator_recovery_codes (
  login     text  not null references operator_totp on delete cascade,
  code_hash bytea not null,
  primary key (login, code_hash)
);
