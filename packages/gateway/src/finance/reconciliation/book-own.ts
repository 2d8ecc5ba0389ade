// Books a line of a bank statement, or what one has more or less than the books, as the operator's own: a bank charge, interest, a
// deposit or a withdrawal. The booking, its match and the end of the break are one transaction with one audit entry, once.
import { Failure, makeTransactionId, makeUuid, toDecimalText } from '@tillgate/protocol'
import { type AuditParts, makeAuditEntries } from '../../core/audit/audit-entries.ts'
import { carryOutOnce, type Once } from '../../core/audit/carry-out-once.ts'
import { accountIdOf, type Transfer } from '../../core/ledger/rules/transfer.ts'
import { type OwnMove, planOwnMove } from '../treasury/rules/own-money.ts'
import type { TreasuryStore } from '../treasury/store/treasury.ts'
import { type Break, checkAmount, checkBookedAs, isOpen, mayBookAs, type OwnBooking } from './rules/break.ts'
import type { BookItem } from './rules/match.ts'
import type { KnownLine } from './rules/statement.ts'
import type { BreakStore } from './store/breaks.ts'

export interface BookOwnParts extends AuditParts {
  readonly breaks: BreakStore
  readonly treasury: TreasuryStore
}

export interface BookAsGiven extends Once {
  readonly as: OwnBooking
  /** As it was decided on. */
  readonly amount?: string | undefined
  readonly reason: string
}

export function makeBookAs(parts: BookOwnParts) {
  const { breaks, treasury, random, actor } = parts
  const makeAuditEntry = makeAuditEntries(parts)

  return async (breakId: string, { as, amount, reason, ...once }: BookAsGiven): Promise<Break> => {
    const found = await demand(breakId)
    if (once.actId !== undefined && (await treasury.recordedAt(once.actId)) !== undefined) return found
    checkAmount(found, amount)
    const { account, currency, amountMinor, line } = found
    if (!mayBookAs(found) || !line) throw notBookable(found)
    checkBookedAs(as, found)
    if (found.actId !== undefined) throw beingResolved()
    const move = planOwnMove({ kind: as, bankName: account.slice('bank:'.length), currency, amountMinor })
    const what = `${as.replace('_', ' ')}, ${toDecimalText(amountMinor, currency)} ${currency}`
    const entry = makeAuditEntry('reconcile.book-as', breakId, {
      reason: `${what}: ${reason}`,
      auditId: once.actId,
      effects: amountMinor > 0n ? ['credits the operator'] : ['sends money out'],
    })
    const transfer = transferOf(as, { move, line, auditId: entry.auditId, nowMs: entry.actedAtMs })
    const compared = found.kind === 'amount_differs' && found.item ? [found.item] : []
    const matched = {
      matchId: makeUuid(entry.actedAtMs, random),
      rule: 'operator',
      lineIds: [line.lineId],
      items: [...compared, itemOf(transfer, amountMinor)],
    } as const
    const booking = {
      breaks: [found],
      resolution: 'confirmed',
      reason,
      by: actor,
      account,
      transfer,
      matched,
      line,
    } as const
    const outcome = await carryOutOnce<'taken' | 'insufficient_funds'>(entry, once, {
      isRecorded: treasury.isRecorded,
      async attempt() {
        await treasury.openAccounts([move.from, move.to])
        return breaks.bookOwn(booking, entry)
      },
    })
    if (outcome === 'done') return demand(breakId)
    if (outcome === 'taken') throw resolvedBefore(await demand(breakId))
    const { equityMinor } = await treasury.readOwnMoney(currency)
    throw new Failure('status_does_not_allow', {
      field: 'as',
      message: `Equity has ${toDecimalText(equityMinor, currency)} ${currency}, which is too little for this withdrawal. Sweep fees first, or write the line off.`,
    })
  }

  async function demand(breakId: string): Promise<Break> {
    const found = await breaks.findBreak(breakId)
    if (found) return found
    throw new Failure('not_found', { message: `There is no break ${breakId}.` })
  }

  /** By the line's mark, so that the books name this very entry of the bank. */
  function transferOf(
    kind: OwnBooking,
    { move, line, auditId, nowMs }: { move: OwnMove; line: KnownLine; auditId: string; nowMs: number },
  ): Transfer {
    const { from, to, amountMinor } = move
    return {
      merchantId: '',
      transferId: makeTransactionId(nowMs, random),
      kind,
      phase: 'direct',
      holdId: undefined,
      debitAccountId: accountIdOf(from),
      creditAccountId: accountIdOf(to),
      currency: from.currency,
      amountMinor,
      paymentId: undefined,
      refundId: undefined,
      auditId,
      madeAtMs: nowMs,
      outside: { reference: line.mark, valueDate: line.valueDay },
    }
  }
}

/** As the bank account sees it. */
function itemOf({ transferId, kind, currency, madeAtMs }: Transfer, amountMinor: bigint): BookItem {
  const day = new Date(madeAtMs).toISOString().slice(0, 10)
  return {
    key: `/${transferId}`,
    kind: 'booked',
    merchantId: '',
    transferId,
    currency,
    amountMinor,
    day,
    bookDay: day,
    references: [],
    isMatched: false,
    what: kind,
  }
}

function notBookable(found: Break): Failure {
  if (!isOpen(found)) return resolvedBefore(found)
  return new Failure('status_does_not_allow', {
    message:
      'Only a line of a bank account that the books do not have, or that differs from them, can be booked as your own.',
  })
}

function resolvedBefore(found: Break): Failure {
  if (isOpen(found)) return beingResolved()
  const { resolution, resolvedBy: by } = found
  return new Failure('status_does_not_allow', {
    message: `The break is already settled: ${resolution?.replace('_', ' ')} by ${by}.`,
  })
}

function beingResolved(): Failure {
  return new Failure('status_does_not_allow', {
    message: 'Another action is settling this break. Wait for that action to end, or for the next pass.',
  })
}
