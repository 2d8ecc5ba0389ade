// A break: a mismatch between a statement and the books, and its possible resolutions.
import { Failure, toDecimalText } from '@tillgate/protocol'
import type { BookItem, BreakKind, Rule } from './match.ts'
import { type KnownLine, partyOf } from './statement.ts'

export const resolutions = [
  ...(['matched', 'accepted', 'written_off', 'confirmed', 'paired'] as const),
  ...(['parked', 'returned'] as const),
] as const
export type Resolution = (typeof resolutions)[number]

export interface Break {
  readonly breakId: string
  readonly account: string
  readonly currency: string
  readonly kind: BreakKind
  /** The unexplained amount: outside less books. */
  readonly amountMinor: bigint
  /** The amount that the break is about. */
  readonly sizeMinor: bigint
  readonly day: string
  readonly lineId: string | undefined
  readonly foundAtMs: number
  readonly owner: string | undefined
  /** The id of the correction that resolves it; the line's id while the matcher books it. */
  readonly correctionId: string | undefined
  readonly resolvedAtMs: number | undefined
  readonly resolvedBy: string | undefined
  readonly resolution: Resolution | undefined
  readonly reason: string | undefined
  readonly line: KnownLine | undefined
  /** The books' side, as of the break. */
  readonly item: BookItem | undefined
}

export interface BreakNote {
  readonly noteId: string
  readonly actor: string
  readonly notedAtMs: number
  readonly text: string
}

export type MatchedPair = KnownLine & {
  readonly account: string
  readonly rule: Rule | undefined
  readonly breakId: string | undefined
}

export const breakMeanings = {
  missing_here: 'Only the statement contains this transaction.',
  missing_there: 'Only the books contain this transaction.',
  amount_differs: 'The statement and the books show different amounts.',
  twice: 'The statement contains this transaction more often than expected.',
  late: 'The money arrived late, or after its order ended.',
} as const satisfies Record<BreakKind, string>

export function isOpen({ resolvedAtMs }: Pick<Break, 'resolvedAtMs'>): boolean {
  return resolvedAtMs === undefined
}

/** The matcher is booking its line, or crashed doing so; operators wait for the next pass. */
export function isBeingBooked({ correctionId, lineId }: Pick<Break, 'correctionId' | 'lineId'>): boolean {
  return correctionId !== undefined && correctionId.replaceAll('-', '') === lineId
}

/** The bank has not confirmed it, so the books do not contain it yet. */
export function isUnbooked({ kind, item }: Pick<Break, 'kind' | 'item'>): boolean {
  return kind === 'missing_there' && item !== undefined && item.kind !== 'booked'
}

/** Nothing is unexplained: the books contain the money, or neither side does. */
export function mayAccept(of: Break): boolean {
  return isOpen(of) && of.amountMinor === 0n && of.correctionId === undefined
}

/** The difference becomes the operator's loss or gain. */
export function mayWriteOff(of: Break): boolean {
  return isOpen(of) && of.amountMinor !== 0n
}

/** Money arrived without an order's reference, or with another amount than a payout or rail sum. */
export function mayConfirm(of: Break): boolean {
  const { kind, item, line, amountMinor } = of
  const isWaitedFor =
    kind === 'amount_differs' && item !== undefined && item.kind !== 'booked' && amountMinor !== 0n
  const isForOrder = kind === 'missing_here' && (line?.amountMinor ?? 0n) > 0n
  return isOpen(of) && (isWaitedFor || isForOrder)
}

/** The kinds as which a line or a difference can be booked. */
export const ownBookings = ['bank_charge', 'interest', 'owner_deposit', 'owner_withdrawal'] as const
export type OwnBooking = (typeof ownBookings)[number]

/** A charge, interest or the owner's own money: a whole line, or a difference to the books. */
export function mayBookAs(of: Break): boolean {
  const { account, kind, item, line, amountMinor } = of
  const isWhole = kind === 'missing_here'
  const isDifference = kind === 'amount_differs' && item?.kind === 'booked'
  const isAtBank = account.startsWith('bank:')
  return isOpen(of) && isAtBank && line !== undefined && amountMinor !== 0n && (isWhole || isDifference)
}

/** Unknown money in a bank account. */
export function mayPark(of: Break): boolean {
  const { account, kind, line, amountMinor } = of
  const isUnknown = kind === 'missing_here' || kind === 'twice'
  const isWhole = amountMinor > 0n && amountMinor === line?.amountMinor
  return isOpen(of) && account.startsWith('bank:') && isUnknown && isWhole
}

/** The reference of the bank transfer that sends a break's money back. */
export function returnReference({ breakId }: Pick<Break, 'breakId'>): string {
  return `R${breakId.replaceAll('-', '').toUpperCase()}`
}

/** Throws if the kind does not allow this direction. */
export function checkBookedAs(as: OwnBooking, { amountMinor }: Pick<Break, 'amountMinor'>): void {
  const isIn = amountMinor > 0n
  if (isIn ? as !== 'owner_withdrawal' : as !== 'owner_deposit') return
  throw new Failure('invalid_field', {
    field: 'as',
    message: isIn
      ? 'Money came in, so this is not a withdrawal. Book it as a deposit, interest, or a refunded charge.'
      : 'Money went out, so this is not a deposit. Book it as a withdrawal, a charge, or negative interest.',
  })
}

/** What a second operator agrees to. */
export interface DecidedBreak {
  readonly amount?: string | undefined
  /** The counterparty and its account: an order's refund, or the return, is sent there. */
  readonly party?: string | undefined
}

export function decidedBreak({
  amountMinor,
  currency,
  line,
}: Pick<Break, 'amountMinor' | 'currency' | 'line'>) {
  const party = line && partyOf(line)
  return { amount: toDecimalText(amountMinor, currency), ...(party !== undefined && { party }) }
}

/** Throws if the break changed since the decision. */
export function checkDecided(found: Break, decided: DecidedBreak): void {
  const now: DecidedBreak = decidedBreak(found)
  for (const field of ['amount', 'party'] as const) {
    const { [field]: before } = decided
    if (before === undefined || before === now[field]) continue
    const is =
      field === 'amount'
        ? `amount is now ${now.amount} ${found.currency}`
        : `counterparty is now ${now.party ?? 'unknown'}`
    throw new Failure('status_does_not_allow', {
      field,
      message: `The break has changed: its ${is}, not ${before}. Review it again.`,
    })
  }
}

/** Another break may miss it. */
export function mayPair(of: Break): boolean {
  return isOpen(of) && of.kind === 'missing_here' && of.correctionId === undefined
}

/** Throws unless the two breaks are each other's counterpart. */
export function checkPair(here: Break, there: Break): void {
  if (
    there.kind !== 'missing_there' ||
    !isOpen(there) ||
    there.account !== here.account ||
    there.item?.kind !== 'booked'
  )
    throw new Failure('invalid_field', {
      field: 'otherBreakId',
      message: `Break ${there.breakId} is not an open break of ${here.account} without a statement line.`,
    })
  if (here.currency !== there.currency || here.line?.amountMinor !== there.item.amountMinor)
    throw new Failure('invalid_field', {
      field: 'otherBreakId',
      message: `The amounts differ: ${money(here.line?.amountMinor, here.currency)} and ${money(there.item.amountMinor, there.currency)}. Write the difference off on one of the breaks.`,
    })
}

function money(minor: bigint | undefined, currency: string): string {
  return `${toDecimalText(minor ?? 0n, currency)} ${currency}`
}
