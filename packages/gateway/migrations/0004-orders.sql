create table orders (
  merchant_id          text,
  payment_id           text          check (length(payment_id) <= 32),
  order_no             text          not null,
  channel              text          not null check (channel in ('WEB', 'APP')),
  payment_amount_minor numeric(20,0) not null check (payment_amount_minor > 0),
  currency             text          not null,
  payment_time         bigint        not null,
  expires_at           bigint        not null,
  callback_url         text,
  redirect_url         text,
  content              text          not null,  -- the order object, normalized, as JSON
  created_at           bigint        not null,
  transaction_id       text          check (length(transaction_id) <= 30),
  completed_at         bigint,
  message              text,
  wallet_id            text,
  refunded_minor       numeric(20,0) not null default 0 check (refunded_minor >= 0),
  refund_held_minor    numeric(20,0) not null default 0 check (refund_held_minor >= 0),
  disputed_minor       numeric(20,0) not null default 0 check (disputed_minor between 0 and payment_amount_minor),
  disputed_over_minor  numeric(20,0) not null default 0 check (disputed_over_minor between 0 and disputed_minor),  -- refunded as well
  refund_count         integer       not null default 0 check (refund_count >= 0),
  rail_id              text,
  open_attempt         text          check (length(open_attempt) <= 30),
  advanced_ms          bigint        not null default 0 check (advanced_ms >= 0),
  cancel_url           text,
  link_id              text,
  link_uses            text,
  content_hash         text          check (length(content_hash) = 64),
  fee_minor            numeric(20,0),
  returns_fee          boolean,
  tops_up              text,
  status               text          not null check (status in ('pending', 'confirming', 'success', 'failed', 'timeout', 'cancelled')),
  attach               text          check (length(attach) <= 1024),
  authorized_minor     numeric(20,0),  -- null: paid at once; a success sets payment_amount_minor to what was captured
  captured_minor       numeric(20,0) not null default 0 check (captured_minor >= 0),
  held_until           bigint,         -- set when the payment is authorized
  primary key (merchant_id, payment_id),
  unique (merchant_id, order_no),
  check (refunded_minor + refund_held_minor + disputed_minor - disputed_over_minor
    <= case when refund_count > 0 or disputed_minor > 0 then payment_amount_minor else 0 end),
  constraint orders_captured check (captured_minor <= coalesce(authorized_minor, 0)
    and (captured_minor = 0 or held_until is not null and status in ('confirming', 'success'))
    and (authorized_minor is null or payment_amount_minor = case status when 'success' then captured_minor else authorized_minor end)),
  constraint orders_expiry check (expires_at + advanced_ms - payment_time between 300000 and 86400000),
  constraint orders_fee check ((fee_minor is null) = (returns_fee is null)
    and (fee_minor is null or (status = 'success' or captured_minor > 0) and fee_minor > 0 and fee_minor <= payment_amount_minor)),
  constraint orders_link check (num_nonnulls(link_id, link_uses) in (0, 2)),
  constraint orders_open_attempt check (open_attempt is null or status = 'pending'),
  constraint orders_payer check (num_nonnulls(wallet_id, rail_id) = num_nonnulls(transaction_id)),
  constraint orders_refunded check (refund_count = 0 or status = 'success'),
  constraint orders_top_up check (tops_up is null or (merchant_id = 'GATEWAYSOWNWALLETS' and wallet_id is null)),
  constraint orders_transaction check (status not in ('confirming', 'success', 'failed') or transaction_id is not null)
) with (fillfactor = 70);
create index orders_attach on orders (merchant_id, left(attach, 64) text_pattern_ops) where attach is not null;
create index orders_by_status on orders (status, payment_id);
create unique index orders_link_once on orders (merchant_id, link_id)
  where link_uses = 'once' and status in ('pending', 'confirming', 'success');
create index orders_of_link on orders (merchant_id, link_id, payment_id) where link_id is not null;
create index orders_of_top_up on orders (merchant_id, tops_up, payment_id) where tops_up is not null;
create index orders_pending_expiry on orders (expires_at) where status = 'pending';

create table order_history (
  merchant_id text,
  payment_id  text,
  to_status   text,
  from_status text   not null,
  changed_at  bigint not null,
  actor       text   not null,
  reason      text,
  primary key (merchant_id, payment_id, to_status),
  foreign key (merchant_id, payment_id) references orders(merchant_id, payment_id)
);

create table captures (
  merchant_id      text,
  payment_id       text,
  refer_capture_no text,
  ordinal          integer       not null check (ordinal > 0),
  amount_minor     numeric(20,0) not null check (amount_minor > 0),
  is_final         boolean       not null,
  captured_at      bigint,                  -- null: the rail has not captured it
  failure          text          check (failure is null or captured_at is null),
  primary key (merchant_id, payment_id, refer_capture_no),
  foreign key (merchant_id, payment_id) references orders(merchant_id, payment_id)
);
create unique index captures_asked on captures (merchant_id, payment_id) where captured_at is null and failure is null;

create table refunds (
  merchant_id     text,
  refund_id       text          check (length(refund_id) <= 32),
  payment_id      text          not null,
  ordinal         integer       not null,                              -- 1 is the order's first
  refer_refund_no text          not null,
  status          text          not null check (status in ('refunding', 'refund_success', 'refund_failed')),
  amount_minor    numeric(20,0) not null check (amount_minor > 0),
  currency        text          not null,
  reason          text,
  transaction_id  text          check (length(transaction_id) <= 30),  -- null: no money was held
  created_at      bigint        not null,
  completed_at    bigint,
  message         text,
  primary key (merchant_id, refund_id),
  unique (merchant_id, payment_id, ordinal),
  unique (merchant_id, refer_refund_no),
  foreign key (merchant_id, payment_id) references orders(merchant_id, payment_id),
  check ((status = 'refunding') = (completed_at is null)),
  check (status <> 'refund_success' or transaction_id is not null)
);
create index refunds_id on refunds (refund_id);

-- Payments and refunds that wait for their rail. `held`: authorized until due_at. A claim sets due_at to the end of its lease.
create table authorizations (
  authorization_id  text          primary key,  -- the paymentId or refundId
  kind           text          not null check (kind in ('payment', 'refund', 'held')),
  merchant_id    text          not null,
  payment_id     text          not null,
  refund_id      text,
  wallet_id      text,
  transaction_id text,                       -- the hold; null: nothing is held
  amount_minor   numeric(20,0) not null check (amount_minor > 0),
  currency       text          not null,
  refusal        text,                       -- already decided; the rail is not asked
  submitted_at   bigint        not null,
  due_at         bigint        not null,
  claim_id       uuid,
  attempts       integer       not null default 0,
  check ((kind = 'refund') = (refund_id is not null)),
  check ((refusal is null) = (transaction_id is not null)),
  constraint authorizations_wallet check (wallet_id is not null or refusal is not null)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index authorizations_due on authorizations (due_at);

create table prices (
  price_id     uuid          primary key,
  merchant_id  text          not null,                  -- '' means all
  rail_id      text          not null,                  -- 'wallet' is one
  currency     text          not null check (currency ~ '^([A-Z]{3})?$'),
  valid_from   bigint        not null,
  fixed_minor  numeric(20,0) check (fixed_minor >= 0),  -- null: a less specific price applies from then on
  basis_points integer       check (basis_points between 0 and 10000),
  least_minor  numeric(20,0) check (least_minor >= 0),
  most_minor   numeric(20,0) check (most_minor >= 0),
  returns_fee  boolean,                                 -- a refund returns its share
  created_at   bigint        not null,
  unique (merchant_id, rail_id, currency, valid_from),
  check (valid_from >= created_at + 60000),  -- every gateway knows it in time
  check (num_nonnulls(fixed_minor, basis_points, returns_fee) in (0, 3)),
  check (fixed_minor is not null or num_nonnulls(least_minor, most_minor) = 0),
  check (least_minor <= most_minor),
  check (currency <> '' or (coalesce(fixed_minor, 0) = 0 and num_nonnulls(least_minor, most_minor) = 0))
);
create index prices_created on prices (created_at);
