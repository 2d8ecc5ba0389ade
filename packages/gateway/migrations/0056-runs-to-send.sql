-- Runs that wait for an operator are counted on the overview, however many were sent before them.
create index payout_runs_to_send on payout_runs (run_id) where closed_at is not null and sent_at is null and ending is null;
