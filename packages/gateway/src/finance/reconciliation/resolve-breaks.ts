// Operators' actions on breaks. Money moves through the owning module's action: a correction writes a difference off,
// or a line is booked as a bank transfer, possibly after approval. The break ends when the booking is in the books.

import { Failure, makeUuid, uuidPattern } from '@tillgate/protocol'
import { demandApproval, makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { type AnyContext, reading } from '../../core/authority/context.ts'
import type { AuditedAction } from '../../core/authority/rules/effects.ts'
import type { OrderKey } from '../../core/orders/rules/order.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { type RecordTransfers, referenceOf } from '../rails/record-transfers.ts'
import type { CorrectBooks } from '../treasury/correct-books.ts'
import { mainBank } from '../treasury/rules/operator-bank-account.ts'
import { type BookLine, entryOf } from './book-lines.ts'
import { type MatchLines, sumOf } from './match-lines.ts'
import {
  type Break,
  type BreakNote,
  checkDecided,
  checkPair,
  type DecidedBreak,
  isBeingBooked,
} from './rules/break.ts'
import type { BookItem } from './rules/match.ts'
import {
  beingResolved,
  bookedAs,
  checkBooking,
  checkWay,
  type DecidedBooking,
  decidedBooking,
  itemToBook,
  resolvedBefore,
  ways,
} from './rules/resolution.ts'
import type { KnownLine } from './rules/statement.ts'
import type { BreakResolution, BreakStore, Suppliers } from './store/breaks.ts'
import type { MatchingStore } from './store/matching.ts'
import type { OutsideAccount } from './store/owners.ts'

export interface ResolveBreaksParts extends ClockAndRandom {
  readonly breaks: BreakStore
  readonly matching: Pick<MatchingStore, 'listOutsideAccounts' | 'findNamed' | 'findByMarks'>
  readonly transfers: Pick<RecordTransfers, 'confirmTransfer' | 'findPaidBy'>
  readonly corrections: Pick<CorrectBooks, 'correct'>
  readonly bookLine: BookLine
  readonly matchLines: MatchLines
}

/** Longer than any booking takes. */
const claimMs = 600_000

export interface BreakWithNotes extends Suppliers {
  readonly found: Break
  readonly notes: readonly BreakNote[]
  /** The transfer that moved unknown money into suspense. */
  readonly parked: string | undefined
}

type Parts = ResolveBreaksParts

export function makeResolveBreaks(parts: ResolveBreaksParts) {
  const { breaks } = parts
  return {
    listBreaks: reading(breaks.listBreaks),
    countOpen: reading(breaks.countOpen),
    listParked: reading(breaks.listParked),
    ...bindAll(parts, {
      finishAll,
      showBreak,
      assign,
      note,
      accept,
      pair,
      describeBooking,
      confirm,
      writeOff,
    }),
  }
}

async function showBreak(parts: Parts, _context: AnyContext, breakId: string): Promise<BreakWithNotes> {
  const found = await asNow(parts, await find(parts, breakId))
  const [notes, parked, suppliers] = await Promise.all([
    parts.breaks.listNotes(breakId),
    parkedBy(parts, found),
    parts.breaks.findSuppliers(found),
  ])
  return { found, notes, parked, ...suppliers }
}

async function parkedBy({ breaks }: Parts, { resolution, breakId }: Break): Promise<string | undefined> {
  return resolution === 'parked' ? breaks.findParked(breakId) : undefined
}

/** Without an owner, the break becomes unassigned. */
async function assign(
  parts: Parts,
  context: AnyContext,
  breakId: string,
  owner: string | undefined,
  reason: string,
): Promise<Break> {
  const { account } = await find(parts, breakId)
  const entry = makeAuditEntry(parts, context, 'reconcile.assign', breakId, {
    reason: `${account}: ${owner ?? 'unassigned'}: ${reason}`,
  })
  if (!(await parts.breaks.assign(breakId, owner, entry))) throw resolvedBefore(await find(parts, breakId))
  return find(parts, breakId)
}

async function note(parts: Parts, context: AnyContext, breakId: string, text: string): Promise<void> {
  await find(parts, breakId)
  const entry = makeAuditEntry(parts, context, 'reconcile.note', breakId, { reason: text })
  await parts.breaks.addNote(
    { breakId, noteId: entry.auditId, actor: context.actor, notedAtMs: entry.actedAtMs, text },
    entry,
  )
}

async function accept(parts: Parts, context: AnyContext, breakId: string, reason: string): Promise<Break> {
  const found = await asNow(parts, await find(parts, breakId))
  checkWay(found, ways.accept)
  return resolve(parts, context, [found], { ...ways.accept, reason })
}

/** The line and the other break's missing transfer are the same. */
async function pair(
  parts: Parts,
  context: AnyContext,
  breakId: string,
  otherBreakId: string,
  reason: string,
): Promise<Break> {
  const [found, other] = [await asNow(parts, await find(parts, breakId)), await find(parts, otherBreakId)]
  checkWay(found, ways.pair)
  checkPair(found, other)
  if ((await underWay(parts, found)) || (await underWay(parts, other))) throw beingResolved()
  const matched = matchOf(parts, [found], other.item ? [other.item] : [])
  return resolve(parts, context, [found, other], { ...ways.pair, reason, matched })
}

/** Books the line as what waits for it, and matches again. */
async function confirm(
  parts: Parts,
  context: AnyContext,
  breakId: string,
  given: DecidedBooking & DecidedBreak & { readonly reason: string },
): Promise<Break> {
  const { clock, breaks } = parts
  const found = await find(parts, breakId)
  checkDecided(found, given)
  checkWay(found, ways.confirm)
  if (await underWay(parts, found)) throw beingResolved()
  const booking = await bookingOf(parts, found, given)
  if (booking.kind === 'item') checkBooking(booking.item, given)
  const correctionId = makeUuid(clock.now(), parts.random)
  demandApproval(context.authority, booking.kind === 'transfer' ? 'transfer.confirm' : bookedAs(booking.item))
  const { reason } = given
  await claimed(parts, context, found, { correctionId, action: ways.confirm.action, reason }, () =>
    book(parts, context, booking),
  )
  // If another pass was faster, the line's mark resolves the break.
  const { resolution } = ways.confirm
  await breaks.resolve(
    resolutionOf(context, [{ ...found, correctionId }], { resolution, reason }),
    undefined,
    clock.now(),
  )
  await parts.matchLines(context, found.account)
  return find(parts, breakId)
}

/** What `confirm` would book now, for a request that waits. */
async function describeBooking(
  parts: Parts,
  context: AnyContext,
  breakId: string,
  given: { readonly reference?: string | undefined },
): Promise<Partial<OrderKey> & { reference?: string; transferId?: string; fee?: string }> {
  const booking = await bookingOf(parts, await find(parts, breakId), { ...given, reason: '' })
  if (booking.kind === 'item') return decidedBooking(booking.item)
  const { railId, receipt } = booking
  return {
    reference: receipt.reference,
    ...(await parts.transfers.findPaidBy(context, railId, receipt.reference)),
  }
}

type Booking = { readonly line: KnownLine } & (
  | ({ readonly kind: 'transfer' } & Awaited<ReturnType<typeof transferOf>>)
  | { readonly kind: 'item'; readonly item: BookItem; readonly bankName: string | undefined }
)

/** A transfer for an order, or the awaited item. */
async function bookingOf(
  parts: Parts,
  found: Break,
  given: { readonly reference?: string | undefined; readonly reason: string },
): Promise<Booking> {
  const { account, kind, item, line } = found
  if (!line) throw new Error('what is booked is a line')
  const outside = await outsideOf(parts, account)
  if (kind === 'missing_here' && item?.kind !== 'payout_return' && item?.kind !== 'settlement')
    return { kind: 'transfer', line, ...(await transferOf(parts, line, { ...given, outside })) }
  return { kind: 'item', line, item: itemToBook(found), bankName: outside.bankName }
}

function book(parts: Parts, context: AnyContext, booking: Booking): Promise<unknown> {
  return booking.kind === 'transfer'
    ? parts.transfers.confirmTransfer(context, booking.railId, booking.receipt)
    : parts.bookLine(context, booking.line, booking.item, booking.bankName)
}

/** Books the difference as a loss or a gain. */
async function writeOff(
  parts: Parts,
  context: AnyContext,
  breakId: string,
  { reason, ...decided }: DecidedBreak & { readonly reason: string },
): Promise<Break> {
  const found = await find(parts, breakId)
  checkDecided(found, decided)
  checkWay(found, ways.writeOff)
  const before = await underWay(parts, found)
  if (before && !before.isWriteOff) throw beingResolved()
  const correctionId = before?.correctionId ?? makeUuid(parts.clock.now(), parts.random)
  const { account, currency, amountMinor } = found
  demandApproval(context.authority, 'correction.difference')
  await claimed(parts, context, found, { correctionId, action: ways.writeOff.action, reason }, () =>
    parts.corrections.correct(
      context,
      {
        kind: 'difference',
        account,
        currency,
        direction: amountMinor > 0n ? 'in' : 'out',
        amountMinor: amountMinor > 0n ? amountMinor : -amountMinor,
        outside: {
          bankName: account.startsWith('bank:') ? account.slice(5) : mainBank,
          reference: `break ${breakId}`,
          valueDate: found.line?.valueDay,
        },
      },
      reason,
      { idempotencyKey: correctionId },
    ),
  )
  await finish(parts, context, { ...found, correctionId, reason })
  return find(parts, breakId)
}

async function find({ breaks }: Parts, breakId: string): Promise<Break> {
  const found = uuidPattern.test(breakId) ? await breaks.findBreak(breakId) : undefined
  if (found) return found
  throw new Failure('not_found', { message: `Break ${breakId} does not exist.` })
}

/** Excludes other actions on the break. A rejected action releases it. */
async function claimed<Result>(
  parts: Parts,
  context: AnyContext,
  found: Break,
  { correctionId, action, reason }: { correctionId: string; action: AuditedAction; reason: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const { breakId, correctionId: before } = found
  const isNew = correctionId !== before
  if (
    isNew &&
    !(await parts.breaks.beginResolving(breakId, {
      correctionId,
      before,
      entry: makeAuditEntry(parts, context, action, breakId, { reason }),
    }))
  )
    throw resolvedBefore(await find(parts, breakId))
  try {
    if (isNew) await checkNotBookedYet(parts, found)
    return await work()
  } catch (error) {
    const isRefused = error instanceof Failure && error.failure !== 'unavailable'
    if (isNew && isRefused) await parts.breaks.release(breakId, { correctionId })
    throw error
  }
}

/** Throws if the books already contain the line: a pass that booked it may not have recorded the match yet. */
async function checkNotBookedYet(parts: Parts, { account, line }: Break): Promise<void> {
  if (!line) return
  const items = await parts.matching.findByMarks(await outsideOf(parts, account), [line])
  const { amountMinor } = line
  if (sumOf(items) !== amountMinor && !items.some((item) => item.amountMinor === amountMinor)) return
  throw new Failure('status_does_not_allow', {
    message:
      'The books already contain this line, which is matched automatically. Try again in a few minutes.',
  })
}

/** Ends breaks whose correction or transfer is booked. A rejected one becomes open to all. */
async function finishAll(parts: Parts, context: AnyContext, account: string): Promise<number> {
  let ended = 0
  for (const found of await parts.breaks.listBeingResolved(account))
    if (await finish(parts, context, found)) ended++
  return ended
}

async function finish(parts: Parts, context: AnyContext, found: Break): Promise<boolean> {
  const { breaks, clock } = parts
  const { correctionId } = found
  if (correctionId === undefined || isBeingBooked(found)) return false
  const correction = await breaks.findCorrection(correctionId, (await outsideOf(parts, found.account)).owners)
  if (!correction) {
    // The claiming process crashed before booking.
    await breaks.release(found.breakId, { correctionId, begunBeforeMs: clock.now() - claimMs })
    return false
  }
  const compared = found.kind !== 'twice' && found.item?.kind === 'booked' ? [found.item] : []
  const matched = matchOf(parts, [found], [...compared, correction])
  const resolution = resolutionOf(context, [found], {
    resolution: ways.writeOff.resolution,
    reason: found.reason ?? 'the difference is written off',
    matched,
  })
  const isExplained = await breaks.resolve(resolution, undefined, clock.now())
  // Another line took the compared item, so both the line and the correction are matched again.
  return isExplained || breaks.resolve({ ...resolution, matched: undefined }, undefined, clock.now())
}

async function resolve(
  parts: Parts,
  context: AnyContext,
  all: readonly Break[],
  given: ResolutionGiven & { readonly action: AuditedAction },
): Promise<Break> {
  const [found] = all
  if (!found) throw new Error('one break at least is resolved')
  const entry = makeAuditEntry(parts, context, given.action, found.breakId, { reason: given.reason })
  if (!(await parts.breaks.resolve(resolutionOf(context, all, given), entry, entry.actedAtMs)))
    throw resolvedBefore(await find(parts, found.breakId))
  return find(parts, found.breakId)
}

type ResolutionGiven = Pick<BreakResolution, 'resolution' | 'reason' | 'matched'>

function resolutionOf(
  { actor }: AnyContext,
  breaks: readonly Break[],
  { resolution, reason, matched }: ResolutionGiven,
): BreakResolution {
  return { breaks, resolution, reason, by: actor, account: breaks[0]?.account ?? '', matched }
}

function matchOf({ clock, random }: Parts, all: readonly Break[], items: readonly BookItem[]) {
  const lineIds = all.flatMap(({ lineId }) => lineId ?? [])
  return { matchId: makeUuid(clock.now(), random), rule: 'operator', lineIds, items } as const
}

/** The operator's choice, or the line's own reference. */
async function transferOf(
  { matching }: Parts,
  line: KnownLine,
  { outside, reference, reason }: { outside: OutsideAccount; reference?: string | undefined; reason: string },
) {
  const { currency, amountMinor } = line
  const [anyRail] = outside.transferRails
  if (anyRail === undefined)
    throw new Failure('status_does_not_allow', {
      message: 'No rail has the IBAN of this account, so it receives no bank transfers for orders.',
    })
  const asked = reference === undefined ? line : { ...line, references: [referenceOf(reference)] }
  const named = (await matching.findNamed(outside, [asked])).find(({ kind }) => kind === 'transfer')
  const known = reference ?? named?.references[0]
  if (known === undefined)
    throw new Failure('invalid_field', {
      field: 'reference',
      message: 'Enter the order’s reference or paymentId.',
    })
  return {
    railId: named?.railId ?? anyRail,
    receipt: { ...entryOf(line), currency, amountMinor, reference: known, reason },
  }
}

async function outsideOf({ matching }: Parts, account: string): Promise<OutsideAccount> {
  const outside = (await matching.listOutsideAccounts()).find((each) => each.account === account)
  if (!outside) throw new Error('a break is of an outside account')
  return outside
}

async function asNow(parts: Parts, found: Break): Promise<Break> {
  return { ...found, correctionId: (await underWay(parts, found))?.correctionId }
}

/** A resolution in progress must not run twice. */
async function underWay(
  parts: Parts,
  found: Break,
): Promise<{ readonly correctionId: string; readonly isWriteOff: boolean } | undefined> {
  const { account, correctionId } = found
  if (correctionId === undefined) return undefined
  if (isBeingBooked(found)) return { correctionId, isWriteOff: false }
  // The claiming process may still act either way, so the books decide.
  const { owners } = await outsideOf(parts, account)
  return { correctionId, isWriteOff: (await parts.breaks.findCorrection(correctionId, owners)) !== undefined }
}
