-- Never changed, only added to and ended: which account was paid to when is history. Of those that are not ended the
-- newest whose time has come is paid to.
create table merchant_bank_accounts (
  merchant_id     text   references merchants(merchant_id),
  bank_account_id uuid,
  currency        text   not null check (currency ~ '^[A-Z]{3}$'),
  holder          text   not null check (holder <> ''),
  iban            text   check (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$'),
  lines           text[] check (cardinality(lines) > 0),               -- where there is no IBAN
  bic             text   check (bic ~ '^[A-Z0-9]{8}([A-Z0-9]{3})?$'),
  set_at          bigint not null,
  valid_from      bigint not null,
  ended_at        bigint,                                              -- stopped while it waited
  primary key (merchant_id, bank_account_id),
  check ((iban is null) <> (lines is null)),
  check (valid_from >= set_at),
  check (ended_at <= valid_from)
);
create index merchant_bank_accounts_valid on merchant_bank_accounts (merchant_id, currency, valid_from)
  where ended_at is null;

-- next_day is what workers look for, and is moved on in the transaction that makes the payout. Null: by hand.
create table payout_plans (
  merchant_id        text,
  currency           text         check (currency ~ '^[A-Z]{3}$'),
  bank_name          text         not null references bank_accounts(bank_name),
  schedule           text         not null check (schedule in ('daily', 'weekly', 'monthly', 'hand')),
  on_day             smallint,
  least_minor        numeric(20,0) not null check (least_minor >= 0::numeric),
  reserve_minor      numeric(20,0) not null check (reserve_minor >= 0::numeric),
  share_basis_points integer      not null check (share_basis_points >= 0 and share_basis_points <= 10000),
  share_days         smallint     not null check (share_days >= 0 and share_days <= 180),
  next_day           date,
  last_day           date,
  last_outcome       text,
  primary key (merchant_id, currency),
  check (
case schedule
    when 'weekly' then (coalesce(on_day::integer, 0) >= 1 and coalesce(on_day::integer, 0) <= 7)
    when 'monthly' then (coalesce(on_day::integer, 0) >= 1 and coalesce(on_day::integer, 0) <= 31)
    else (on_day is null)
end),
  check ((share_basis_points > 0) = (share_days > 0)),
  check ((last_day is null) = (last_outcome is null)),
  check (next_day > last_day),
  constraint payout_plans_last_outcome_check check (last_outcome in ('paid_out', 'nothing_to_pay', 'no_bank_account', 'suspended', 'bank_closed'))
) with (fillfactor = 70);
create index payout_plans_due on payout_plans (next_day) where next_day is not null;

-- All payouts that go to the bank as one file. A run takes in what is due until nothing is left, then it is closed; what
-- is due for the same day later gets the next part. How it ends is written down here, and workers end its payouts.
create table payout_runs (
  run_id          uuid     primary key,
  bank_name       text     not null references bank_accounts(bank_name),
  currency        text     not null check (currency ~ '^[A-Z]{3}$'),
  day             date     not null,
  part            smallint,                                            -- null: one payout that somebody asked for
  created_at      bigint   not null,
  closed_at       bigint,
  sent_at         bigint,
  debtor          jsonb,                                               -- the operator's account as it was when it was sent
  ending          text     check (ending in ('paid', 'cancelled')),
  ending_asked_at bigint,
  reference       text,                                                -- the bank's, where it paid
  value_date      date,
  message         text,                                                -- why it was cancelled
  ended_at        bigint,
  check (sent_at is null or closed_at is not null),
  check ((sent_at is null) = (debtor is null)),
  check ((ending is null) = (ending_asked_at is null)),
  check (ending is null or closed_at is not null),
  check (
case ending
    when 'paid' then (sent_at is not null and reference is not null and value_date is not null)
    else true
end),
  check (ended_at is null or ending is not null)
);
create index payout_runs_ending on payout_runs (ending_asked_at) where ending is not null and ended_at is null;
-- At most one takes payouts in.
create unique index payout_runs_open on payout_runs (bank_name, currency, day) where closed_at is null;
create unique index payout_runs_part on payout_runs (bank_name, currency, day, part) where part is not null;
create index payout_runs_search on payout_runs (upper(reference) text_pattern_ops) where reference is not null;
-- Runs that wait for an operator are counted on the overview, however many were sent before them.
create index payout_runs_to_send on payout_runs (run_id)
  where closed_at is not null and sent_at is null and ending is null;

-- payout_id is also the transfer that holds the money and the end-to-end id at the bank. In the order of its bytes, so
-- that a file is the same wherever the database lives.
create table payouts (
  merchant_id  text,
  payout_id    text         check (length(payout_id) <= 30),
  run_id       uuid         not null,
  plan_day     date,                                                   -- null: somebody asked for it
  status       text         not null check (status in ('requested', 'sent', 'paid', 'returned', 'cancelled')),
  currency     text         not null,
  amount_minor numeric(20,0) not null check (amount_minor > 0::numeric and amount_minor < 1000000000000000000::numeric),
  account      jsonb        not null,                                  -- where it goes, as it was then
  requested_at bigint       not null,
  sent_at      bigint,
  ended_at     bigint,
  reference    text,                                                   -- the bank's, of the booking or of the return
  value_date   date,
  message      text,
  return_id    text         check (length(return_id) <= 30),           -- the transfer that brought the money back
  wallet_id    text,
  form_number  uuid,
  is_reviewed  boolean      not null default false,
  primary key (merchant_id, payout_id),
  check ((status in ('requested', 'sent')) = (ended_at is null)),
  check (
case status
    when 'requested' then (sent_at is null)
    when 'cancelled' then true
    else (sent_at is not null)
end),
  check ((status in ('paid', 'returned')) = (reference is not null and value_date is not null)),
  check ((status = 'returned') = (return_id is not null)),
  constraint payouts_of_wallet check (wallet_id is null
    or (merchant_id = 'GATEWAYSOWNWALLETS' and plan_day is null))
) with (fillfactor = 70);
create unique index payouts_form on payouts (merchant_id, wallet_id, form_number)
  where form_number is not null;
create index payouts_id on payouts (payout_id);
create index payouts_of_wallets on payouts (merchant_id, wallet_id, payout_id) where wallet_id is not null;
-- A merchant is paid once for each day of its plan, whoever makes the run and however often.
create unique index payouts_plan_day on payouts (merchant_id, currency, plan_day) where plan_day is not null;
create index payouts_run on payouts (run_id, payout_id);
create index payouts_search on payouts (upper(reference) text_pattern_ops) where reference is not null;
