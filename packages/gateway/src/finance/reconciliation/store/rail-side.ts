// Creates the rail account's line for a settlement that only the bank reports: everything that left the rail's
// account, less returned fees. Derived from the transfers, so that it is also created after a crash.
import type { Queryable } from '../../../platform/database/pool.ts'
import { columnsOf, sql } from '../../../platform/database/sql.ts'

export async function recordRailSide(transaction: Queryable, railId: string): Promise<number> {
  const account = `rail:${railId}`
  const { rows } = await transaction.query<{ audit_id: string }>(sql`
with a as materialized (
  select account || ':' || currency as account_id from outside_accounts where account = ${account}
), t as materialized (
  select t.transfer_id, t.audit_id
    from a join transfers t on t.credit_account = a.account_id
   where t.merchant_id = '' and t.credit_account like 'rail:%' and t.phase = 'direct' and t.kind = 'rail_settlement'
)
select distinct t.audit_id
  from t
 where not exists (select 1 from matched_transfers m
                    where m.account = ${account} and m.merchant_id = '' and m.transfer_id = t.transfer_id)`)
  for (const { audit_id: auditId } of rows) await settleBatch(transaction, account, auditId)
  return rows.length
}

async function settleBatch(transaction: Queryable, account: string, auditId: string): Promise<void> {
  const { rows: moved } = await transaction.query<Record<string, unknown>>(sql`
select t.transfer_id, t.kind, t.currency, t.value_date::text, t.made_at::text,
       (case when t.credit_account like 'rail:%' then t.amount_minor else -t.amount_minor end)::text as left_minor
  from transfers t
 where t.merchant_id = '' and t.audit_id = ${auditId} and t.kind in ('rail_settlement', 'rail_fee')`)
  const [ids, kinds, currencies, amounts, dates, times] = columnsOf(
    moved,
    'transfer_id',
    'kind',
    'currency',
    'left_minor',
    'value_date',
    'made_at',
  )
  const { rowCount } = await transaction.query(sql`
with moved as (
  select m.*, (to_timestamp(m.made_at / 1000.0) at time zone 'UTC')::date as book_day
    from unnest(${ids}::text[], ${kinds}::text[], ${currencies}::text[], ${amounts}::numeric[], ${dates}::date[],
                ${times}::bigint[]) as m (transfer_id, kind, currency, left_minor, value_date, made_at)
), line as (
  insert into statement_lines (account, line_id, line_number, day, value_day, accounting_day, currency, amount_minor, mark, refs,
                               batch, description, match_id)
  select ${account}, replace(${auditId}::text, '-', ''), 0, max(v.day), max(v.day), greatest(max(v.day), max(a.closed_through) + 1),
         m.currency, -sum(m.left_minor), 'settlement ' || ${auditId}::text, '{}', max(substr(c.subject, strpos(c.subject, ' ') + 1)),
         'what the rail paid over', ${auditId}::uuid
    from moved m
    join outside_accounts a on a.account = ${account} and a.currency = m.currency
    join audit c on c.audit_id = ${auditId}
   cross join lateral (select coalesce(m.value_date, m.book_day) as day) as v
   group by m.currency
      on conflict do nothing
  returning currency, batch
), matched as (
  insert into matched_transfers (account, merchant_id, transfer_id, match_id, currency, amount_minor, day)
  select ${account}, '', m.transfer_id, ${auditId}::uuid, m.currency, -m.left_minor, m.book_day
    from moved m join line on line.currency = m.currency
  returning transfer_id
), rule as (
  insert into reconciliation_matches (match_id, account, rule)
  select ${auditId}::uuid, ${account}, 'settlement' from moved m join line on true having count(*) > 0
)
update rail_batches b
   set settled_gross = b.settled_gross + (select sum(left_minor) from moved),
       settled_fee = b.settled_fee + coalesce((select sum(left_minor) from moved where kind = 'rail_fee'), 0)
  from line
 where b.account = ${account} and b.currency = line.currency and b.batch = line.batch`)
  if (rowCount > 1) throw new Error('a batch is one row')
}
