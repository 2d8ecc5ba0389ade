-- Bank accounts of the operator, in place of the one funding account. Whatever comes from outside or goes there names one
-- of them, and bears the bank's reference and value date. Small, never spread.
create table bank_accounts (
  bank_name  text   primary key check (bank_name ~ '^[a-z][a-z0-9-]{0,31}$'),
  currency   text   check (currency ~ '^[A-Z]{3}$'),                -- null: every currency
  holder     text   not null check (holder <> ''),
  iban       text   check (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$'),
  lines      text[] check (cardinality(lines) > 0),                 -- where there is no IBAN
  bic        text   check (bic ~ '^[A-Z0-9]{8}([A-Z0-9]{3})?$'),
  created_at bigint not null,
  closed_at  bigint,
  check (iban is null or lines is null)
);
insert into bank_accounts (bank_name, holder, created_at)
values ('main', 'Operator', (extract(epoch from now()) * 1000)::bigint);

-- The funding account goes on as bank:main, with its balance and its history.
alter table accounts
  drop constraint accounts_owner_kind_check,
  drop constraint accounts_no_overdraft;
update accounts set account_id = 'bank:main:' || currency, owner_kind = 'bank', owner_id = 'main'
 where owner_kind = 'funding';
alter table accounts
  add constraint accounts_owner_kind_check
    check (owner_kind in ('wallet', 'merchant', 'bank', 'rail', 'suspense')),
  add constraint accounts_no_overdraft
    check (owner_kind in ('bank', 'rail') or credits_posted - debits_posted - debits_pending >= 0);

-- Of what has moved before nobody wrote down a reference: the transfer's own number stands for it, as it does for every
-- transfer to which none is given.
alter table transfers
  add column outside_reference text,
  add column value_date        date;
update transfers
   set debit_account     = case when debit_account like 'funding:%' then 'bank:main:' || currency else debit_account end,
       credit_account    = case when credit_account like 'funding:%' then 'bank:main:' || currency else credit_account end,
       outside_reference = transfer_id,
       value_date        = (to_timestamp(made_at / 1000.0) at time zone 'UTC')::date
 where kind in ('top_up', 'payout');
alter table transfers
  add constraint transfers_outside
    check (phase in ('hold', 'void')
           or (debit_account like 'bank:%' or credit_account like 'bank:%')
            = (outside_reference is not null and value_date is not null));

-- A request to move money keeps in its details which bank account it names.
alter table approvals
  drop constraint approvals_details_check,
  drop constraint approvals_money_check,
  add constraint approvals_details_check
    check (act not in ('key.add', 'merchant.callback-hosts') or details is not null),
  add constraint approvals_money_check
    check ((act in ('key.add', 'merchant.callback-hosts')) = (currency is null)
           and (currency is null) = (amount_minor is null));
