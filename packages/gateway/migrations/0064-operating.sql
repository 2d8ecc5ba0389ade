-- When a backup was taken last, by each tool: `tillgate db backup` notes its own, scripts around other tools theirs.
create table backups (
  tool     text   primary key check (tool ~ '^[a-z0-9_.-]{1,32}$'),
  taken_at bigint not null
);

-- The console's search: references and names by how they begin, in any case.
create index rail_attempts_search on rail_attempts (upper(reference) text_pattern_ops) where reference is not null;
create index transfer_entries_search on transfer_entries (upper(outside_reference) text_pattern_ops);
create index transfer_entries_party on transfer_entries (lower(party) text_pattern_ops) where party is not null;
create index payouts_search on payouts (upper(reference) text_pattern_ops) where reference is not null;
create index payout_runs_search on payout_runs (upper(reference) text_pattern_ops) where reference is not null;
-- Without figures of the expressions the planner would read whole tables.
analyze rail_attempts, transfer_entries, payouts, payout_runs;
