-- What merchants pay for payments. A price holds for a merchant, a rail and a currency, or for all of them (''), from a
-- moment on. Rows are only ever added, and at least a minute before they hold: so no price changes what was charged, and
-- every gateway knows a price before it holds, without asking at each payment. Small, never spread.
create table prices (
  price_id     uuid           primary key,
  merchant_id  text           not null,
  rail_id      text           not null,                             -- 'wallet' is one
  currency     text           not null check (currency ~ '^([A-Z]{3})?$'),
  valid_from   bigint         not null,
  fixed_minor  numeric(20, 0) check (fixed_minor >= 0),             -- null: from then on a less specific price holds
  basis_points integer        check (basis_points between 0 and 10000),
  least_minor  numeric(20, 0) check (least_minor >= 0),
  most_minor   numeric(20, 0) check (most_minor >= 0),
  returns_fee  boolean,                                             -- a refund gives back its share
  created_at   bigint         not null,
  unique (merchant_id, rail_id, currency, valid_from),
  check (valid_from >= created_at + 60000),
  check (num_nonnulls(fixed_minor, basis_points, returns_fee) in (0, 3)),
  check (fixed_minor is not null or num_nonnulls(least_minor, most_minor) = 0),
  check (least_minor <= most_minor),
  check (currency <> '' or (coalesce(fixed_minor, 0) = 0 and num_nonnulls(least_minor, most_minor) = 0))
);
create index prices_created on prices (created_at);

-- The fee of a paid order, as it was charged with the payment. Null: none.
alter table orders
  add column fee_minor   numeric(20, 0),
  add column returns_fee boolean;
-- Of rows that are there both columns are null.
alter table orders add constraint orders_fee
  check ((fee_minor is null) = (returns_fee is null)
         and (fee_minor is null or (status = 'success' and fee_minor > 0 and fee_minor <= payment_amount_minor)))
  not valid;

-- What fees have brought in, for each merchant: thousands of merchants do not wait for one row.
alter table accounts
  drop constraint accounts_owner_kind_check,
  add constraint accounts_owner_kind_check
    check (owner_kind in ('wallet', 'merchant', 'bank', 'rail', 'suspense', 'fees'));

-- Those that are there were held to the same by the constraints that these replace.
alter table transfers
  drop constraint transfers_kind_check,
  add constraint transfers_kind_check
    check (kind in ('payment', 'refund', 'top_up', 'payout', 'payout_return', 'late_payment', 'late_return', 'transfer_received',
                    'transfer_applied', 'transfer_returned', 'fee', 'fee_return')) not valid,
  drop constraint transfers_direct,
  add constraint transfers_direct
    check (kind = 'payout' or (phase = 'direct') = (kind not in ('payment', 'refund'))) not valid,
  drop constraint transfers_of_payment,
  add constraint transfers_of_payment
    check ((kind in ('top_up', 'payout', 'payout_return')) = (payment_id is null)) not valid,
  drop constraint transfers_check5,
  add constraint transfers_of_refund
    check ((kind in ('refund', 'fee_return')) = (refund_id is not null)) not valid;
