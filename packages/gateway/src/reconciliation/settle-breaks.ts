// What operators do with breaks. What moves money is an act of the room that it belongs to: a difference is written off by a
// correction, a line is booked as a bank transfer, at once or after a second operator's yes, and the break ends when that is in
// the books.
import { Failure, makeUuid, uuidPattern } from '@tillgate/protocol'
import type { Outcome } from '../operators/ask-approval.ts'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import { type ApprovalRequest, asOf } from '../operators/rules/approval.ts'
import type { ApprovalStore } from '../operators/store/approvals.ts'
import { referenceOf } from '../rails/record-transfers.ts'
import type { TransferActs } from '../rails/transfer-acts.ts'
import type { MoneyActs } from '../treasury/money-acts.ts'
import { mainBank } from '../treasury/rules/bank-account.ts'
import { type BookLine, entryOf } from './book-lines.ts'
import { type MatchLines, sumOf } from './match-lines.ts'
import {
  type Break,
  type BreakNote,
  checkPair,
  isBeingBooked,
  isOpen,
  mayAccept,
  mayConfirm,
  mayPair,
  mayWriteOff,
  type Settlement,
} from './rules/break.ts'
import type { BookItem } from './rules/match.ts'
import type { KnownLine } from './rules/statement.ts'
import type { BreakStore, Settling } from './store/breaks.ts'
import type { MatchingStore } from './store/matching.ts'
import type { OutsideAccount } from './store/owners.ts'

export interface SettleBreaksParts extends ActParts {
  readonly breaks: BreakStore
  readonly matching: Pick<MatchingStore, 'listOutsideAccounts' | 'findNamed' | 'findByMarks'>
  readonly approvals: Pick<ApprovalStore, 'findRequest'>
  readonly bookLine: BookLine
  readonly matchLines: MatchLines
}

/** So long nobody takes to book something. */
const claimMs = 600_000

export interface BreakWithNotes {
  readonly found: Break
  readonly notes: readonly BreakNote[]
}

export function makeSettleBreaks(parts: SettleBreaksParts) {
  const { breaks, matching, approvals, bookLine, matchLines, clock, random, actor } = parts
  const makeAct = makeActs(parts)

  const find = async (breakId: string): Promise<Break> => {
    const found = uuidPattern.test(breakId) ? await breaks.findBreak(breakId) : undefined
    if (found) return found
    throw new Failure('not_found', { message: `There is no break ${breakId}.` })
  }

  return {
    listBreaks: breaks.listBreaks,
    countOpen: breaks.countOpen,
    finishAll,

    async showBreak(breakId: string): Promise<BreakWithNotes> {
      return { found: await asNow(await find(breakId)), notes: await breaks.listNotes(breakId) }
    },

    /** Without an owner it is nobody's again. */
    async assign(breakId: string, owner: string | undefined, reason: string): Promise<Break> {
      const { account } = await find(breakId)
      const act = makeAct('reconcile.assign', breakId, {
        reason: `${account}: ${owner ?? 'nobody'}: ${reason}`,
      })
      if (!(await breaks.assign(breakId, owner, act))) throw settledBefore(await find(breakId))
      return find(breakId)
    },

    async note(breakId: string, text: string): Promise<void> {
      await find(breakId)
      const act = makeAct('reconcile.note', breakId, { reason: text })
      await breaks.addNote({ breakId, noteId: act.auditId, actor, notedAtMs: act.actedAtMs, text }, act)
    },

    async accept(breakId: string, reason: string): Promise<Break> {
      const found = await asNow(await find(breakId))
      if (!mayAccept(found))
        throw notNow(
          found,
          'There is a difference between statement and books: write it off, or book what it is.',
        )
      return settle([found], { settlement: 'accepted', reason, act: 'reconcile.accept' })
    },

    /** Its line and what the other one misses are the same. */
    async pair(breakId: string, otherBreakId: string, reason: string): Promise<Break> {
      const [found, other] = [await asNow(await find(breakId)), await find(otherBreakId)]
      if (!mayPair(found)) throw notNow(found, 'Only a line that the books do not have can be paired.')
      checkPair(found, other)
      if ((await underWay(found)) || (await underWay(other))) throw beingSettled()
      const matched = matchOf([found], other.item ? [other.item] : [])
      return settle([found, other], { settlement: 'paired', reason, act: 'reconcile.pair', matched })
    },

    /** Books what the line is, by what waits for it, at once or after a second operator's yes, and looks at the line again. */
    async confirm(
      breakId: string,
      given: {
        readonly reference?: string | undefined
        readonly reason: string
        readonly confirmTransfer: TransferActs['confirmTransfer']
      },
    ): Promise<Outcome<Break>> {
      const found = await find(breakId)
      const { line } = found
      const before = await underWay(found)
      if (!mayConfirm(found) || !line || (before && found.actId !== undefined))
        throw notNow(found, 'There is nothing that this line could be booked as. Write it off, or pair it.')
      const outside = await outsideOf(found.account)
      const { reason } = given
      const isForOrder = found.kind === 'missing_here'
      const transfer = isForOrder ? await transferOf(line, { ...given, outside }) : undefined
      const item = isForOrder ? undefined : itemFor(found)
      // The break's own id the first time, by which it is known what it is, also where it was asked for and not noted here.
      const isFirst = before !== undefined || !(await approvals.findRequest(breakId))
      const actId = isFirst ? breakId : makeUuid(clock.now(), random)
      const outcome = await claimed(found, { actId, act: 'reconcile.confirm', reason }, async () => {
        if (transfer) return given.confirmTransfer(transfer.railId, transfer.receipt, { actId })
        if (item) await bookLine(line, item, outside.bankName)
        return undefined
      })
      if (outcome?.kind === 'waiting') return outcome
      // Where another pass was quicker it is settled by the line's mark.
      const confirmed = settlingOf([{ ...found, actId }], { settlement: 'confirmed', reason })
      await breaks.settle(confirmed, undefined, clock.now())
      await matchLines(found.account)
      return { kind: 'done', result: await find(breakId) }
    },

    /** The difference becomes a loss or a gain, at once or after a second operator's yes. */
    async writeOff(
      breakId: string,
      { reason, correct }: { reason: string; correct: MoneyActs['correct'] },
    ): Promise<Outcome<Break>> {
      const found = await find(breakId)
      if (!mayWriteOff(found)) throw notNow(found, 'There is no difference to write off.')
      const before = await underWay(found)
      if (before && !before.isWriteOff) throw beingSettled()
      const actId = before?.actId ?? makeUuid(clock.now(), random)
      const { account, currency, amountMinor } = found
      const outcome = await claimed(found, { actId, act: 'reconcile.write-off', reason }, () =>
        correct(
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
          { reason, actId },
        ),
      )
      if (outcome.kind === 'waiting') return outcome
      await finish({ ...found, actId, reason })
      return { kind: 'done', result: await find(breakId) }
    },
  }

  /** Nobody settles the break by anything else meanwhile; where it is refused, others may. */
  async function claimed<Result>(
    found: Break,
    { actId, act, reason }: { actId: string; act: string; reason: string },
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { breakId, actId: before } = found
    const isNew = actId !== before
    if (
      isNew &&
      !(await breaks.beginSettling(breakId, { actId, before, act: makeAct(act, breakId, { reason }) }))
    )
      throw settledBefore(await find(breakId))
    try {
      if (isNew) await checkNotBooked(found)
      return await work()
    } catch (error) {
      if (isNew && error instanceof Failure) await breaks.release(breakId, { actId })
      throw error
    }
  }

  /** Who booked the line before nobody could begin anything else is about to write that down, or died. */
  async function checkNotBooked({ account, line }: Break): Promise<void> {
    if (!line) return
    const items = await matching.findByMarks(await outsideOf(account), [line])
    const { amountMinor } = line
    if (sumOf(items) !== amountMinor && !items.some((item) => item.amountMinor === amountMinor)) return
    throw new Failure('status_does_not_allow', {
      message: 'The books have this line by now. The next pass matches it.',
    })
  }

  /** Ends those whose correction or transfer is in the books, whoever made it so; what was refused is open to all again. */
  async function finishAll(account: string): Promise<number> {
    let ended = 0
    for (const found of await breaks.listSettling(account)) if (await finish(found)) ended++
    return ended
  }

  async function finish(found: Break): Promise<boolean> {
    const { actId } = found
    if (actId === undefined || isBeingBooked(found)) return false
    const request = await approvals.findRequest(actId)
    // The line is left for the next look, which finds the transfer by its mark.
    if (request?.act.kind === 'transfer.confirm' && request.status === 'approved')
      return breaks.settle(
        settlingOf([found], { settlement: 'confirmed', reason: request.reason }),
        undefined,
        clock.now(),
      )
    const correction = await breaks.findCorrection(actId, (await outsideOf(found.account)).owners)
    if (!correction) {
      // Whoever began it and neither booked nor asked for anything died.
      if (!request) await breaks.release(found.breakId, { actId, begunBeforeMs: clock.now() - claimMs })
      else if (isOver(request)) await breaks.release(found.breakId, { actId })
      return false
    }
    const compared = found.kind !== 'twice' && found.item?.kind === 'booked' ? [found.item] : []
    const matched = matchOf([found], [...compared, correction])
    const settling = settlingOf([found], {
      settlement: 'written_off',
      reason: found.reason ?? 'the difference is written off',
      matched,
    })
    const isExplained = await breaks.settle(settling, undefined, clock.now())
    // Another line has what it was compared with: both this line and the correction are looked at again.
    return isExplained || breaks.settle({ ...settling, matched: undefined }, undefined, clock.now())
  }

  async function settle(
    all: readonly Break[],
    given: { settlement: Settlement; reason: string; act: string; matched?: Settling['matched'] },
  ): Promise<Break> {
    const [found] = all
    if (!found) throw new Error('one at least is settled')
    const act = makeAct(given.act, found.breakId, { reason: given.reason })
    if (!(await breaks.settle(settlingOf(all, given), act, act.actedAtMs)))
      throw settledBefore(await find(found.breakId))
    return find(found.breakId)
  }

  function settlingOf(
    all: readonly Break[],
    {
      settlement,
      reason,
      matched,
    }: { settlement: Settlement; reason: string; matched?: Settling['matched'] },
  ): Settling {
    return {
      breaks: all,
      settlement,
      reason,
      by: actor,
      account: all[0]?.account ?? '',
      matched,
    }
  }

  function matchOf(all: readonly Break[], items: readonly BookItem[]) {
    const lineIds = all.flatMap(({ lineId }) => lineId ?? [])
    return { matchId: makeUuid(clock.now(), random), rule: 'operator', lineIds, items } as const
  }

  /** What the operator names, or else what the line itself does. */
  async function transferOf(
    line: KnownLine,
    {
      outside,
      reference,
      reason,
    }: { outside: OutsideAccount; reference?: string | undefined; reason: string },
  ) {
    const { currency, amountMinor } = line
    const [anyRail] = outside.transferRails
    if (anyRail === undefined)
      throw new Failure('status_does_not_allow', {
        message: 'Nobody pays to this account by bank transfer: no rail has its IBAN.',
      })
    const asked = reference === undefined ? line : { ...line, references: [referenceOf(reference)] }
    const named = (await matching.findNamed(outside, [asked])).find(({ kind }) => kind === 'transfer')
    const known = reference ?? named?.references[0]
    if (known === undefined)
      throw new Failure('invalid_field', {
        field: 'reference',
        message: 'Say for which order it is: its reference, or its paymentId.',
      })
    return {
      railId: named?.railId ?? anyRail,
      receipt: { ...entryOf(line), currency, amountMinor, reference: known, reason },
    }
  }

  async function outsideOf(account: string): Promise<OutsideAccount> {
    const outside = (await matching.listOutsideAccounts()).find((each) => each.account === account)
    if (!outside) throw new Error('a break is of an outside account')
    return outside
  }

  /** What was asked for and refused, withdrawn or left to expire settles nothing any more. */
  async function asNow(found: Break): Promise<Break> {
    return { ...found, actId: (await underWay(found))?.actId }
  }

  /** What is asked for, or done, and not to be done twice: also the break's first request, where nobody noted it there. */
  async function underWay(
    found: Break,
  ): Promise<{ readonly actId: string; readonly isWriteOff: boolean } | undefined> {
    const { account, actId, breakId } = found
    if (actId !== undefined && isBeingBooked(found)) return { actId, isWriteOff: false }
    const request = await approvals.findRequest(actId ?? breakId)
    if (request)
      return isOver(request)
        ? undefined
        : { actId: request.approvalId, isWriteOff: request.act.kind === 'correction' }
    if (actId === undefined) return undefined
    // Whoever began it may still be about to do either: the books say what it was.
    const { owners } = await outsideOf(account)
    return { actId, isWriteOff: (await breaks.findCorrection(actId, owners)) !== undefined }
  }

  /** Nothing comes of it any more. */
  function isOver(request: ApprovalRequest): boolean {
    const { status } = asOf(request, clock.now())
    return status !== 'waiting' && status !== 'approved'
  }
}

/** Of what a rail pays over, all that did not come is its fee. */
function itemFor({ item, line }: Break): BookItem {
  if (!item || !line) throw new Error('what differs has two sides')
  if (item.kind !== 'settlement') return item
  const feeMinor = item.amountMinor + (item.feeMinor ?? 0n) - line.amountMinor
  if (feeMinor < 0n)
    throw new Failure('status_does_not_allow', {
      message: 'More came than the rail says that it collected. Ask the rail, and write the difference off.',
    })
  return { ...item, amountMinor: line.amountMinor, feeMinor }
}

function notNow(found: Break, message: string): Failure {
  if (!isOpen(found)) return settledBefore(found)
  if (found.actId !== undefined) return beingSettled()
  return new Failure('status_does_not_allow', { message })
}

function beingSettled(): Failure {
  return new Failure('status_does_not_allow', {
    message: 'It is being settled, and waits for a second operator or for the next pass.',
  })
}

function settledBefore(found: Break): Failure {
  if (isOpen(found)) return beingSettled()
  const { settlement, settledBy } = found
  return new Failure('status_does_not_allow', {
    message: `The break is settled already: ${settlement?.replace('_', ' ')} by ${settledBy}.`,
  })
}
