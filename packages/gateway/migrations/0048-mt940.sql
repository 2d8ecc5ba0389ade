-- Lines are looked at in the order of days, a page at a time: what belongs together lies together mostly.
drop index statement_lines_open;
create index statement_lines_open on statement_lines (account, day, line_id) where match_id is null and break_id is null;
drop index statement_lines_broken;
create index statement_lines_broken on statement_lines (account, day, line_id) where break_id is not null;

alter table statement_imports
  drop constraint statement_imports_format_check,
  add constraint statement_imports_format_check check (format in ('camt.053', 'mt940', 'csv')) not valid;
