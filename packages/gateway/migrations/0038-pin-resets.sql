-- One-time codes by which a consumer sets a new PIN: given out by an operator, one for each wallet, good for some minutes
-- and few tries. Of the code a hash under a key that is not in the database. Small and never spread.
create table pin_resets (
  wallet_id  text     primary key references wallets,
  code_hash  text     not null,
  tries      smallint not null default 0 check (tries between 0 and 5),
  created_at bigint   not null,
  expires_at bigint   not null
);
create index pin_resets_expiry on pin_resets (expires_at);
