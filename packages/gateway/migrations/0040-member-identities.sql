-- Members who sign in at an identity provider: bound to its subject when they come by an invitation. They have no password
-- here.
alter table member_accounts
  alter column sealed_password drop not null,
  add column identity text unique,                                   -- issuer and subject
  add constraint member_accounts_password check (num_nonnulls(sealed_password, identity) = 1);
