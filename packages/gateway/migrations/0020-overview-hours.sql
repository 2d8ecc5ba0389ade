-- The overview's hours as plain tallies, which are counted, written and added up by the database. What was counted
-- before is counted anew. Requests to the API are told by /metrics alone.
drop table api_traffic;
drop table overview_claim;
drop table overview_hours;
create table overview_hours (
  starts_at  bigint primary key,
  figures    jsonb,                                                 -- null: claimed and not counted yet
  counted_at bigint,
  due_at     bigint                                                 -- when to count again; null: nothing changes any more
);
