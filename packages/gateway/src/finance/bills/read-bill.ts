// Reads one merchant's bill of a day. A day without transfers has a bill as well, derived from the previous one.
import { Failure, isCalendarDay } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import { type Bill, type BillKey, balancesOf, billableFromMs, firstOpenDay } from './rules/bill.ts'
import type { BillStore } from './store/bills.ts'
import { startBill } from './write-bill.ts'

export interface ReadBillParts {
  readonly bills: BillStore
  readonly clock: Clock
}

export interface ReadableBill {
  readonly bill: Omit<Bill, 'madeAtMs'>
  /** The bytes that the hash covers. */
  content(): AsyncIterable<string>
}

const retryAfterSeconds = 60

export type ReadBill = ReturnType<typeof makeReadBill>

/** Throws if the day has not ended or its bill does not exist yet. */
export function makeReadBill({ bills, clock }: ReadBillParts) {
  return async (key: BillKey): Promise<ReadableBill> => {
    if (!isCalendarDay(key.day))
      throw new Failure('invalid_field', { field: 'date', message: 'date must be a day such as 2026-11-16.' })
    if (key.day >= firstOpenDay(clock.now()))
      throw new Failure('times_out_of_range', {
        field: 'date',
        message: `The bill of ${key.day} is created after the day ends. Request the bill after ${new Date(billableFromMs(key.day)).toISOString()}.`,
      })
    // Checked first, so that a bill created during this call counts as missing, not as empty.
    const isBilled = await bills.isBilled(key)
    const bill = await bills.findBill(key)
    if (bill) return { bill, content: () => bills.readParts(key) }
    if (!isBilled)
      throw new Failure('unavailable', {
        retryAfterSeconds,
        message: `The bill of ${key.day} is being created. Try again in a minute.`,
      })
    const before = balancesOf(await bills.findTotalsBefore(key), 'closing')
    const parts: string[] = []
    const quiet = await startBill({ before, ledger: before }, async (part) => void parts.push(part)).end()
    return {
      bill: { ...key, ...quiet },
      async *content() {
        yield* parts
      },
    }
  }
}

export async function orNoBill(reading: Promise<ReadableBill>): Promise<ReadableBill | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof Failure) return undefined
    throw error
  })
}
