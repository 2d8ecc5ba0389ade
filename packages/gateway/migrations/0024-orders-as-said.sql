-- What the merchant said of an order stays as it was said. The sandbox moves expires_at alone, and keeps by how much, so
-- that the paymentExpiryTime of the request is expires_at + advanced_ms. The constraint need not look at the rows that
-- are there: the one that it replaces held them to the same.
alter table orders add column advanced_ms bigint not null default 0 check (advanced_ms >= 0);
alter table orders drop constraint orders_check;
alter table orders add constraint orders_expiry
  check (expires_at + advanced_ms - payment_time between 300000 and 86400000) not valid;

-- Where the consumer goes who leaves the checkout of a pending order; null: redirect_url serves.
alter table orders add column cancel_url text;

-- Merchants of another implementation of the interface keep their ids.
alter table merchants drop constraint merchants_merchant_id_check;
alter table merchants add constraint merchants_merchant_id_check check (merchant_id ~ '^[0-9A-Za-z]{18}$');
