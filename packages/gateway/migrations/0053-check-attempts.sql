-- By itself: it reads the whole table, and writers go on meanwhile.
alter table callback_attempts validate constraint callback_attempts_bound;
