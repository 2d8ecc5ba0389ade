// Looks straight into the tables, beside the gateway: when is something due, and is anything left to do? Time moves by
// it, so that thirty days take no longer than what happens in them.
import { billDelayMs } from '../../packages/gateway/src/finance/bills/rules/bill.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { tablePlans } from '../../packages/gateway/src/platform/database/tables.ts'

/** Autovacuum moves rows about when it likes, and two runs would differ; planning was a third of the server's work. */
export const serverSettings = { autovacuum: 'off', plan_cache_mode: 'force_generic_plan' }

export type Due = Readonly<
  Record<'expire' | 'settle' | 'ask' | 'deliver' | 'payouts' | 'bills', number | undefined>
>

/** For each worker, by the processes' clocks; undefined when nothing waits for it. */
export async function findDue(pool: Pool): Promise<Due> {
  const { rows } = await pool.query<Record<keyof Due, string | null>>({
    name: 'simulation-due',
    text: `
with last_totals as materialized (
  select distinct on (merchant_id, currency) merchant_id, currency, closing_minor
    from bill_totals order by merchant_id, currency, day desc)
select (select min(expires_at) from orders where status = 'pending') as expire,
       (select min(due_at) from authorizations) as settle,
       (select min(greatest(t.due_at, r.paused_until)) from rail_tasks t join rails r using (rail_id)) as ask,
       (select min(greatest(q.due_at, q.claimed_until, h.paused_until, d.paused_until))
          from callback_queue q
          left join callback_hosts h using (host)
          left join callback_destinations d using (merchant_id, host, destination_id)) as deliver,
       least((select extract(epoch from min(next_day)) * 1000 from payout_plans),
             (select min(coalesce(ending_asked_at, greatest(created_at, extract(epoch from day) * 1000))) from payout_runs
               where closed_at is null or (ending is not null and ended_at is null)))::bigint as payouts,
       coalesce(
         (select (min(t.made_at) / 86400000 + 1) * 86400000 + ${billDelayMs}
            from transfers t left join bill_turns b on b.merchant_id = t.merchant_id
           where t.phase in ('post', 'direct')
             and 'merchant:' || t.merchant_id || ':' || t.currency in (t.debit_account, t.credit_account)
             and t.made_at >= coalesce(extract(epoch from b.next_day) * 1000, 0)),
         -- What came too late for its own bill, where nothing moved since.
         (select ((extract(epoch from min(b.next_day))::bigint / 86400 + 1) * 86400000 + ${billDelayMs})
            from bill_turns b
            join accounts a on a.owner_id = b.merchant_id and a.account_id like 'merchant:%'
            left join last_totals l on l.merchant_id = b.merchant_id and l.currency = a.currency
           where a.credits_posted - a.debits_posted <> coalesce(l.closing_minor, 0))) as bills`,
  })
  const toTime = (text: string | null | undefined) => (text ? Number(text) : undefined)
  return {
    expire: toTime(rows[0]?.expire),
    settle: toTime(rows[0]?.settle),
    ask: toTime(rows[0]?.ask),
    deliver: toTime(rows[0]?.deliver),
    payouts: toTime(rows[0]?.payouts),
    bills: toTime(rows[0]?.bills),
  }
}

/** Statements that wait for a lock, asked of the server by a connection of its own. */
export async function countLockWaits(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ waits: string }>({
    name: 'simulation-lock-waits',
    text: `
select count(distinct l.pid) as waits
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
 where not l.granted and a.datname = current_database()`,
  })
  return Number(rows[0]?.waits)
}

export async function emptyTables(pool: Pool): Promise<void> {
  // What migrations have put there is there at every beginning.
  const names = Object.entries(tablePlans)
    .filter(([name, { isFilledByMigration }]) => name !== 'migrations' && !isFilledByMigration)
    .map(([name]) => name)
  const { rows } = await pool.query<{ name: string }>(
    names.map((name) => `select '${name}' as name where exists (select 1 from ${name})`).join(' union all '),
  )
  // Those that some other refers to cannot be emptied by themselves; this takes 3 ms for each table, empty or not.
  if (rows.length > 0) await pool.query(`truncate ${rows.map(({ name }) => name).join(', ')} cascade`)
}

const digested = [
  'orders',
  'order_history',
  'captures',
  'pay_codes',
  'refunds',
  'transfers',
  'accounts',
  'payouts',
  'payout_runs',
  'payout_plans',
  'bills',
  'bill_totals',
  'callbacks',
  'callback_attempts',
]

/** All that is stored, as one short text: two runs that end in the same state have the same. */
export async function stateDigest(pool: Pool): Promise<string> {
  const digests: string[] = []
  for (const table of digested) {
    const { rows } = await pool.query<{ digest: string | null }>(
      `select md5(string_agg(t::text, '|' order by t::text collate "C")) as digest from ${table} t`,
    )
    digests.push(`${table} ${rows[0]?.digest}`)
  }
  return digests.join('\n')
}
