// The claims of `ledger verify` about the operator's own money. Local tables are read before they are joined with
// distributed ones.

const acts = `('opening_balance', 'bank.opening-balance'), ('owner_deposit', 'bank.deposit'), ('owner_withdrawal', 'bank.withdraw'),
   ('fee_sweep', 'bank.sweep-fees'), ('owner_deposit', 'reconcile.book-as'), ('owner_withdrawal', 'reconcile.book-as'),
   ('bank_charge', 'reconcile.book-as'), ('interest', 'reconcile.book-as')`

export const ownMoneyClaims = {
  'every movement of own money has an audit entry, and every such entry has one movement': `
with t as materialized (
  select audit_id, kind, count(*) filter (where merchant_id = '') as through_banks, min(transfer_id) as transfer_id
    from transfers
   where kind in ('opening_balance', 'owner_deposit', 'owner_withdrawal', 'fee_sweep', 'bank_charge', 'interest')
   group by audit_id, kind)
select coalesce(t.transfer_id, a.audit_id::text)
  from t
  full join (select audit_id, act from audit
              where act in ('bank.opening-balance', 'bank.deposit', 'bank.withdraw', 'bank.sweep-fees', 'reconcile.book-as')) as a
    on a.audit_id = t.audit_id
 where t.audit_id is null or (t.kind, coalesce(a.act, '')) not in (${acts})
    or t.through_banks > 1 or (t.through_banks = 0 and t.kind <> 'fee_sweep')`,

  'every sweep took each merchant’s fees once, and moved the same amount between bank accounts or none': `
with t as materialized (
  select audit_id, count(*) filter (where debit_account like 'fees:%') as merchants,
         count(distinct debit_account) filter (where debit_account like 'fees:%') as accounts,
         coalesce(sum(amount_minor) filter (where debit_account like 'fees:%'), 0) as swept,
         sum(amount_minor) filter (where debit_account like 'bank:%') as moved
    from transfers where kind = 'fee_sweep' group by audit_id)
select audit_id::text from t where merchants <> accounts or merchants = 0 or moved <> swept`,

  'every opening balance matches its bank account’s record, less reversals': `
with t as materialized (
  select t.transfer_id, t.currency, t.value_date,
         case when t.debit_account like 'bank:%' then t.debit_account else t.credit_account end as bank,
         case when t.debit_account like 'bank:%' then t.amount_minor else -t.amount_minor end as amount_minor,
         coalesce(c.corrected_minor, 0) as reversed_minor
    from transfers t
    left join corrected_transfers c on c.merchant_id = t.merchant_id and c.transfer_id = t.transfer_id
   where t.merchant_id = '' and t.kind = 'opening_balance')
select coalesce(o.transfer_id, t.transfer_id)
  from bank_openings o full join t on t.transfer_id = o.transfer_id
 where ('bank:' || o.bank_name || ':' || o.currency, o.amount_minor, o.reversed_minor, o.day) is distinct from
       (t.bank, t.amount_minor, t.reversed_minor, t.value_date)`,
} as const satisfies Record<string, string>
