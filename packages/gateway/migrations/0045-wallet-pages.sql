-- What consumers do with their wallets themselves: sign in, register, top up through a rail, withdraw, close.

-- A closed wallet has neither name nor login any more; its account and its transfers stay.
alter table wallets
  add column language     text,
  add column confirmed_at bigint,                                   -- the owner proved that the login is theirs
  add column closed_at    bigint,
  drop constraint wallets_status_check,
  add constraint wallets_status_check check (status in ('active', 'locked', 'closed')),
  add constraint wallets_closed check ((status = 'closed') = (closed_at is not null));

create table wallet_sessions (
  token_hash   bytea  primary key,
  wallet_id    text   not null references wallets on delete cascade,
  session_id   uuid   not null unique,                              -- by which its owner ends it; opens nothing
  address      text   not null,
  device       text   not null,
  created_at   bigint not null,
  last_seen_at bigint not null,
  ends_at      bigint not null
);
create index wallet_sessions_wallet on wallet_sessions (wallet_id);
create index wallet_sessions_end on wallet_sessions (ends_at);

-- Logins that somebody wants a wallet for. Of login and code a hash under a key that is not in the database: a row tells
-- nobody who asked. There is one for a login that has a wallet too.
create table registrations (
  login_hash text     primary key,
  code_hash  text     not null,
  tries      smallint not null default 0 check (tries between 0 and 5),
  created_at bigint   not null,
  expires_at bigint   not null
);
create index registrations_expiry on registrations (expires_at);

-- One that its owner asked for by mail never takes the place of an operator's.
alter table pin_resets add column is_mailed boolean not null default false;

-- A top-up is an order of the gateway's own merchant that a rail pays; what it brings goes on to this wallet.
alter table orders add column tops_up text;
alter table orders add constraint orders_top_up
  check (tops_up is null or (merchant_id = 'GATEWAYSOWNWALLETS' and wallet_id is null)) not valid;
create index orders_of_top_up on orders (merchant_id, tops_up, payment_id) where tops_up is not null;

-- A withdrawal is a payout that comes out of this wallet.
alter table payouts add column wallet_id text;
alter table payouts add constraint payouts_of_wallet
  check (wallet_id is null or (merchant_id = 'GATEWAYSOWNWALLETS' and plan_day is null)) not valid;
create index payouts_of_wallets on payouts (merchant_id, wallet_id, payout_id) where wallet_id is not null;

-- Those that are there were held to the same by the constraint that this replaces.
alter table transfers
  drop constraint transfers_kind_check,
  add constraint transfers_kind_check
    check (kind in ('payment', 'refund', 'top_up', 'top_up_credit', 'payout', 'payout_return', 'late_payment', 'late_return',
                    'transfer_received', 'transfer_applied', 'transfer_returned', 'fee', 'fee_return', 'correction')) not valid;
-- A top-up is credited once.
create unique index transfers_top_up_credit on transfers (merchant_id, payment_id) where kind = 'top_up_credit';
-- What a wallet's history lists, the newest first.
create index transfers_from_wallet on transfers (debit_account, made_at, transfer_id)
  where phase in ('post', 'direct') and starts_with(debit_account, 'wallet:');
create index transfers_to_wallet on transfers (credit_account, made_at, transfer_id)
  where phase in ('post', 'direct') and starts_with(credit_account, 'wallet:');
