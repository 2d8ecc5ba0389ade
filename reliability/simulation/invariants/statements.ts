// What must be true of statements: each was imported once, whatever was asked how often; each of its lines is matched or in an
// open break, and whatever the bank wrote as it was is matched; a closed day is as it was when it was closed. That both sides of
// every match are equal, `ledger verify` proves.

import type { ReconciledDay } from '../../../packages/gateway/src/finance/reconciliation/store/days.ts'
import type { Pool } from '../../../packages/gateway/src/platform/database/pool.ts'

export interface WrittenLine {
  /** Of the payment or the refund. */
  readonly reference: string
  readonly paymentReference: string
  readonly day: string
  readonly amountMinor: bigint
  /** False: it is of two payments, under the name of one. */
  readonly isWhole: boolean
}

export interface StatementRecord {
  readonly lines: readonly WrittenLine[]
  readonly closed: readonly ReconciledDay[]
}

interface LineRow {
  reference: string
  amount: string
  match_id: string | null
  break_kind: string | null
}

export async function checkStatements(pool: Pool, { lines, closed }: StatementRecord): Promise<string[]> {
  const { rows } = await pool.query<LineRow>(`
select l.refs[1] as reference, l.amount_minor as amount, l.match_id, b.kind as break_kind
  from statement_lines l left join reconciliation_breaks b on b.break_id = l.break_id and b.resolved_at is null
 where l.import_id is not null and l.account like 'rail:%'`)
  const written = Map.groupBy(lines, keyOf)
  const stored = Map.groupBy(rows, ({ reference, amount }) => `${reference} ${amount}`)
  const keys = [...new Set([...written.keys(), ...stored.keys()])]
  return [
    ...keys.flatMap((key) => checkLine(key, written.get(key) ?? [], stored.get(key) ?? [])),
    ...(await checkDays(pool, closed)),
  ]
}

function checkLine(key: string, written: readonly WrittenLine[], stored: readonly LineRow[]): string[] {
  const found: string[] = []
  if (stored.length !== written.length)
    found.push(`the bank wrote ${key} ${written.length} times, and it is there ${stored.length} times`)
  if (stored.some(({ match_id, break_kind }) => match_id === null && break_kind === null))
    found.push(`the line ${key} is neither matched nor in a break`)
  const matched = stored.filter(({ match_id }) => match_id !== null).length
  if (written.some(({ isWhole }) => isWhole) && matched !== 1)
    found.push(`the line ${key} is matched ${matched} times`)
  return found
}

async function checkDays(pool: Pool, closed: readonly ReconciledDay[]): Promise<string[]> {
  const { rows } = await pool.query<Record<'key' | 'book' | 'outside' | 'in_transit', string>>(
    `select account || ' ' || day as key, book, outside, in_transit from reconciliation_days`,
  )
  const stored = new Map(rows.map((row) => [row.key, [row.book, row.outside, row.in_transit].join(' ')]))
  return closed.flatMap(({ account, day, bookMinor, outsideMinor, inTransitMinor }) => {
    const said = [bookMinor, outsideMinor, inTransitMinor].join(' ')
    const kept = stored.get(`${account} ${day}`)
    return kept === said ? [] : [`${account} was closed on ${day} with ${said}, and is kept as ${kept}`]
  })
}

function keyOf({ reference, amountMinor }: WrittenLine): string {
  return `${reference} ${amountMinor}`
}
