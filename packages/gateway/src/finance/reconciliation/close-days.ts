// Days of outside accounts: current state, months, CSV, and closing. A day is closed after it has ended, with all
// earlier days.

import { Failure, toDecimalText } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { type AnyContext, reading } from '../../core/authority/context.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { dayAfter, utcDay } from '../../platform/runtime/utc.ts'
import type { AccountCurrency, DayStore, ReconciledDay } from './store/days.ts'
import type { OutsideAccountRow, StatementStore } from './store/statements.ts'

export interface CloseDaysParts extends ClockAndRandom {
  readonly days: DayStore
  readonly statements: Pick<StatementStore, 'listAccounts'>
  readonly log: Log
}

export function makeCloseDays(parts: CloseDaysParts) {
  const { days, statements, clock } = parts

  const find = async ({ account, currency }: AccountCurrency): Promise<OutsideAccountRow> => {
    const found = (await statements.listAccounts()).find(
      (each) => each.account === account && each.currency === currency,
    )
    if (found) return found
    throw new Failure('not_found', { message: `No statement of ${account} in ${currency} was imported.` })
  }
  const today = () => utcDay(clock.now())

  const listMonth = async (of: AccountCurrency, month: string): Promise<ReconciledDay[]> => {
    const { startDay, seenThrough } = await find(of)
    const [from, last] = [`${month}-01`, dayAfter(`${nextMonth(month)}-01`, -1)]
    const closed = new Map(
      (await days.listClosed(of, { from, through: last })).map((each) => [each.day, each]),
    )
    const all: ReconciledDay[] = []
    const through = seenThrough < last ? seenThrough : last
    for (let day = startDay > from ? startDay : from; day <= through; day = dayAfter(day, 1)) {
      const read = closed.get(day) ?? (await days.readDay(of, day))
      if (read) all.push(read)
    }
    return all
  }

  return {
    listAccounts: reading(statements.listAccounts),
    listUnexplained: reading(days.listUnexplained),
    /** Oldest first. The figures of open days are current. */
    listMonth: reading(listMonth),

    async exportMonth(
      _context: AnyContext,
      of: AccountCurrency,
      month: string,
    ): Promise<AsyncGenerator<string>> {
      const all = await listMonth(of, month)
      return csvOf(all)
    },

    async closeDay(
      context: AnyContext,
      of: AccountCurrency,
      day: string,
      reason: string,
    ): Promise<ReconciledDay[]> {
      const { startDay, closedThrough, seenThrough } = await find(of)
      if (day >= today()) throw wrong(`${day} has not ended. Close days up to yesterday.`)
      if (day < startDay) throw wrong(`The first statement of ${of.account} starts on ${startDay}.`)
      if (day > seenThrough)
        throw wrong(`Statements of ${of.account} end on ${seenThrough}. Import the next one first.`)
      if (closedThrough !== undefined && day <= closedThrough)
        throw new Failure('status_does_not_allow', {
          message: `${day} is closed. Later items go to the next open day.`,
        })
      const entry = makeAuditEntry(
        parts,
        context,
        'reconcile.close-day',
        `${of.account} ${of.currency} ${day}`,
        { reason },
      )
      const closed = await days.closeDays(of, day, entry)
      const last = closed.at(-1)
      if (last && last.unexplainedMinor !== 0n) {
        const unexplained = `${toDecimalText(last.unexplainedMinor, last.currency)} ${last.currency}`
        parts.log.warn(
          { reason: `${last.account} ${last.day}: ${unexplained}` },
          'a day was closed with unexplained money',
        )
      }
      return closed
    },
  }
}

function nextMonth(month: string): string {
  return dayAfter(`${month}-28`, 4).slice(0, 7)
}

async function* csvOf(all: readonly ReconciledDay[]): AsyncGenerator<string> {
  yield 'account,currency,day,book,outside,inTransit,unexplained,breaks,closedAt\r\n'
  for (const { account, currency, day, breaks, closedAtMs, ...of } of all) {
    const amounts = [of.bookMinor, of.outsideMinor, of.inTransitMinor, of.unexplainedMinor].map((minor) =>
      toDecimalText(minor, currency),
    )
    const closed = closedAtMs === undefined ? '' : new Date(closedAtMs).toISOString()
    yield `${[account, currency, day, ...amounts, breaks, closed].join(',')}\r\n`
  }
}

function wrong(message: string): Failure {
  return new Failure('invalid_field', { field: 'day', message })
}
