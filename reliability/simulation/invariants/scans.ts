// What must be true of scanned codes at the end: each made one order, and none after its end.
import type { Pool } from '../../../packages/gateway/src/platform/database/pool.ts'
import type { Journal } from '../journal.ts'

/** A code lives for a minute, and clocks of processes differ by less than another. */
const surelyEndedMs = 120_000

export async function checkScans(pool: Pool, journal: Journal): Promise<string[]> {
  const byCode = Map.groupBy(journal.scans, ({ code }) => code)
  const twice = [...byCode.values()]
    .map((scans) => new Set(scans.map(({ paymentId }) => paymentId)))
    .filter(({ size }) => size > 1)
    .map((paymentIds) => `one code made the orders ${[...paymentIds].join(' and ')}`)
  const { rows: made } = await pool.query<{ payment_id: string; created_at: string }>(
    'select payment_id, created_at from orders where payment_id = any ($1)',
    [journal.scans.map(({ paymentId }) => paymentId)],
  )
  const createdAtMs = new Map(made.map((row) => [row.payment_id, Number(row.created_at)]))
  const late = journal.scans
    .filter(({ paymentId, shownAtMs }) => (createdAtMs.get(paymentId) ?? 0) - shownAtMs > surelyEndedMs)
    .map(({ paymentId }) => `${paymentId} was made by a code that had ended`)
  const { rows } = await pool.query<{ what: string }>(`
select c.payment_id || ' was made by a code and is not stored' as what
  from pay_codes c left join orders o on o.merchant_id = c.merchant_id and o.payment_id = c.payment_id
 where c.payment_id is not null and o.payment_id is null`)
  return [...twice, ...late, ...rows.map(({ what }) => what)]
}
