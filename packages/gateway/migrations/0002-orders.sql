-- Payment orders and the history of their statuses.

create table orders (
  merchant_id          text           not null,
  payment_id           text           not null check (length(payment_id) <= 32),
  order_no             text           not null,
  status               text           not null check (status in
                         ('pending', 'confirming', 'success', 'failed', 'timeout', 'cancelled')),
  channel              text           not null check (channel in ('WEB', 'APP')),
  payment_amount_minor numeric(20, 0) not null check (payment_amount_minor > 0),
  currency             text           not null,
  payment_time         bigint         not null,
  expires_at           bigint         not null,
  callback_url         text,
  redirect_url         text,
  content              text           not null,                     -- the order object, normalised, as JSON
  checkout_token       text           not null,
  created_at           bigint         not null,
  transaction_id       text           check (length(transaction_id) <= 30),
  completed_at         bigint,
  message              text,
  unique (merchant_id, order_no),
  check (expires_at - payment_time between 300000 and 86400000)
);

-- After the key by number: of two indexes that cost the same to a planner without statistics, which a new database
-- is, it takes the last, and by this one it finds a single row.
alter table orders add primary key (merchant_id, payment_id);

-- What expires next. Small: it holds the pending orders alone.
create index orders_pending_expiry on orders (expires_at) where status = 'pending';

-- One row for every change of status. No status is ever entered twice, and the key holds that.
create table order_history (
  merchant_id text   not null,
  payment_id  text   not null,
  to_status   text   not null,
  from_status text   not null,
  changed_at  bigint not null,
  actor       text   not null,
  reason      text,
  primary key (merchant_id, payment_id, to_status),
  foreign key (merchant_id, payment_id) references orders
);
