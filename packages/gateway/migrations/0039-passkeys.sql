-- Passkeys: public keys with which people sign in without a password. One table for every kind of account. Small and never
-- spread.
create table passkeys (
  credential_id     bytea  primary key check (length(credential_id) between 1 and 1023),
  account_kind      text   not null check (account_kind in ('operator', 'member', 'wallet')),
  account           text   not null,
  name              text   not null check (length(name) between 1 and 60),
  public_key        bytea  not null,
  -- Both only grow: an answer that was seen before, or one of a copied authenticator, signs nobody in.
  sign_count        bigint not null check (sign_count >= 0),
  last_challenge_at bigint not null,
  created_at        bigint not null,
  last_used_at      bigint
);
create index passkeys_account on passkeys (account_kind, account);
