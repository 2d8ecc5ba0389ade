-- Payouts: merchants' bank accounts, plans, runs and the payouts themselves. Accounts and payouts belong to a merchant and
-- are spread with it; plans are claimed from by workers and runs are few, both stay in one place.

-- Never changed, only added to and ended: which account was paid to when is history. Of those that are not ended the
-- newest whose time has come is paid to.
create table merchant_bank_accounts (
  merchant_id     text   not null,
  bank_account_id uuid   not null,
  currency        text   not null check (currency ~ '^[A-Z]{3}$'),
  holder          text   not null check (holder <> ''),
  iban            text   check (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$'),
  lines           text[] check (cardinality(lines) > 0),            -- where there is no IBAN
  bic             text   check (bic ~ '^[A-Z0-9]{8}([A-Z0-9]{3})?$'),
  set_at          bigint not null,
  valid_from      bigint not null,
  ended_at        bigint,                                           -- stopped while it waited
  primary key (merchant_id, bank_account_id),
  foreign key (merchant_id) references merchants,
  check ((iban is null) <> (lines is null)),
  check (valid_from >= set_at),
  check (ended_at <= valid_from)
);
create index merchant_bank_accounts_valid on merchant_bank_accounts (merchant_id, currency, valid_from)
  where ended_at is null;

-- next_day is what workers look for, and is moved on in the transaction that makes the payout. Null: by hand.
create table payout_plans (
  merchant_id        text           not null,
  currency           text           not null check (currency ~ '^[A-Z]{3}$'),
  bank_name          text           not null references bank_accounts,
  schedule           text           not null check (schedule in ('daily', 'weekly', 'monthly', 'hand')),
  on_day             smallint,
  least_minor        numeric(20, 0) not null check (least_minor >= 0),
  reserve_minor      numeric(20, 0) not null check (reserve_minor >= 0),
  share_basis_points integer        not null check (share_basis_points between 0 and 10000),
  share_days         smallint       not null check (share_days between 0 and 180),
  next_day           date,
  last_day           date,
  last_outcome       text           check (last_outcome in ('paid_out', 'nothing_to_pay', 'no_bank_account', 'suspended',
                                      'bank_closed')),
  primary key (merchant_id, currency),
  check (case schedule when 'weekly' then coalesce(on_day, 0) between 1 and 7
                       when 'monthly' then coalesce(on_day, 0) between 1 and 31
                       else on_day is null end),
  check ((share_basis_points > 0) = (share_days > 0)),
  check ((last_day is null) = (last_outcome is null)),
  check (next_day > last_day)
) with (fillfactor = 70);
create index payout_plans_due on payout_plans (next_day) where next_day is not null;

-- All payouts that go to the bank as one file. A run takes in what is due until nothing is left, then it is closed; what
-- is due for the same day later gets the next part. How it ends is written down here, and workers end its payouts.
create table payout_runs (
  run_id          uuid     primary key,
  bank_name       text     not null references bank_accounts,
  currency        text     not null check (currency ~ '^[A-Z]{3}$'),
  day             date     not null,
  part            smallint,                                         -- null: one payout that somebody asked for
  created_at      bigint   not null,
  closed_at       bigint,
  sent_at         bigint,
  debtor          jsonb,                                            -- the operator's account as it was when it was sent
  ending          text     check (ending in ('paid', 'cancelled')),
  ending_asked_at bigint,
  reference       text,                                             -- the bank's, where it paid
  value_date      date,
  message         text,                                             -- why it was cancelled
  ended_at        bigint,
  check (sent_at is null or closed_at is not null),
  check ((sent_at is null) = (debtor is null)),
  check ((ending is null) = (ending_asked_at is null)),
  check (ending is null or closed_at is not null),
  check (case ending when 'paid' then sent_at is not null and reference is not null and value_date is not null else true end),
  check (ended_at is null or ending is not null)
);
create unique index payout_runs_part on payout_runs (bank_name, currency, day, part) where part is not null;
-- At most one takes payouts in.
create unique index payout_runs_open on payout_runs (bank_name, currency, day) where closed_at is null;
create index payout_runs_ending on payout_runs (ending_asked_at) where ending is not null and ended_at is null;

-- payout_id is also the transfer that holds the money and the end-to-end id at the bank. In the order of its bytes, so
-- that a file is the same wherever the database lives.
create table payouts (
  merchant_id  text           not null,
  payout_id    text           collate "C" not null check (length(payout_id) <= 30),
  run_id       uuid           not null,
  plan_day     date,                                                -- null: somebody asked for it
  status       text           not null check (status in ('requested', 'sent', 'paid', 'returned', 'cancelled')),
  currency     text           not null,
  amount_minor numeric(20, 0) not null check (amount_minor > 0 and amount_minor < 1000000000000000000),
  account      jsonb          not null,                             -- where it goes, as it was then
  requested_at bigint         not null,
  sent_at      bigint,
  ended_at     bigint,
  reference    text,                                                -- the bank's, of the booking or of the return
  value_date   date,
  message      text,
  return_id    text           check (length(return_id) <= 30),      -- the transfer that brought the money back
  primary key (merchant_id, payout_id),
  check ((status in ('requested', 'sent')) = (ended_at is null)),
  check (case status when 'requested' then sent_at is null when 'cancelled' then true else sent_at is not null end),
  check ((status in ('paid', 'returned')) = (reference is not null and value_date is not null)),
  check ((status = 'returned') = (return_id is not null))
) with (fillfactor = 70);
-- A merchant is paid once for each day of its plan, whoever makes the run and however often.
create unique index payouts_plan_day on payouts (merchant_id, currency, plan_day) where plan_day is not null;
create index payouts_run on payouts (run_id, payout_id);

-- A payout holds its money until the bank has paid it. Those of before went at once and keep the act behind them; what
-- comes back is a transfer of its own.
alter table transfers
  drop constraint transfers_kind_check,
  add constraint transfers_kind_check
    check (kind in ('payment', 'refund', 'top_up', 'payout', 'payout_return', 'late_payment', 'late_return',
                    'transfer_received', 'transfer_applied', 'transfer_returned')),
  drop constraint transfers_direct,
  add constraint transfers_direct
    check (kind = 'payout'
           or (phase = 'direct') = (kind in ('top_up', 'payout_return', 'late_payment', 'late_return', 'transfer_received',
                                             'transfer_applied', 'transfer_returned'))),
  drop constraint transfers_check6,
  add constraint transfers_act
    check (kind in ('payout', 'payout_return') or (kind = 'top_up') = (audit_id is not null));

alter table approvals
  drop constraint approvals_act_check,
  add constraint approvals_act_check
    check (act in ('order.refund', 'merchant.payout', 'wallet.top-up', 'key.add', 'merchant.callback-hosts',
                   'merchant.bank-account')),
  drop constraint approvals_details_check,
  drop constraint approvals_money_check,
  add constraint approvals_details_check
    check (act not in ('key.add', 'merchant.callback-hosts', 'merchant.bank-account') or details is not null),
  add constraint approvals_money_check
    check ((act in ('key.add', 'merchant.callback-hosts', 'merchant.bank-account')) = (currency is null)
           and (currency is null) = (amount_minor is null));
