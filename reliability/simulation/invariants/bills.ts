// Bills, read as a merchant reads them: by their lines, whatever the tables say beside them.
import { createHash } from 'node:crypto'
import { toMinorUnits } from '@tillgate/protocol'
import { billSections, sectionOf } from '../../../packages/gateway/src/finance/bills/rules/bill.ts'
import { type BillStore, makeBillStore } from '../../../packages/gateway/src/finance/bills/store/bills.ts'
import type { Pool } from '../../../packages/gateway/src/platform/database/pool.ts'
import { textOf } from '../../../packages/gateway/test/support/payouts.ts'

const dayMs = 24 * 60 * 60 * 1000

/**
 * Each bill is made when its day is over, its lines sum to its totals, it opens with the previous closing balance,
 * and the last has the balance.
 */
export async function checkBills(pool: Pool): Promise<string[]> {
  const bills = makeBillStore(pool)
  const { rows } = await pool.query<{ merchant_id: string; balance: string }>(`
select owner_id as merchant_id, credits_posted - debits_posted as balance from accounts
 where owner_kind = 'merchant' and currency = 'USD'`)
  const found = await Promise.all(
    rows.map(async ({ merchant_id: merchantId, balance }) => {
      const { violations, closing } = await followBills(bills, merchantId)
      if (closing === BigInt(balance)) return violations
      return [...violations, `the bills of ${merchantId} end with ${closing}, and it has ${balance}`]
    }),
  )
  return found.flat()
}

async function followBills(bills: BillStore, merchantId: string) {
  const violations: string[] = []
  let before = 0n
  for (const bill of (await bills.listBills(merchantId, { limit: 1_000 })).toReversed()) {
    const name = `the bill of ${merchantId} for ${bill.day}`
    const text = await textOf(bills.readParts(bill))
    const lines = linesOf(text)
    const sumOf = (kinds: readonly string[]) =>
      lines.reduce((sum, { kind, minor }) => (kinds.includes(kind) ? sum + minor : sum), 0n)
    const [totals] = bill.totals
    if (bill.madeAtMs < Date.parse(bill.day) + dayMs) violations.push(`${name} was made while the day ran`)
    if (createHash('sha256').update(text).digest('hex') !== bill.sha256)
      violations.push(`${name} is not what its hash says`)
    if (!totals || sumOf(['opening']) !== before || totals.opening !== before)
      violations.push(`${name} does not open with ${before}, which the one before closed with`)
    for (const section of billSections) {
      const kinds = Object.entries(sectionOf).flatMap(([kind, of]) => (of === section ? [kind] : []))
      if (totals?.[section] !== sumOf(kinds))
        violations.push(`${section} of ${name} are not the sum of its lines`)
    }
    before = sumOf(['opening', 'late', ...Object.keys(sectionOf)])
    if (totals?.closing !== before || sumOf(['closing']) !== before)
      violations.push(`${name} does not close with the sum of its lines`)
  }
  return { violations, closing: before }
}

/** Nothing in a run needs quotes. */
function linesOf(text: string): { readonly kind: string; readonly minor: bigint }[] {
  return text
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => {
      const cells = line.split(',')
      const [amount = '', currency = ''] = cells.toReversed()
      const isBelow = amount.startsWith('-')
      const minor = toMinorUnits(amount.replace('-', ''), currency, 'amount')
      return { kind: cells[1] ?? '', minor: isBelow ? -minor : minor }
    })
}
