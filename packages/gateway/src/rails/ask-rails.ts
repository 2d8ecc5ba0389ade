// Asks rails about what waits for them: claims it, asks (never inside a transaction), and commits what follows. A rail
// that answers late, twice, wrongly or not at all is asked again by the same id, so nothing is paid twice. Of each rail
// only so much is under way at once, so that a slow one delays nobody else.
import assert from 'node:assert/strict'
import {
  makeCallbackId,
  makeTransactionId,
  makeUuid,
  parseRailPaymentAnswer,
  parseRailRefundAnswer,
  type RailMessage,
  type RailPaymentAnswer,
  type RailRefundAnswer,
  type RandomBytes,
  toDecimalText,
} from '@tillgate/protocol'
import type { MerchantDirectory } from '../merchants/merchant-directory.ts'
import type { MakeNotices } from '../notices/make-notices.ts'
import { writtenDay, writtenTime } from '../notices/rules/notice.ts'
import type { CurrentOrder } from '../orders/current-order.ts'
import { checkoutUrl } from '../orders/rules/checkout-url.ts'
import type { OrderStore } from '../orders/store/orders.ts'
import type { FinalAnswer } from '../payments/rules/payment.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tokens } from '../platform/tokens.ts'
import { type Refund, settleRefund } from '../refunds/rules/refund.ts'
import type { RefundStore } from '../refunds/store/refunds.ts'
import { makeRailClient, type RailPost, type RailReply, railTimeoutMs } from './rail-client.ts'
import type { KnownRail, RailDirectory } from './rail-directory.ts'
import {
  type Attempt,
  afterFailureMs,
  type Decision,
  type DecisionIds,
  nextAskAtMs,
  type OrderAndAttempt,
  type Question,
  questionFor,
  startsAgain,
  whyNotBelieved,
} from './rules/attempt.ts'
import { decidePayment } from './rules/decide-payment.ts'
import { decideReturn, type LateMoney } from './rules/late-money.ts'
import { isFailing } from './rules/outside-rail.ts'
import { paymentStart, refundStart } from './rules/rail-message.ts'
import type { ClaimedTask, RailCall } from './rules/rail-task.ts'
import { type RailAttemptStore, type RailOutcome, RailRaceLost } from './store/rail-attempts.ts'
import type { RailStore } from './store/rails.ts'

export interface AskRailsParts {
  readonly attempts: RailAttemptStore
  readonly rails: Pick<RailStore, 'noteFailure' | 'noteAnswer'>
  readonly railDirectory: RailDirectory
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly refunds: Pick<RefundStore, 'findRefund'>
  readonly currentOrder: CurrentOrder
  readonly directory: Pick<MerchantDirectory, 'remembered' | 'load'>
  readonly linkTokens: Tokens
  readonly publicUrl: string
  readonly post: RailPost
  readonly lateMoney: LateMoney
  readonly makeNotices: MakeNotices
  readonly clock: Clock
  readonly random: RandomBytes
  /** Trouble of our own with one of them; it is tried again later. */
  readonly onTrouble: (error: unknown, task: ClaimedTask) => void
  /** What somebody should know. */
  readonly onAlert: (message: string, task: ClaimedTask) => void
}

/** A worker that is away longer than this lost its claims, and others do its work. */
export const leaseMs = 45_000
assert(railTimeoutMs * 3 < leaseMs, 'a claim outlasts two questions and the commit after them')

/** Questions under way at one rail, in one process. */
export const maxPerRail = 32
/** A race that is lost is decided again on what is there then. */
const maxDecisions = 5

export type AskRails = ReturnType<typeof makeAskRails>

export function makeAskRails(parts: AskRailsParts) {
  const { attempts, railDirectory, clock, random } = parts
  const ask = makeRailClient(parts)
  const underWay = new Map<string, number>()

  return {
    /**
     * Asks about what is due at every rail that has room and is not left alone for its failures. Each of the answers is
     * over for now when it resolves; none rejects.
     */
    async askDue(): Promise<Promise<void>[]> {
      const limits = new Map((await readyRails()).map((railId) => [railId, roomAt(railId)]))
      if (limits.size === 0) return []
      return (await attempts.claim(claiming(), limits)).map((task) => work(task, enter(task.railId)))
    },

    /** When something is due at a rail that can be asked. */
    async nextDue(): Promise<number | undefined> {
      const ready = await readyRails()
      return ready.length === 0 ? undefined : attempts.nextDue(ready)
    },

    /** About this one, now: undefined where the rail has no room or somebody else holds it, and it is done soon. */
    async askNow(taskId: string, railId: string): Promise<true | undefined> {
      if (roomAt(railId) <= 0) return undefined
      const leave = enter(railId)
      const task = await attempts.claimOne(taskId, claiming()).catch((error: unknown) => {
        leave()
        throw error
      })
      if (task) await work(task, leave)
      else leave()
      return task && true
    },

    /** About one that was claimed when it was made. */
    work,
    claiming,
    /** Takes one of the places at the rail; `work` gives it back. Undefined: there is none. */
    enter: (railId: string) => (roomAt(railId) > 0 ? enter(railId) : undefined),
  }

  function claiming() {
    const nowMs = clock.now()
    return { claimId: makeUuid(nowMs, random), nowMs, leaseMs }
  }

  function roomAt(railId: string): number {
    return maxPerRail - (underWay.get(railId) ?? 0)
  }

  async function readyRails(): Promise<string[]> {
    const nowMs = clock.now()
    return [...(await railDirectory.all()).values()]
      .filter(({ rail }) => roomAt(rail.railId) > 0 && !isFailing(rail, nowMs))
      .map(({ rail }) => rail.railId)
  }

  function enter(railId: string): () => void {
    const add = (change: 1 | -1) => underWay.set(railId, (underWay.get(railId) ?? 0) + change)
    add(1)
    return () => void add(-1)
  }

  /** Never rejects. */
  async function work(task: ClaimedTask, leave: () => void): Promise<void> {
    const { railId } = task
    try {
      const rail = (await railDirectory.find(railId)) ?? (await reloaded(railId))
      await (task.kind === 'payment' ? workOnPayment(task, rail) : workOnRefund(task, rail))
    } catch (error) {
      parts.onTrouble(error, task)
      // Where the database is away this fails too, and the lease's end brings it back.
      await attempts.commit({ task, calls: [], next: laterAfter(task) }).catch(() => {})
    } finally {
      leave()
    }
  }

  /** It was made a moment ago. */
  async function reloaded(railId: string): Promise<KnownRail> {
    railDirectory.forget()
    const rail = await railDirectory.find(railId)
    assert(rail, 'a rail is never removed')
    return rail
  }

  function laterAfter({ failures }: ClaimedTask) {
    return { dueAtMs: clock.now() + afterFailureMs(failures), failures: failures + 1 }
  }

  // Payments

  async function workOnPayment(task: ClaimedTask, rail: KnownRail): Promise<void> {
    const asked = await askPayment(task, rail, await load(task))
    if (asked.kind === 'failed') return fail(task, rail, asked)
    const { answer, calls } = asked
    await note(rail)
    await commitDecided(task, calls, async (ids) => {
      const facts = await load(task, ids.nowMs)
      const decision = decidePayment(facts, answer, { ...ids, lateMoney: parts.lateMoney })
      const { checkAfterSeconds } = answer
      return {
        decision,
        before: facts.attempt,
        dueAtMs: nextAskAtMs(facts, { nowMs: ids.nowMs, checkAfterSeconds }),
      }
    })
  }

  /** With what the question before it brought, where there was one: a start that may have been lost is looked for first. */
  async function askPayment(
    task: ClaimedTask,
    rail: KnownRail,
    facts: OrderAndAttempt,
  ): Promise<Asked<RailPaymentAnswer>> {
    const { transactionId } = facts.attempt
    const question = questionFor(facts, { isFirst: task.claims === 1 })
    const put = async (asked: Question) => {
      const message: RailMessage =
        asked === 'payment.start' ? await startMessage(facts) : { type: asked, transactionId }
      const reply = await ask(rail, message, (text) => parseRailPaymentAnswer(asked, text))
      return believed(reply, (answer) => whyNotBelieved(facts, asked, answer))
    }
    const first = await put(question)
    if (first.kind === 'failed' || !startsAgain(facts, first.answer)) return withCalls(first, [])
    return withCalls(await put('payment.start'), [first.call])
  }

  async function startMessage(facts: OrderAndAttempt): Promise<RailMessage> {
    const { merchantId, paymentId } = facts.order
    const nowMs = clock.now()
    const { directory, linkTokens, publicUrl } = parts
    const { known } = directory.remembered(merchantId, nowMs) ?? (await directory.load(merchantId, nowMs))
    const token = linkTokens.make([merchantId, paymentId])
    return paymentStart({
      ...facts,
      merchantName: known?.merchant.name ?? merchantId,
      returnUrl: `${checkoutUrl({ merchantId, paymentId, token }, publicUrl)}/rail`,
      notifyUrl: `${publicUrl}/rails/${facts.attempt.railId}/notices`,
    })
  }

  async function load(task: ClaimedTask, nowMs = clock.now()): Promise<OrderAndAttempt> {
    const [order, attempt] = await Promise.all([parts.orders.findOrder(task), attempts.findAttempt(task)])
    assert(order && attempt, 'what is asked about belongs to an order and an attempt')
    return { order: await parts.currentOrder(order, nowMs), attempt }
  }

  // Refunds, and returns of late money

  async function workOnRefund(task: ClaimedTask, rail: KnownRail): Promise<void> {
    const facts = await load(task)
    const refund = task.kind === 'refund' ? await findRefund(task) : undefined
    const asked = await askRefund(task, rail, { attempt: facts.attempt, refund })
    if (asked.kind === 'failed') return fail(task, rail, asked)
    const { answer, calls } = asked
    await note(rail)
    await commitDecided(task, calls, async (ids) => {
      const { order, attempt } = await load(task, ids.nowMs)
      const dueAtMs = ids.nowMs + refundWaitMs(task, answer, ids.nowMs)
      if (!refund) return { decision: decideReturn(attempt, answer, ids.nowMs), before: attempt, dueAtMs }
      if (answer.status === 'submitted' || answer.status === 'unknown') return { dueAtMs }
      const final: FinalAnswer =
        answer.status === 'declined' ? { kind: 'declined', reason: answer.reason } : { kind: 'approved' }
      const given = { transferId: ids.transferId, callbackId: ids.callbackIds[1], nowMs: ids.nowMs }
      return { refund: settleRefund({ order, refund }, final, given), dueAtMs }
    })
  }

  async function findRefund({ merchantId, taskId }: ClaimedTask): Promise<Refund> {
    const refund = await parts.refunds.findRefund({ merchantId, refundId: taskId })
    assert(refund, 'a refund that is asked about exists')
    return refund
  }

  async function askRefund(
    { taskId, claims }: ClaimedTask,
    rail: KnownRail,
    { attempt, refund }: { readonly attempt: Attempt; readonly refund: Refund | undefined },
  ): Promise<Asked<RailRefundAnswer>> {
    const { amountMinor, reason } = refund ?? {
      amountMinor: attempt.amountMinor,
      reason: 'The money came after the order had ended.',
    }
    const start = () =>
      ask(rail, refundStart({ refundId: taskId, attempt, amountMinor, reason }), (text) =>
        parseRailRefundAnswer('refund.start', text),
      )
    if (claims === 1) return withCalls(await start(), [])
    const status = await ask(rail, { type: 'refund.status', refundId: taskId }, (text) =>
      parseRailRefundAnswer('refund.status', text),
    )
    if (status.kind === 'failed' || status.answer.status !== 'unknown') return withCalls(status, [])
    return withCalls(await start(), [status.call])
  }

  // What came of it

  interface Decided extends Pick<RailOutcome, 'decision' | 'before' | 'refund'> {
    /** Where it is not over. */
    readonly dueAtMs: number
  }

  async function commitDecided(
    task: ClaimedTask,
    calls: readonly RailCall[],
    decide: (ids: DecisionIds) => Promise<Decided>,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      const { dueAtMs, ...decided } = await decide(makeIds())
      const isOver =
        decided.refund !== undefined || (decided.decision as Decision | undefined)?.isOver === true
      const next = isOver ? undefined : { dueAtMs, failures: 0 }
      try {
        const alert = decided.decision?.alert
        const notices = alert !== undefined && decided.before ? tell(decided.before, alert) : []
        const isOurs = await attempts.commit({ task, calls, ...decided, notices, next })
        if (isOurs && alert !== undefined) parts.onAlert(alert, task)
        return
      } catch (error) {
        if (!(error instanceof RailRaceLost) || tries === maxDecisions) throw error
      }
    }
  }

  function tell({ railId: rail, paymentId, amountMinor, currency }: Attempt, happened: string) {
    const amount = `${toDecimalText(amountMinor, currency)} ${currency}`
    return parts.makeNotices('rail-alert', { parameters: { rail, paymentId, amount, happened } })
  }

  function makeIds(): DecisionIds {
    const nowMs = clock.now()
    return {
      transferId: makeTransactionId(nowMs, random),
      returnId: makeTransactionId(nowMs, random),
      callbackIds: [makeCallbackId(nowMs, random), makeCallbackId(nowMs + 1, random)],
      nowMs,
    }
  }

  async function fail(
    task: ClaimedTask,
    { rail }: KnownRail,
    { failure, calls }: Asked<never> & { kind: 'failed' },
  ): Promise<void> {
    await attempts.commit({ task, calls, next: laterAfter(task) })
    const nowMs = clock.now()
    const pausedUntilMs = await parts.rails.noteFailure(rail.railId, {
      failure,
      nowMs,
      noticesFor: (untilMs) =>
        parts.makeNotices('rail-paused', {
          parameters: { rail: rail.railId, failure, until: writtenTime(untilMs) },
          onceKey: `${rail.railId} ${writtenDay(nowMs)}`,
        }),
    })
    railDirectory.forget()
    if (pausedUntilMs !== undefined)
      parts.onAlert(`rail ${rail.railId} fails and is left alone for a while: ${failure}`, task)
  }

  async function note({ rail }: KnownRail): Promise<void> {
    if (rail.failures === 0) return
    await parts.rails.noteAnswer(rail.railId)
    railDirectory.forget()
  }
}

type Asked<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly calls: readonly RailCall[] }
  | { readonly kind: 'failed'; readonly failure: string; readonly calls: readonly RailCall[] }

function withCalls<Answer>(reply: RailReply<Answer>, before: readonly RailCall[]): Asked<Answer> {
  const calls = [...before, reply.call]
  return reply.kind === 'answered'
    ? { kind: 'answered', answer: reply.answer, calls }
    : { kind: 'failed', failure: reply.failure, calls }
}

/** The same reply, or a failure where the answer contradicts what is known. */
function believed<Answer>(
  reply: RailReply<Answer>,
  whyNot: (answer: Answer) => string | undefined,
): RailReply<Answer> {
  const failure = reply.kind === 'answered' ? whyNot(reply.answer) : undefined
  if (failure === undefined) return reply
  return { kind: 'failed', failure, call: { ...reply.call, outcome: 'failed', detail: failure } }
}

const refundAgainMs = { least: 2_000, most: 10 * 60_000 } as const

function refundWaitMs(
  { createdAtMs }: ClaimedTask,
  { checkAfterSeconds }: RailRefundAnswer,
  nowMs: number,
): number {
  if (checkAfterSeconds !== undefined) return checkAfterSeconds * 1000
  return Math.round(Math.min(Math.max(refundAgainMs.least, (nowMs - createdAtMs) / 4), refundAgainMs.most))
}
