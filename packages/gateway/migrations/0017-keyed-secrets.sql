-- A database alone opens no wallet and no console, and holds no checkout link.

-- PINs and passwords: the scrypt hash, sealed under the master key. A gateway that starts seals what rests in the old
-- column, which stays empty from then on.
alter table wallets add column sealed_pin bytea;
alter table wallets alter column pin_hash drop not null;
alter table wallets add constraint wallets_pin check ((pin_hash is null) <> (sealed_pin is null));
create index wallets_unsealed on wallets (wallet_id) where pin_hash is not null;
alter table operators add column sealed_password bytea;
alter table operators alter column password_hash drop not null;
alter table operators add constraint operators_password check ((password_hash is null) <> (sealed_password is null));

-- Tokens of checkout links are derived from the master key and not stored. Of those that were, a hash stays, so that
-- their links go on working.
alter table orders alter column checkout_token drop not null;
alter table orders rename column checkout_token to old_checkout_token_hash;
update orders set old_checkout_token_hash = encode(sha256(convert_to(old_checkout_token_hash, 'UTF8')), 'hex');
