-- Limits of wallets, in each currency: the most for a payment, for a day and in the wallet. Null: the gateway's default. What
-- was spent on the last day on which something was, counted with the payment itself; what failed is given back.
alter table accounts
  add column payment_limit numeric(20, 0) check (payment_limit >= 0),
  add column day_limit     numeric(20, 0) check (day_limit >= 0),
  add column balance_limit numeric(20, 0) check (balance_limit >= 0),
  add column spent_on      integer        not null default 0,            -- days since 1970-01-01 UTC
  add column spent         numeric(38, 0) not null default 0 check (spent >= 0),
  add constraint accounts_limits
    check (owner_kind = 'wallet' or num_nonnulls(payment_limit, day_limit, balance_limit) = 0);
