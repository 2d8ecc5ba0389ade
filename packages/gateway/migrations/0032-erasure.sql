-- Personal data in orders is erased in place after a time. The hash of the content as it was stays, so that a repetition of
-- the order is still known by it.
alter table orders add column content_hash text check (length(content_hash) = 64);

-- How far erasing has come, for the orders of each final status: everything before this paymentId is looked at.
create table erasures (
  status      text primary key,
  done_before text not null
);
