-- Raised whenever all access to a wallet is ended, as with operators and members: what was proven under an older one opens no
-- session and adds no passkey.
alter table wallets add column access_version integer not null default 0;
