-- Settled breaks, the newest first, without sorting all that were ever settled.
create index reconciliation_breaks_settled on reconciliation_breaks (settled_at desc, break_id) where settled_at is not null;
