// Books a bank line that no order, payout or rail explains: as the operator's own money, as unknown money in
// suspense, or as unknown money returned to its sender. Transfers, match and resolution commit together, once.
import { Failure, makeTransactionId, makeUuid, toDecimalText } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { carryOutOnce, type Once } from '../../core/audit/carry-out-once.ts'
import type { AuditEntry } from '../../core/audit/rules/audit.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { AuditedAction, Effect } from '../../core/authority/rules/effects.ts'
import {
  type AccountKey,
  accountKeyOf,
  bankAccount,
  directTransfer,
  suspenseAccount,
  type Transfer,
} from '../../core/ledger/rules/transfer.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { utcDay } from '../../platform/runtime/utc.ts'
import { planOwnMove } from '../treasury/rules/own-money.ts'
import type { TreasuryStore } from '../treasury/store/treasury.ts'
import {
  type Break,
  checkBookedAs,
  checkDecided,
  type DecidedBreak,
  isOpen,
  mayBookAs,
  mayPark,
  type OwnBooking,
  type Resolution,
  returnReference,
} from './rules/break.ts'
import type { BookItem } from './rules/match.ts'
import { beingResolved, resolvedBefore } from './rules/resolution.ts'
import type { KnownLine } from './rules/statement.ts'
import type { BreakStore } from './store/breaks.ts'

export interface BookOwnParts extends ClockAndRandom {
  readonly breaks: BreakStore
  readonly treasury: TreasuryStore
}

export interface BookGiven extends Once, DecidedBreak {
  readonly reason: string
}

export interface BookAsGiven extends BookGiven {
  readonly as: OwnBooking
}

type Parts = BookOwnParts
type Found = Break & { readonly line: KnownLine }

interface Plan {
  readonly action: AuditedAction
  readonly resolution: Resolution
  readonly what: string
  readonly effects?: readonly Effect[]
  /** The first move is the line's own. */
  readonly moves: readonly Move[]
}

interface Move {
  readonly kind: Transfer['kind']
  readonly from: AccountKey
  readonly to: AccountKey
  readonly amountMinor: bigint
  readonly reference: string
  readonly valueDate: string
}

export function makeBookOwn(parts: BookOwnParts) {
  return bindAll(parts, { bookAs, park, returnToSender })
}

function bookAs(
  parts: Parts,
  context: AnyContext,
  breakId: string,
  { as, ...given }: BookAsGiven,
): Promise<Break> {
  return book(parts, context, breakId, given, (found) => {
    const { account, currency, amountMinor, line } = found
    if (!mayBookAs(found))
      throw notBookable(
        found,
        'Only a bank line that is missing in the books, or differs from them, can be booked this way.',
      )
    checkBookedAs(as, found)
    const move = planOwnMove({ kind: as, bankName: bankOf(account), currency, amountMinor })
    return {
      action: 'reconcile.book-as',
      resolution: 'confirmed',
      what: as.replace('_', ' '),
      effects: [amountMinor > 0n ? 'credits the operator' : 'sends money out'],
      // The line's mark links the books to this bank entry.
      moves: [{ ...move, kind: as, reference: line.mark, valueDate: line.valueDay }],
    }
  })
}

/** Keeps the money in suspense until an operator identifies its owner. */
function park(parts: Parts, context: AnyContext, breakId: string, given: BookGiven): Promise<Break> {
  return book(parts, context, breakId, given, (found) => ({
    action: 'reconcile.park',
    resolution: 'parked',
    what: 'unknown money into suspense',
    moves: [received(found)],
  }))
}

/** The operator sends it at the bank; its line is matched by the reference. */
function returnToSender(
  parts: Parts,
  context: AnyContext,
  breakId: string,
  given: BookGiven,
): Promise<Break> {
  return book(parts, context, breakId, given, (found) => {
    const into = received(found)
    const valueDate = utcDay(parts.clock.now())
    const [from, to] = [into.to, into.from]
    const back = { ...into, kind: 'unknown_returned', from, to, reference: returnReference(found), valueDate }
    return {
      action: 'reconcile.return',
      resolution: 'returned',
      what: 'unknown money back to its sender',
      moves: [into, back as Move],
    }
  })
}

function received(found: Found): Move {
  const { account, currency, line } = found
  if (!mayPark(found))
    throw notBookable(
      found,
      'Only received bank money that is missing in the books can be parked or returned.',
    )
  return {
    kind: 'unknown_received',
    from: bankAccount(bankOf(account), currency),
    to: suspenseAccount(currency),
    amountMinor: line.amountMinor,
    reference: line.mark,
    valueDate: line.valueDay,
  }
}

async function book(
  parts: Parts,
  context: AnyContext,
  breakId: string,
  { amount, party, reason, ...once }: BookGiven,
  planOf: (found: Found) => Plan,
): Promise<Break> {
  const { breaks, treasury } = parts
  const found = await demand(parts, breakId)
  if (once.idempotencyKey !== undefined && (await treasury.recordedAt(once.idempotencyKey)) !== undefined)
    return found
  checkDecided(found, { amount, party })
  const { account, currency, amountMinor, line } = found
  if (!line) throw notBookable(found, 'No statement contains this transfer.')
  const { action, resolution, what, effects, moves } = planOf({ ...found, line })
  if (found.correctionId !== undefined) throw beingResolved()
  const entry = makeAuditEntry(parts, context, action, breakId, {
    reason: `${what}, ${toDecimalText(amountMinor, currency)} ${currency}: ${reason}`,
    auditId: once.idempotencyKey,
    ...(effects && { effects }),
  })
  const transfers = transfersOf(parts, moves, entry)
  const compared = found.kind === 'amount_differs' && found.item ? [found.item] : []
  const booking = {
    breaks: [found],
    resolution,
    reason,
    by: context.actor,
    account,
    transfers,
    matched: {
      matchId: makeUuid(entry.actedAtMs, parts.random),
      rule: 'operator',
      lineIds: [line.lineId],
      items: [...compared, ...transfers.slice(0, 1).map((transfer) => itemOf(transfer, amountMinor))],
    },
    line,
  } as const
  const outcome = await carryOutOnce<'taken' | 'insufficient_funds'>(entry, once, {
    isRecorded: treasury.isRecorded,
    async attempt() {
      await treasury.openAccounts(moves.flatMap(({ from, to }) => [from, to]))
      return breaks.bookOwn(booking, entry)
    },
  })
  if (outcome === 'done') return demand(parts, breakId)
  if (outcome === 'taken') throw resolvedBefore(await demand(parts, breakId))
  const { equityMinor } = await treasury.readOwnMoney(currency)
  throw new Failure('status_does_not_allow', {
    field: 'as',
    message: `Equity has ${toDecimalText(equityMinor, currency)} ${currency}, which is too little for this withdrawal. Sweep fees first, or write the line off.`,
  })
}

async function demand({ breaks }: Parts, breakId: string): Promise<Break> {
  const found = await breaks.findBreak(breakId)
  if (found) return found
  throw new Failure('not_found', { message: `Break ${breakId} does not exist.` })
}

/** The return corrects the receipt, so that no more than the received amount moves on. */
function transfersOf({ random }: Parts, moves: readonly Move[], entry: AuditEntry): Transfer[] {
  const transfers: Transfer[] = []
  for (const { kind, from, to, amountMinor, reference, valueDate } of moves)
    transfers.push(
      directTransfer({
        merchantId: '',
        transferId: makeTransactionId(entry.actedAtMs, random),
        kind,
        from,
        to,
        amountMinor,
        auditId: entry.auditId,
        madeAtMs: entry.actedAtMs,
        outside: { reference, valueDate },
        corrects: transfers[0]?.transferId,
      }),
    )
  return transfers
}

/** From the bank account's perspective. */
function itemOf({ transferId, kind, currency, madeAtMs }: Transfer, amountMinor: bigint): BookItem {
  const day = utcDay(madeAtMs)
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

function bankOf(account: string): string {
  return accountKeyOf(account).ownerId
}

function notBookable(found: Break, message: string): Failure {
  return isOpen(found) ? new Failure('status_does_not_allow', { message }) : resolvedBefore(found)
}
