-- Acts on money that wait for a second operator. Small and never spread: they belong to the gateway. That nobody
-- approves their own request is held here too, not only by code.
create table approvals (
  approval_id     uuid           primary key,                       -- begins with the time of the request
  act             text           not null check (act in ('order.refund', 'merchant.payout', 'wallet.top-up')),
  merchant_id     text,
  subject         text           not null,                          -- paymentId, merchantId or walletId
  refer_refund_no text,
  currency        text           not null,
  amount_minor    numeric(20, 0) not null check (amount_minor > 0),
  reason          text           not null,
  requested_by    text           not null references operators,
  requested_as    text           not null,                          -- who and from where, as in the audit
  requested_at    bigint         not null,
  expires_at      bigint         not null,
  status          text           not null check (status in ('waiting', 'approved', 'rejected', 'withdrawn', 'expired')),
  decided_by      text,
  decided_as      text,
  decided_at      bigint,
  decision_reason text,
  check ((act = 'order.refund') = (refer_refund_no is not null)),
  check ((act = 'wallet.top-up') = (merchant_id is null)),
  check ((status = 'waiting') = (decided_at is null)),
  check ((status in ('approved', 'rejected', 'withdrawn')) = (decided_by is not null)),
  check (status not in ('approved', 'rejected') or decided_by <> requested_by),
  check (status <> 'withdrawn' or decided_by = requested_by)
);
create unique index approvals_refund_number on approvals (merchant_id, refer_refund_no) where refer_refund_no is not null;
create index approvals_waiting on approvals (expires_at) where status = 'waiting';
