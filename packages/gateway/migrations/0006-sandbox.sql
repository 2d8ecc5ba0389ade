-- What a merchant asked for again lately, for whoever listens in the sandbox. Rows that were never asked for again
-- are not in it, and an attempt changes nothing of it.
create index callbacks_resent on callbacks (merchant_id, resent_at) where resent_at is not null;
