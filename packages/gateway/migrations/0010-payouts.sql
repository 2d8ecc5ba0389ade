create table merchant_bank_accounts (
  merchant_id     text   references merchants(merchant_id),
  bank_account_id uuid,
  currency        text   not null check (currency ~ '^[A-Z]{3}$'),
  holder          text   not null check (holder <> ''),
  iban            text   check (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$'),
  lines           text[] check (cardinality(lines) > 0),  -- where there is no IBAN
  bic             text   check (bic ~ '^[A-Z0-9]{8}([A-Z0-9]{3})?$'),
  set_at          bigint not null,
  valid_from      bigint not null,
  ended_at        bigint,                                 -- cancelled before it was valid
  primary key (merchant_id, bank_account_id),
  check ((iban is null) <> (lines is null)),
  check (valid_from >= set_at),
  check (ended_at <= valid_from)
);
create index merchant_bank_accounts_valid on merchant_bank_accounts (merchant_id, currency, valid_from) where ended_at is null;

create table payout_plans (
  merchant_id        text,
  currency           text          check (currency ~ '^[A-Z]{3}$'),
  bank_name          text          not null references bank_accounts(bank_name),
  schedule           text          not null check (schedule in ('daily', 'weekly', 'monthly', 'hand')),
  on_day             smallint,
  least_minor        numeric(20,0) not null check (least_minor >= 0),
  reserve_minor      numeric(20,0) not null check (reserve_minor >= 0),
  share_basis_points integer       not null check (share_basis_points between 0 and 10000),
  share_days         smallint      not null check (share_days between 0 and 180),
  next_day           date,
  last_day           date,
  last_outcome       text check (last_outcome in ('paid_out', 'nothing_to_pay', 'no_bank_account', 'suspended', 'bank_closed')),
  primary key (merchant_id, currency),
  check (case schedule when 'weekly' then coalesce(on_day, 0) between 1 and 7
                       when 'monthly' then coalesce(on_day, 0) between 1 and 31
                       else on_day is null end),
  check ((share_basis_points > 0) = (share_days > 0)),
  check ((last_day is null) = (last_outcome is null)),
  check (next_day > last_day)
) with (fillfactor = 70);
create index payout_plans_due on payout_plans (next_day) where next_day is not null;

create table payout_runs (
  run_id          uuid   primary key,
  bank_name       text   not null references bank_accounts(bank_name),
  currency        text   not null check (currency ~ '^[A-Z]{3}$'),
  day             date   not null,
  part            smallint,  -- null: one requested payout
  created_at      bigint not null,
  closed_at       bigint,
  sent_at         bigint,
  debtor          jsonb,     -- the operator's account at that time
  ending          text   check (ending in ('paid', 'cancelled')),
  ending_asked_at bigint,
  reference       text,      -- of the bank, if paid
  value_date      date,
  message         text,      -- why it was cancelled
  ended_at        bigint,
  check (sent_at is null or closed_at is not null),
  check ((sent_at is null) = (debtor is null)),
  check ((ending is null) = (ending_asked_at is null)),
  check (ending is null or closed_at is not null),
  check (ending <> 'paid' or (sent_at is not null and reference is not null and value_date is not null)),
  check (ended_at is null or ending is not null)
);
create index payout_runs_ending on payout_runs (ending_asked_at) where ending is not null and ended_at is null;
create unique index payout_runs_open on payout_runs (bank_name, currency, day) where closed_at is null;
create unique index payout_runs_part on payout_runs (bank_name, currency, day, part) where part is not null;
create index payout_runs_search on payout_runs (upper(reference) text_pattern_ops) where reference is not null;
create index payout_runs_to_send on payout_runs (run_id) where closed_at is not null and sent_at is null and ending is null;

create table payouts (
  merchant_id  text,
  payout_id    text          check (length(payout_id) <= 30),
  run_id       uuid          not null,
  plan_day     date,                                           -- null: a requested payout
  status       text          not null check (status in ('requested', 'sent', 'paid', 'returned', 'cancelled')),
  currency     text          not null,
  amount_minor numeric(20,0) not null check (amount_minor > 0 and amount_minor < 1000000000000000000),
  account      jsonb         not null,                         -- the destination at that time
  requested_at bigint        not null,
  sent_at      bigint,
  ended_at     bigint,
  reference    text,                                           -- of the bank: the booking or the return
  value_date   date,
  message      text,
  return_id    text          check (length(return_id) <= 30),  -- the transfer that returned the money
  wallet_id    text,
  form_number  uuid,
  is_reviewed  boolean       not null default false,
  primary key (merchant_id, payout_id),
  check ((status in ('requested', 'sent')) = (ended_at is null)),
  check (case status when 'requested' then (sent_at is null) when 'cancelled' then true else (sent_at is not null) end),
  check ((status in ('paid', 'returned')) = (reference is not null and value_date is not null)),
  check ((status = 'returned') = (return_id is not null)),
  constraint payouts_of_wallet check (wallet_id is null or (merchant_id = 'GATEWAYSOWNWALLETS' and plan_day is null))
) with (fillfactor = 70);
create unique index payouts_form on payouts (merchant_id, wallet_id, form_number) where form_number is not null;
create index payouts_id on payouts (payout_id);
create index payouts_of_wallets on payouts (merchant_id, wallet_id, payout_id) where wallet_id is not null;
create unique index payouts_plan_day on payouts (merchant_id, currency, plan_day) where plan_day is not null;
create index payouts_run on payouts (run_id, payout_id);
create index payouts_search on payouts (upper(reference) text_pattern_ops) where reference is not null;
