-- What the overview is made from, beside the orders and callbacks themselves. Small, never spread: it belongs to the
-- gateway, not to a merchant, and all of it but the traffic can be counted anew.

-- Orders and callbacks made in an hour, and what has become of them. Counted anew while something in it is open.
create table overview_hours (
  starts_at  bigint primary key,
  figures    jsonb  not null,
  counted_at bigint not null,
  due_at     bigint                                                 -- when to count again; null: nothing changes any more
);

-- One row: which process counts just now is nobody's matter, only that it is one.
create table overview_claim (
  is_only       boolean primary key default true check (is_only),
  claimed_until bigint  not null
);
insert into overview_claim (claimed_until) values (0);

-- Requests to the merchant API, by five minutes and by hours, as each process counted its own. A process writes its
-- whole count each time, so writing it twice changes nothing.
create table api_traffic (
  length_ms      integer not null,
  starts_at      bigint  not null,
  process_id     uuid    not null,
  requests       bigint  not null,
  refused        bigint  not null,
  failed         bigint  not null,
  answered_after jsonb   not null,
  primary key (length_ms, starts_at, process_id)
);
