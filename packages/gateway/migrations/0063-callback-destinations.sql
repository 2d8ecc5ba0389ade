-- The health of each destination of callbacks: an endpoint of a merchant, or the callbackUrl of its orders without the
-- query. One that fails is paused alone; `callback_hosts` holds only what is a host's own fault.

-- An endpoint's id, or made from the address (callbacks/store/destination-id.ts). What was queued before, or by a gateway of
-- the release before, shares the nil one, a lane for each merchant and host as it was.
alter table callback_queue
  add column destination_id uuid not null default '00000000-0000-0000-0000-000000000000';

-- The line of one destination. Claims ask line by line, so that no line can stand in the way of another.
drop index callback_queue_lines;
create index callback_queue_lines on callback_queue (merchant_id, host, destination_id, due_at);

-- Destinations that fail just now; a success removes the row. Small and read with every claim, so it stays in one place.
create table callback_destinations (
  merchant_id    text    not null,
  host           text    not null,
  destination_id uuid    not null,
  endpoint_id    text    not null,                                  -- empty: the callbackUrl of orders
  url            text    not null,                                  -- without its query
  failures       integer not null,                                  -- in a row
  failing_since  bigint  not null,
  failed_at      bigint  not null,
  reason         text    not null,
  pauses         integer not null default 0,
  paused_at      bigint,
  paused_until   bigint,                                            -- then one callback is sent to see
  primary key (merchant_id, host, destination_id)
);
create index callback_destinations_host on callback_destinations (host);
create index callback_destinations_failed on callback_destinations (failed_at);

-- Their failures may have been answers of one address there; a host that is down is found again by five attempts.
delete from callback_hosts where reason like 'HTTP %';
