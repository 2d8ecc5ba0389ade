-- Whether this database holds test money or real money. Written once, when it is first opened; everything that opens it
-- compares it with its own MODE.
create table database_mode (
  is_only boolean primary key default true check (is_only),
  mode    text    not null check (mode in ('sandbox', 'live'))
);

-- Merchants who signed on by themselves at the sandbox's page: their callbacks go to public addresses only.
alter table merchants add column is_self_registered boolean not null default false;
update merchants set is_self_registered = true
 where merchant_id in (select merchant_id from audit where act = 'merchant.add' and actor = 'sandbox access');
