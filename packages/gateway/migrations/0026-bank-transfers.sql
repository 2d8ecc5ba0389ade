-- Bank transfer as a rail: instead of an address it has the account that consumers pay to, and operators say what the
-- bank booked.
alter table rails
  alter column url drop not null,
  add column account jsonb,                                         -- holder, iban, bic, lines
  add constraint rails_reached check (num_nonnulls(url, account) = 1);

-- What the bank booked and an operator recorded: money in for an order, or back out of it. Only ever added to. It belongs
-- to the rail's account, so it stays in one place: an entry of the bank counts once, whatever merchant it is for.
create table transfer_entries (
  rail_id           text           not null references rails,
  outside_reference text           not null check (outside_reference <> ''),  -- the bank's own
  merchant_id       text           not null,
  payment_id        text           not null,
  ordinal           integer        not null check (ordinal > 0),    -- of the order: two who decide at once meet here
  direction         text           not null check (direction in ('in', 'out')),
  transfer_id       text           not null,                        -- in the ledger
  refund_id         text           check (refund_id is null or direction = 'out'),
  amount_minor      numeric(20, 0) not null check (amount_minor > 0),
  currency          text           not null,
  value_date        date           not null,
  party             text,                                           -- who sent it, or got it
  audit_id          uuid           not null,
  recorded_at       bigint         not null,
  primary key (rail_id, outside_reference),
  unique (merchant_id, payment_id, ordinal)
);
create unique index transfer_entries_refund on transfer_entries (refund_id) where refund_id is not null;

-- A payment by bank transfer is found by its creditor reference.
create index rail_attempts_creditor_reference on rail_attempts (reference) where reference like 'RF%';

alter table transfers
  drop constraint transfers_kind_check,
  add constraint transfers_kind_check
    check (kind in ('payment', 'refund', 'top_up', 'payout', 'late_payment', 'late_return', 'transfer_received',
                    'transfer_applied', 'transfer_returned')),
  drop constraint transfers_direct,
  add constraint transfers_direct
    check ((phase = 'direct') = (kind in ('top_up', 'payout', 'late_payment', 'late_return', 'transfer_received',
                                          'transfer_applied', 'transfer_returned'))),
  drop constraint transfers_of_payment,
  add constraint transfers_of_payment
    check ((kind in ('payment', 'refund', 'late_payment', 'late_return', 'transfer_received', 'transfer_applied',
                     'transfer_returned')) = (payment_id is not null));
-- An order is paid out of suspense once.
create unique index transfers_applied on transfers (merchant_id, payment_id) where kind = 'transfer_applied';
