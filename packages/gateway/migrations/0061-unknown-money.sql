-- The account of the other side, as a statement has it: where money came from, or went.
alter table statement_lines add column party_iban text;
