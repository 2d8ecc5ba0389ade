create table payment_links (
  merchant_id     text          references merchants(merchant_id),
  link_id         text          check (link_id ~ '^L[0-7][0-9A-HJKMNP-TV-Z]{25}$'),
  link_no         text          not null,                  -- the merchant's own number
  status          text          not null check (status in ('active', 'paused', 'closed')),
  uses            text          not null check (uses in ('once', 'many')),
  title           text          not null check (title <> ''),
  currency        text          not null,
  amount_minor    numeric(20,0) check (amount_minor > 0),  -- null: the consumer chooses
  least_minor     numeric(20,0) check (least_minor > 0),
  most_minor      numeric(20,0) check (most_minor > 0),
  goods           text          not null,                  -- as in the content of an order
  expires_at      bigint,                                  -- no orders from then on
  payment_minutes integer       not null check (payment_minutes between 5 and 1440),
  callback_url    text,
  redirect_url    text,
  created_at      bigint        not null,
  primary key (merchant_id, link_id),
  unique (merchant_id, link_no),
  check (amount_minor is null or num_nonnulls(least_minor, most_minor) = 0),
  check (least_minor <= most_minor)
);
create index payment_links_link on payment_links (link_id);
