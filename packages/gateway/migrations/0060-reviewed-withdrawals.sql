-- Withdrawals that an operator reviews, each as a run of its own. The others count against the limit of their wallet. The
-- default counts those of before, for a day, and what an older gateway writes that still runs beside this one.
alter table payouts add column is_reviewed boolean not null default false;
