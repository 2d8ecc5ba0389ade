// What must be true of money that went through the bank: whatever it approved is the merchant's, lies in suspense or went
// back, exactly once; what it did not approve is nobody's; and it never heard of a payment that no attempt names.
import type { Pool } from '../../../packages/gateway/src/platform/database/pool.ts'
import { bankRailId } from '../bank.ts'
import type { SimulatedDisputes } from '../disputes.ts'

/** What a bank knows. */
export interface BankRecord {
  readonly payments: ReadonlyMap<string, unknown>
  readonly contradictions: readonly string[]
  /** What it took: all of an approved payment, or what was captured. */
  takenMinor(transactionId: string): bigint
  /** Left out by a bank that has none. */
  readonly disputes?: SimulatedDisputes
  /** What it gave back of a payment. */
  refundedMinor(transactionId: string): bigint
}

interface AttemptRow {
  transaction_id: string
  status: string
  order_no: string
  order_status: string
  is_paid_by_it: boolean
  amount: string
  paid: string
  refunded: string
}

export async function checkBank(pool: Pool, bank: BankRecord): Promise<string[]> {
  const { rows } = await pool.query<AttemptRow>(`
select a.transaction_id, a.status, o.order_no, o.status as order_status, a.amount_minor as amount, o.payment_amount_minor as paid,
       coalesce(o.transaction_id = a.transaction_id, false) as is_paid_by_it,
       coalesce((select sum(r.amount_minor) from refunds r
                  where r.merchant_id = o.merchant_id and r.payment_id = o.payment_id and r.status = 'refund_success'), 0)
         as refunded
  from rail_attempts a join orders o using (merchant_id, payment_id)`)
  const known = new Set(rows.map((row) => row.transaction_id))
  return [
    ...bank.contradictions,
    ...[...bank.payments.keys()]
      .filter((transactionId) => !known.has(transactionId))
      .map((transactionId) => `the bank began ${transactionId}, which no attempt names`),
    ...rows.flatMap((row) => checkAttempt(row, bank)),
    ...(await checkDisputes(pool, bank, rows)),
    ...(await checkBalance(pool, bank, rows)),
  ]
}

function checkAttempt(row: AttemptRow, bank: BankRecord): string[] {
  const { transaction_id: id, status, order_no, order_status } = row
  const takenMinor = bank.takenMinor(id)
  const isApproved = takenMinor > 0n
  const isMerchants = row.is_paid_by_it && order_status === 'success'
  const isLate = status === 'held' || status === 'returned'
  const what = `${id} of ${order_no}, which is ${order_status} (the attempt is ${status})`
  if (isApproved !== (isMerchants || isLate))
    return [`the bank ${isApproved ? 'approved' : 'did not approve'} ${what}`]
  if (isMerchants && takenMinor !== BigInt(row.paid))
    return [`the bank took ${takenMinor} and the books have ${row.paid} of ${what}`]
  if (isMerchants && isLate) return [`the money came twice for ${what}`]
  const expected = isMerchants ? BigInt(row.refunded) : status === 'returned' ? BigInt(row.amount) : 0n
  const refunded = bank.refundedMinor(id)
  return refunded === expected
    ? []
    : [`the bank gave ${refunded} back and should have ${expected} of ${what}`]
}

/** Every dispute of money that a merchant got is booked as the bank has it, and no other is. */
async function checkDisputes(
  pool: Pool,
  { disputes }: BankRecord,
  attempts: readonly AttemptRow[],
): Promise<string[]> {
  if (!disputes) return []
  const { rows } = await pool.query<{ reference: string; status: string; amount: string; fee: string }>(
    'select reference, status, amount_minor as amount, fee_minor as fee from disputes',
  )
  const booked = new Map(rows.map((row) => [row.reference, `${row.status} ${row.amount} ${row.fee}`]))
  return [...disputes.all].flatMap(([disputeId, dispute]) => {
    const { transactionId, amountMinor, feeMinor } = dispute
    const isMerchants = attempts.some((row) => row.transaction_id === transactionId && isMerchantsOf(row))
    const expected = isMerchants ? `${disputes.statusOf(dispute)} ${amountMinor} ${feeMinor}` : undefined
    const found = booked.get(disputeId)
    return found === expected ? [] : [`the dispute ${disputeId} is ${expected} at the bank and ${found} here`]
  })
}

function isMerchantsOf(row: AttemptRow): boolean {
  return row.is_paid_by_it && row.order_status === 'success'
}

function lostMinor({ disputes }: BankRecord, attempts: readonly AttemptRow[]): bigint {
  const paid = new Set(attempts.filter(isMerchantsOf).map((row) => row.transaction_id))
  return [...(disputes?.all.values() ?? [])]
    .filter((each) => paid.has(each.transactionId) && disputes?.statusOf(each) === 'lost')
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}

async function checkBalance(
  pool: Pool,
  bank: BankRecord,
  attempts: readonly AttemptRow[],
): Promise<string[]> {
  const { rows } = await pool.query<{ balance: string }>(
    `select coalesce(sum(debits_posted - credits_posted), 0) as balance
       from accounts where owner_kind = 'rail' and owner_id = '${bankRailId}'`,
  )
  const collected = [...bank.payments.keys()].reduce(
    (sum, id) => (bank.takenMinor(id) > 0n ? sum + bank.takenMinor(id) - bank.refundedMinor(id) : sum),
    -lostMinor(bank, attempts),
  )
  const booked = BigInt(rows[0]?.balance ?? 0)
  return booked === collected ? [] : [`the bank has ${collected} of ours, and the books say ${booked}`]
}
