-- Money: wallets, accounts and transfers, payments and refunds under way.
-- Transfers and refunds belong to a merchant and are spread with its orders. Wallets, accounts and the claim table
-- of settlements belong to nobody or to many, are small, and stay in one place.

-- Consumers. A behaviour marks the sandbox's test wallets.
create table wallets (
  wallet_id    text     primary key,
  login        text     not null unique,                            -- E.164, or e-mail in lower case
  name         text     not null check (name <> ''),
  pin_hash     text     not null,
  status       text     not null check (status in ('active', 'locked')),
  tries        smallint not null default 0 check (tries between 0 and 5),
  locked_until bigint,                                              -- by wrong tries
  behaviour    text     unique check (behaviour in ('approves', 'declines', 'too_little_money',
                          'confirms_later', 'refund_fails', 'stays_confirming')),
  created_at   bigint   not null
);
create index wallets_created_at on wallets (created_at, wallet_id);

-- One row for each owner and currency. The last CHECK is the overdraft that never happens; the operator's funding
-- account alone may be below zero, for it is where money comes from.
create table accounts (
  account_id      text           collate "C" primary key,
  owner_kind      text           not null check (owner_kind in ('wallet', 'merchant', 'funding')),
  owner_id        text           not null,
  currency        text           not null check (currency ~ '^[A-Z]{3}$'),
  debits_pending  numeric(38, 0) not null default 0 check (debits_pending >= 0),
  debits_posted   numeric(38, 0) not null default 0 check (debits_posted >= 0),
  credits_pending numeric(38, 0) not null default 0 check (credits_pending >= 0),
  credits_posted  numeric(38, 0) not null default 0 check (credits_posted >= 0),
  check (account_id = owner_kind || ':' || owner_id || ':' || currency),
  check (owner_kind = 'funding' or credits_posted - debits_posted - debits_pending >= 0)
) with (fillfactor = 50);

-- What was refunded of a paid order and what is on its way; together never more than was paid.
alter table orders
  add column wallet_id         text,
  add column refunded_minor    numeric(20, 0) not null default 0 check (refunded_minor >= 0),
  add column refund_held_minor numeric(20, 0) not null default 0 check (refund_held_minor >= 0),
  add column refund_count      integer        not null default 0 check (refund_count >= 0),
  add check (refunded_minor + refund_held_minor <= payment_amount_minor),
  add check (refund_count = 0 or status = 'success'),
  add check (refund_count > 0 or refunded_minor + refund_held_minor = 0),
  add check ((transaction_id is null) = (wallet_id is null)),
  add check (status not in ('confirming', 'success', 'failed') or transaction_id is not null);

create table refunds (
  merchant_id     text           not null,
  refund_id       text           not null check (length(refund_id) <= 32),
  payment_id      text           not null,
  ordinal         integer        not null,                               -- 1 is the order's first
  refer_refund_no text           not null,
  status          text           not null check (status in ('refunding', 'refund_success', 'refund_failed')),
  amount_minor    numeric(20, 0) not null check (amount_minor > 0),
  currency        text           not null,
  reason          text,
  transaction_id  text           check (length(transaction_id) <= 30),   -- null: no money was held for it
  created_at      bigint         not null,
  completed_at    bigint,
  message         text,
  primary key (merchant_id, refund_id),
  unique (merchant_id, refer_refund_no),
  unique (merchant_id, payment_id, ordinal),
  foreign key (merchant_id, payment_id) references orders,
  check ((status = 'refunding') = (completed_at is null)),
  check (status <> 'refund_success' or transaction_id is not null)
);

-- Only ever added to. A hold is ended by one further row, a post or a void, that names it; a direct transfer needs
-- no hold. merchant_id is empty for a top-up, which concerns no merchant. Without foreign keys: three checks for every
-- row would cost more than the row, and `ledger verify` matches transfers, orders and refunds in both directions.
create table transfers (
  merchant_id    text           not null,
  transfer_id    text           not null check (length(transfer_id) <= 30),
  kind           text           not null check (kind in ('payment', 'refund', 'top_up', 'payout')),
  phase          text           not null check (phase in ('hold', 'post', 'void', 'direct')),
  hold_id        text,
  debit_account  text           not null,
  credit_account text           not null,
  currency       text           not null,
  amount_minor   numeric(20, 0) not null check (amount_minor > 0),
  payment_id     text,
  refund_id      text,
  audit_id       uuid,                                              -- the operator's act behind a top-up or payout
  made_at        bigint         not null,
  primary key (merchant_id, transfer_id),
  unique (merchant_id, hold_id),                                    -- a hold ends once
  check (debit_account <> credit_account),
  check (split_part(debit_account, ':', 3) = currency and split_part(credit_account, ':', 3) = currency),
  check ((phase in ('post', 'void')) = (hold_id is not null)),
  check ((phase = 'direct') = (kind in ('top_up', 'payout'))),
  check ((kind in ('payment', 'refund')) = (payment_id is not null)),
  check ((kind = 'refund') = (refund_id is not null)),
  check ((kind in ('top_up', 'payout')) = (audit_id is not null)),
  check ((kind = 'top_up') = (merchant_id = ''))
);
-- An order is paid once, a refund is made once.
create unique index transfers_payment_hold on transfers (merchant_id, payment_id) where phase = 'hold' and kind = 'payment';
create unique index transfers_refund_hold on transfers (merchant_id, refund_id) where phase = 'hold' and kind = 'refund';
-- What a merchant's statement lists.
create index transfers_statement on transfers (merchant_id, made_at) where phase in ('post', 'direct');

-- Payments and refunds that wait for their rail: small, never spread, claimed from by workers. due_at is when to ask,
-- and while a worker holds a claim, when its lease ends.
create table settlements (
  settlement_id  text           primary key,                        -- the paymentId or refundId
  kind           text           not null check (kind in ('payment', 'refund')),
  merchant_id    text           not null,
  payment_id     text           not null,
  refund_id      text,
  wallet_id      text           not null,
  transaction_id text,                                              -- the hold; null: nothing is held
  amount_minor   numeric(20, 0) not null,
  currency       text           not null,
  refusal        text,                                              -- decided already; the rail is not asked
  submitted_at   bigint         not null,
  due_at         bigint         not null,
  claim_id       uuid,
  attempts       integer        not null default 0,
  check ((kind = 'refund') = (refund_id is not null)),
  check ((refusal is null) = (transaction_id is not null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index settlements_due on settlements (due_at);
