// Very many lines of a bank matched with what the books have, beside one SQL statement that joins the same rows and writes
// the same matches. The join alone, which writes nothing, is a figure to know.

import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { actingAs } from '../../packages/gateway/test/support/acting.ts'
import { testOperations } from '../../packages/gateway/test/support/operations.ts'
import { inTurn, median, timed } from '../figures.ts'
import { atMost, type Scenario } from '../scenario.ts'

export const reconciliation: Scenario = {
  name: 'reconciliation of 1,000,000 bank lines',
  yardstick: 'one SQL join that writes the same matches',
  goal: atMost(3),
  async run(world, size) {
    const pool = world.openPool(await world.freshDatabase(), 4)
    const count = size.of(1_000_000, 50_000)
    const { operations } = testOperations(pool)
    const { matchLines } = actingAs(operations, 'bench').reconciliation
    const joins: number[] = []
    const grown: number[] = []
    const cpu = { ours: 0, bare: 0 }
    const cpuOf = async (name: keyof typeof cpu, work: () => Promise<unknown>) => {
      const before = { us: process.cpuUsage(), postgres: world.postgresCpu() }
      const wallMs = await timed(work)
      const { user, system } = process.cpuUsage(before.us)
      cpu[name] += (user + system + world.postgresCpu() - before.postgres) / 1e6
      return wallMs
    }
    const rounds = size.of(1, 3)
    const times = await inTurn(rounds, {
      ours: async () => {
        await fill(pool, count)
        const watch = watchMemory()
        const wallMs = await cpuOf('ours', () => matchLines('bank:main'))
        grown.push(watch.end())
        await check(pool, count)
        return wallMs
      },
      bare: async () => {
        await fill(pool, count)
        joins.push(await timed(() => pool.query(`select count(*) from ${join}`)))
        return cpuOf('bare', () => bare(pool))
      },
    })
    const [ours, plain] = [median(times.ours), median(times.bare)]
    const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
    return [
      {
        ratio: ours / plain,
        ours: seconds(ours),
        yardstick: seconds(plain),
        note: `${count} lines; CPU ${(cpu.ours / rounds).toFixed(1)} s beside ${(cpu.bare / rounds).toFixed(1)} s; the matcher’s process grew by ${(Math.max(...grown) / 2 ** 20).toFixed(0)} MiB at most; the join alone took ${seconds(median(joins))}`,
      },
    ]
  },
}

/** Of a hundred lines one says no name that the books know and is found by its amount, and one is a break. */
const join = `
statement_lines l join transfers t on t.outside_reference = l.refs[1] and t.currency = l.currency and t.amount_minor = l.amount_minor`

export async function fill(pool: Pool, count: number): Promise<void> {
  await pool.query(
    'truncate statement_lines, matched_transfers, reconciliation_matches, reconciliation_breaks, outside_accounts, transfers cascade',
  )
  await pool.query(
    `
insert into outside_accounts (account, currency, start_day, start_minor, seen_through)
values ('bank:main', 'EUR', '2026-10-01', 0, '2026-10-30')`,
  )
  await pool.query(
    `
insert into transfers (merchant_id, transfer_id, kind, phase, debit_account, credit_account, currency, amount_minor, audit_id,
                       made_at, outside_reference, value_date)
select '', 'T' || n, 'top_up', 'direct', 'bank:main:EUR', 'wallet:W' || n % 1000 || ':EUR', 'EUR',
       case n % 100 when 0 then 1000000 + n else 500 + n % 9000 end, gen_random_uuid(),
       extract(epoch from date '2026-10-01' + n % 30)::bigint * 1000, 'B' || n, date '2026-10-01' + n % 30
  from generate_series(1, $1::int) as n`,
    [count],
  )
  await pool.query(
    `
insert into statement_lines (account, line_id, line_number, day, value_day, accounting_day, currency, amount_minor, mark, refs, party)
select 'bank:main', md5(n::text), n, d, d, d, 'EUR',
       case n % 100 when 0 then 1000000 + n when 1 then 9000000 + n else 500 + n % 9000 end, 'E' || n || ' ' || left(md5(n::text), 12),
       array[case n % 100 when 0 then 'unknown' when 1 then 'stranger' else 'B' end || n, 'INVOICE' || n], 'Ada Example'
  from generate_series(1, $1::int) as n, lateral (select date '2026-10-01' + n % 30) as of (d)`,
    [count],
  )
  for (const table of ['statement_lines', 'transfers', 'matched_transfers', 'reconciliation_matches'])
    await pool.query(`vacuum analyze ${table}`)
  await pool.query('checkpoint')
}

async function bare(pool: Pool): Promise<void> {
  await pool.query(`
with found as materialized (
  select l.line_id, t.merchant_id, t.transfer_id, t.currency, t.amount_minor, t.value_date, gen_random_uuid() as match_id
    from ${join}
), transfer as (
  insert into matched_transfers (account, merchant_id, transfer_id, match_id, currency, amount_minor, day)
  select 'bank:main', merchant_id, transfer_id, match_id, currency, amount_minor, value_date from found
), match as (
  insert into reconciliation_matches (match_id, account, rule) select match_id, 'bank:main', 'reference' from found
)
update statement_lines l set match_id = found.match_id from found where l.account = 'bank:main' and l.line_id = found.line_id`)
}

/** What was planted, or the figure is of something else. */
export async function check(pool: Pool, count: number): Promise<void> {
  const { rows } = await pool.query<{ rule: string; count: string }>(
    `select rule, count(*) from reconciliation_matches group by rule
      union all select kind, count(*) from reconciliation_breaks where kind = 'missing_here' group by kind`,
  )
  const found = Object.fromEntries(rows.map((row) => [row.rule, Number(row.count)]))
  const each = count / 100
  if (found['reference'] !== 98 * each || found['amount_and_day'] !== each || found['missing_here'] !== each)
    throw new Error(`of ${count} lines these were matched: ${JSON.stringify(found)}`)
}

function watchMemory() {
  const before = process.memoryUsage.rss()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  return {
    end() {
      clearInterval(timer)
      return peak - before
    },
  }
}
