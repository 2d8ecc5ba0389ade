// What must be true of captures at the end: each that was acknowledged moved its money once, no order was captured beyond
// its authorization or after it. That every hold has ended is a claim of the ledger.
import type { Pool } from '../../../packages/gateway/src/platform/database/pool.ts'
import type { Journal } from '../journal.ts'

export async function checkCaptures(pool: Pool, journal: Journal): Promise<string[]> {
  const { rows } = await pool.query<{
    payment_id: string
    refer_capture_no: string
    transfer_id: string | null
    amount_minor: string
  }>(`
select c.payment_id, c.refer_capture_no, t.transfer_id, t.amount_minor
  from captures c
  join orders o on o.merchant_id = c.merchant_id and o.payment_id = c.payment_id
  left join transfers t on t.merchant_id = c.merchant_id and t.transfer_id = o.transaction_id || 'C' || c.ordinal
 where c.captured_at is not null`)
  const stored = new Map(rows.map((row) => [`${row.payment_id} ${row.refer_capture_no}`, row]))
  const lost = [...journal.captures].flatMap(([key, { referCaptureNo, transactionId, amountMinor }]) => {
    const row = stored.get(key)
    return row?.transfer_id === transactionId && BigInt(row.amount_minor) === amountMinor
      ? []
      : [`capture ${referCaptureNo} was acknowledged and is not stored as that`]
  })
  const { rows: wrong } = await pool.query<{ what: string }>(`
select 'more was captured of ' || o.order_no || ' than was authorized' as what
  from orders o join captures c on c.merchant_id = o.merchant_id and c.payment_id = o.payment_id
 where c.captured_at is not null
 group by o.merchant_id, o.payment_id
having sum(c.amount_minor) > o.authorized_minor
 union all
select o.order_no || ' was captured after its authorization'
  from orders o join captures c on c.merchant_id = o.merchant_id and c.payment_id = o.payment_id
 where c.captured_at >= o.held_until and o.rail_id is null`)
  return [...lost, ...wrong.map(({ what }) => what)]
}
