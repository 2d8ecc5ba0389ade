-- Operators who sign in at an identity provider: declared by the address that it vouches for, bound to its subject at the
-- first sign-in. They have no password here.
alter table operators
  add column email text unique check (length(email) <= 254),
  add column identity text unique,                                   -- issuer and subject
  drop constraint operators_password,
  add constraint operators_password
    check (num_nonnulls(password_hash, sealed_password, email) = 1),
  add constraint operators_identity check (identity is null or email is not null);
