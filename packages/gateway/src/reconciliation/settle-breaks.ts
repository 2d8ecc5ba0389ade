// What operators do with breaks. What moves money is an act of the room that it belongs to: a difference is written off by a
// correction, at once or after a second operator's yes, and the break ends when that correction is in the books.
import { Failure, makeUuid, uuidPattern } from '@tillgate/protocol'
import type { Outcome } from '../operators/ask-approval.ts'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import type { ApprovalRequest } from '../operators/rules/approval.ts'
import type { ApprovalStore } from '../operators/store/approvals.ts'
import type { MoneyActs } from '../treasury/money-acts.ts'
import { mainBank } from '../treasury/rules/bank-account.ts'
import type { BookLine } from './book-lines.ts'
import type { MatchLines } from './match-lines.ts'
import {
  type Break,
  type BreakNote,
  checkPair,
  isOpen,
  mayAccept,
  mayConfirm,
  mayPair,
  mayWriteOff,
  type Settlement,
} from './rules/break.ts'
import type { BookItem } from './rules/match.ts'
import type { BreakStore, Settling } from './store/breaks.ts'
import type { MatchingStore } from './store/matching.ts'

export interface SettleBreaksParts extends ActParts {
  readonly breaks: BreakStore
  readonly matching: Pick<MatchingStore, 'listOutsideAccounts'>
  readonly approvals: Pick<ApprovalStore, 'findRequest'>
  readonly bookLine: BookLine
  readonly matchLines: MatchLines
}

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
      return { found: await find(breakId), notes: await breaks.listNotes(breakId) }
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
      const found = await find(breakId)
      if (!mayAccept(found))
        throw notNow(
          found,
          'There is a difference between statement and books: write it off, or book what it is.',
        )
      return settle([found], { settlement: 'accepted', reason, act: 'reconcile.accept' })
    },

    /** Its line and what the other one misses are the same. */
    async pair(breakId: string, otherBreakId: string, reason: string): Promise<Break> {
      const [found, other] = [await find(breakId), await find(otherBreakId)]
      if (!mayPair(found)) throw notNow(found, 'Only a line that the books do not have can be paired.')
      checkPair(found, other)
      const matched = matchOf([found], other.item ? [other.item] : [])
      return settle([found, other], { settlement: 'paired', reason, act: 'reconcile.pair', matched })
    },

    /** Books what the line is, by what waits for it, and looks at the line again. */
    async confirm(
      breakId: string,
      {
        railId,
        reference,
        reason,
      }: { railId?: string | undefined; reference?: string | undefined; reason: string },
    ): Promise<Break> {
      const found = await find(breakId)
      const { line } = found
      if (!mayConfirm(found) || !line)
        throw notNow(found, 'There is nothing that this line could be booked as. Write it off, or pair it.')
      const outside = await outsideOf(found.account)
      await bookLine(
        line,
        found.kind === 'missing_here'
          ? transferItem(found, { railId: railId ?? outside.transferRails[0], reference })
          : itemFor(found),
        outside.bankName,
      )
      const settled = await settle([found], { settlement: 'confirmed', reason, act: 'reconcile.confirm' })
      await matchLines(found.account)
      return settled
    },

    /** The difference becomes a loss or a gain, at once or after a second operator's yes. */
    async writeOff(
      breakId: string,
      { reason, correct }: { reason: string; correct: MoneyActs['correct'] },
    ): Promise<Outcome<Break>> {
      const found = await find(breakId)
      if (!mayWriteOff(found)) throw notNow(found, 'There is no difference to write off.')
      const actId = (await underWay(found)) ?? makeUuid(clock.now(), random)
      if (actId !== found.actId) {
        const act = makeAct('reconcile.write-off', breakId, { reason })
        if (!(await breaks.beginSettling(breakId, { actId, before: found.actId, act })))
          throw settledBefore(await find(breakId))
      }
      const { account, currency, amountMinor } = found
      const outcome = await correct(
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
      )
      if (outcome.kind === 'waiting') return outcome
      await finish({ ...found, actId, reason })
      return { kind: 'done', result: await find(breakId) }
    },
  }

  /** Ends those whose correction is in the books, whoever made it so. */
  async function finishAll(account: string): Promise<number> {
    let ended = 0
    for (const found of await breaks.listSettling(account)) if (await finish(found)) ended++
    return ended
  }

  async function finish(found: Break): Promise<boolean> {
    const { actId } = found
    if (actId === undefined) return false
    const correction = await breaks.findCorrection(actId, (await outsideOf(found.account)).owners)
    if (!correction) return false
    const compared = found.kind !== 'twice' && found.item?.kind === 'booked' ? [found.item] : []
    const matched = matchOf([found], [...compared, correction])
    const settling = settlingOf([found], {
      settlement: 'written_off',
      reason: found.reason ?? 'the difference is written off',
      matched,
    })
    return breaks.settle(settling, undefined, clock.now())
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
      breakIds: all.map(({ breakId }) => breakId),
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

  async function outsideOf(account: string) {
    const outside = (await matching.listOutsideAccounts()).find((each) => each.account === account)
    if (!outside) throw new Error('a break is of an outside account')
    return outside
  }

  /** The id of the correction that is asked for, or made, and not to be made twice. */
  async function underWay({ actId, account }: Break): Promise<string | undefined> {
    if (actId === undefined) return undefined
    const request: ApprovalRequest | undefined = await approvals.findRequest(actId)
    const isMade = (await breaks.findCorrection(actId, (await outsideOf(account)).owners)) !== undefined
    return isMade || request === undefined || request.status === 'waiting' ? actId : undefined
  }
}

/** A line that says no reference, for an order that an operator names. */
function transferItem(
  { line, breakId }: Break,
  { railId, reference }: { railId: string | undefined; reference: string | undefined },
): BookItem {
  if (railId === undefined)
    throw new Failure('status_does_not_allow', {
      message: 'Nobody pays to this account by bank transfer: no rail has its IBAN.',
    })
  if (reference === undefined)
    throw new Failure('invalid_field', {
      field: 'reference',
      message: 'Say for which order it is: its reference, or its paymentId.',
    })
  const { currency = '', amountMinor = 0n, day = '' } = line ?? {}
  return {
    key: breakId,
    kind: 'transfer',
    merchantId: '',
    transferId: '',
    currency,
    amountMinor,
    day,
    bookDay: day,
    references: [reference],
    isMatched: false,
    what: 'transfer',
    railId,
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
  const isUnderWay =
    found.actId !== undefined &&
    'It is being written off, and waits for a second operator or for the next pass.'
  return new Failure('status_does_not_allow', { message: isUnderWay || message })
}

function settledBefore({ settlement, settledBy }: Break): Failure {
  return new Failure('status_does_not_allow', {
    message: `The break is settled already: ${settlement?.replace('_', ' ')} by ${settledBy}.`,
  })
}
