-- What happened to orders and refunds, for the operator's own systems to follow. A row is written in the transaction that
-- makes the event true, while the feed is kept, and gets its position afterwards, when somebody reads: one reader after
-- the other, under the lock of the feed's own row. So positions have no gaps, and none appears behind one that was read.
create table event_feed (
  feed_id         smallint primary key check (feed_id = 1),
  is_kept         boolean  not null default false,
  last_position   bigint   not null default 0,
  pruned_position bigint   not null default 0                       -- up to here events were taken away
);

create table events (
  event_id    uuid     primary key,
  merchant_id text     not null,
  payment_id  text     not null,
  refund_id   text     not null default '',
  event_name  text     not null,
  body        text     not null,
  created_at  bigint   not null,
  step        smallint not null,                                    -- of an order's events the lower one comes first
  position    bigint   unique
);
create index events_without_position on events (step, event_id) where position is null;
