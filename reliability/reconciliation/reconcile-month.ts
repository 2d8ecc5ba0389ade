import type { Break } from '../../packages/gateway/src/finance/reconciliation/rules/break.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { dayAfter } from '../../packages/gateway/src/platform/runtime/utc.ts'
import { type MonthGiven, mappings, type PlantedMonth, plantMonth } from './planted-month.ts'

const reason = 'planted'
const page = { skip: 0, limit: 10_000 }

/** Every day's statement of the bank as it comes; those of the rails at the end, as news. Lines that came twice. */
export async function importMonth(pool: Pool, given: Omit<MonthGiven, 'onStatement'>) {
  let known = 0
  const onStatement: MonthGiven['onStatement'] = async ({ reconciliation }, file) => {
    known += (await reconciliation.importStatement({ file, reason })).statement.known
  }
  const month = await plantMonth(pool, { ...given, onStatement })
  const { reconciliation } = month.by
  for (const railId of ['card', 'pay'] as const) {
    const saved = {
      mappingName: railId,
      account: `rail:${railId}`,
      settlesTo: 'main',
      columns: mappings[railId],
    }
    await reconciliation.mappings.saveMapping(saved, reason)
    await reconciliation.importStatement({ file: month.files[railId], mapping: railId, reason })
  }
  return { month, known }
}

export async function foundBreaks({ by, pool }: PlantedMonth): Promise<string[]> {
  const open = await by.reconciliation.breaks.listBreaks({ status: 'open' }, page)
  // A payment is known outside by its attempt, of which the posted transfer ends the hold.
  const { rows } = await pool.query<{ transfer_id: string; hold_id: string }>(
    'select transfer_id, hold_id from transfers where hold_id is not null',
  )
  const holds = new Map(rows.map((row) => [row.transfer_id, row.hold_id]))
  return open
    .map(({ account, kind, line, item }) => {
      const transferId = item?.transferId ?? ''
      const about = kind === 'missing_there' ? (holds.get(transferId) ?? transferId) : line?.entryReference
      return `${account} ${kind} ${about}`
    })
    .toSorted()
}

/** Until none is open: some settle into another one. How many were settled. */
export async function resolveAll({ by, unnamed }: PlantedMonth): Promise<number> {
  const { breaks } = by.reconciliation
  let resolved = 0
  for (;;) {
    const open = await breaks.listBreaks({ status: 'open' }, page)
    if (open.length === 0) return resolved
    for (const each of open) {
      const { breakId, kind, item, line, amountMinor } = each
      if ((await breaks.showBreak(breakId)).found.resolvedAtMs !== undefined) continue
      const paymentId = unnamed.get(line?.entryReference ?? '')
      const other = open.find((there) => isOther(each, there))
      if (amountMinor === 0n) await breaks.accept(breakId, reason)
      else if (kind === 'amount_differs' && item?.kind !== 'booked') await breaks.confirm(breakId, { reason })
      else if (paymentId !== undefined) await breaks.confirm(breakId, { reference: paymentId, reason })
      else if (kind === 'missing_there' && open.some((here) => isOther(here, each))) continue
      else if (other) await breaks.pair(breakId, other.breakId, reason)
      else await breaks.writeOff(breakId, { reason })
      resolved++
    }
  }
}

/** The line that a rail garbled and the payment that it misses, taken in order where amounts are the same. */
function isOther(here: Break, there: Break): boolean {
  return (
    here.account === there.account &&
    here.kind === 'missing_here' &&
    there.kind === 'missing_there' &&
    (here.line?.entryReference?.startsWith('garbled') ?? false) &&
    here.line?.amountMinor === there.item?.amountMinor
  )
}

/** What is unexplained at the end of each day of each account, before and after they are closed. */
export async function closeMonth({ by, clock, firstDay, days }: PlantedMonth) {
  clock.advance(86_400_000)
  const all = await by.reconciliation.days.listAccounts()
  return Promise.all(
    all.map(async ({ account, currency, seenThrough }) => {
      const last = dayAfter(firstDay, days - 1)
      const closed = await by.reconciliation.days.closeDay(
        { account, currency },
        seenThrough < last ? seenThrough : last,
        reason,
      )
      return { account, closed }
    }),
  )
}
