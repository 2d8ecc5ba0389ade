-- Attempts are about to be cut by time, with which the id of a callback begins. The table as it is becomes the first
-- partition: all before a bound of one to two months from now, or after the newest callback where a clock was ahead. The
-- rows that are there are checked by the next migration, while writers go on.
do 'begin
  execute format(
    ''alter table callback_attempts add constraint callback_attempts_bound check (callback_id < %L) not valid'',
    (select rpad(lpad(to_hex(least((newest / 2592000000 + 2) * 2592000000, 281474976710655)), 12, ''0''), 32, ''0'')::uuid
       from (select greatest((extract(epoch from now()) * 1000)::bigint,
                             (select (''x'' || replace(left(callback_id::text, 13), ''-'', ''''))::bit(48)::bigint
                                from callbacks
                               where body is not null
                               order by callback_id desc
                               limit 1)) as newest) as n));
end';
