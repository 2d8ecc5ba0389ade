-- A callback that is acknowledged at its first attempt is written down as that attempt alone, and its own row is left as
-- it is. So the pages need no room for a second version of every row any more.
alter table callbacks set (fillfactor = 90);
