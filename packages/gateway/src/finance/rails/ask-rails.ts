// Asks rails about waiting tasks: claims them, calls the rail outside any transaction, and commits the consequence.
// Repeats use the same id, so nothing is paid twice. A limit per rail keeps a slow rail from delaying others.
import assert from 'node:assert/strict'
import {
  makeCallbackId,
  makeTransactionId,
  makeUuid,
  type RandomBytes,
  toDecimalText,
} from '@tillgate/protocol'
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import { writtenDay, writtenTime } from '../../core/emails/rules/email.ts'
import type { PriceDirectory } from '../../core/orders/fees/price-directory.ts'
import type { ClaimedTask } from '../../core/orders/payments/rules/rail-task.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { type AskAboutPaymentParts, makeAskAboutPayment } from './ask-about-payment.ts'
import { type AskAboutRefundParts, makeAskAboutRefund } from './ask-about-refund.ts'
import { type AskAboutDisputeParts, makeAskAboutDispute } from './disputes/ask-about-dispute.ts'
import type { Inquiry } from './inquiry.ts'
import { makeRailClient, type RailPost, railTimeoutMs } from './rail-client.ts'
import type { KnownRail, RailDirectory } from './rail-directory.ts'
import type { Attempt, DecisionIds, OrderAndAttempt } from './rules/attempt.ts'
import { isFailing } from './rules/outside-rail.ts'
import { afterFailureMs } from './rules/rail-retry.ts'
import type { RailAttemptStore } from './store/rail-attempts.ts'
import { RailRaceLost } from './store/rail-outcomes.ts'
import type { RailStore } from './store/rails.ts'

export interface AskRailsParts extends AskAboutPaymentParts, AskAboutRefundParts, AskAboutDisputeParts {
  readonly prices: Pick<PriceDirectory, 'current'>
  readonly attempts: RailAttemptStore
  readonly rails: Pick<RailStore, 'noteFailure' | 'noteAnswer'>
  readonly railDirectory: RailDirectory
  readonly post: RailPost
  readonly makeEmails: MakeEmails
  readonly random: RandomBytes
  readonly log: Log
}

/** After this time, other workers take over. */
export const leaseMs = 45_000
assert(railTimeoutMs * 3 < leaseMs, 'a claim outlasts two questions and the commit after them')

/** Concurrent calls to one rail, per process. */
export const maxPerRail = 32
/** A lost race is decided again on the new state. */
const maxDecisions = 5

export type AskRails = ReturnType<typeof makeAskRails>

interface State extends AskRailsParts {
  readonly askAboutPayment: ReturnType<typeof makeAskAboutPayment>
  readonly askAboutRefund: ReturnType<typeof makeAskAboutRefund>
  readonly askAboutDispute: ReturnType<typeof makeAskAboutDispute>
  /** Open calls by rail. */
  readonly underWay: Map<string, number>
}

export function makeAskRails(parts: AskRailsParts) {
  const ask = makeRailClient(parts)
  const state: State = {
    ...parts,
    askAboutPayment: makeAskAboutPayment(parts, ask),
    askAboutRefund: makeAskAboutRefund(parts, ask),
    askAboutDispute: makeAskAboutDispute(parts, ask),
    underWay: new Map(),
  }
  return {
    /** Takes a place at the rail, which `work` releases; undefined if there is none. */
    enter: (railId: string) => (roomAt(state, railId) > 0 ? enter(state, railId) : undefined),
    ...bindAll(state, { claimDue, nextDue, askNow, work, claiming }),
  }
}

/** Only rails with room that are not paused. Each task takes a place at its rail. */
async function claimDue(state: State): Promise<readonly DueTask[]> {
  const limits = new Map((await readyRails(state)).map((railId) => [railId, roomAt(state, railId)]))
  if (limits.size === 0) return []
  const tasks = await state.attempts.claim(claiming(state), limits)
  return tasks.map((task) => ({ task, leave: enter(state, task.railId) }))
}

export interface DueTask {
  readonly task: ClaimedTask
  readonly leave: () => void
}

async function nextDue(state: State): Promise<number | undefined> {
  const ready = await readyRails(state)
  return ready.length === 0 ? undefined : state.attempts.nextDue(ready)
}

/** Skipped if the rail has no room or another worker holds the task, which is then soon done. */
async function askNow(
  state: State,
  known: OrderAndAttempt,
): Promise<{ isAsked: boolean; attempt?: Attempt | undefined }> {
  const { transactionId: taskId, railId } = known.attempt
  if (roomAt(state, railId) <= 0) return { isAsked: false }
  const leave = enter(state, railId)
  const task = await state.attempts.claimOne({ taskId, ...claiming(state) }).catch((error: unknown) => {
    leave()
    throw error
  })
  if (task) return { isAsked: true, attempt: await work(state, task, leave, known) }
  leave()
  return { isAsked: false }
}

function claiming({ clock, random }: State) {
  const nowMs = clock.now()
  return { claimId: makeUuid(nowMs, random), nowMs, leaseMs }
}

function roomAt({ underWay }: State, railId: string): number {
  return maxPerRail - (underWay.get(railId) ?? 0)
}

async function readyRails(state: State): Promise<string[]> {
  const nowMs = state.clock.now()
  return [...(await state.railDirectory.all()).values()]
    .filter(({ rail }) => roomAt(state, rail.railId) > 0 && !isFailing(rail, nowMs))
    .map(({ rail }) => rail.railId)
}

function enter({ underWay }: State, railId: string): () => void {
  const add = (change: 1 | -1) => underWay.set(railId, (underWay.get(railId) ?? 0) + change)
  add(1)
  return () => void add(-1)
}

/** Returns the attempt's new state if known; `known` is the state before. Never rejects. */
async function work(
  state: State,
  task: ClaimedTask,
  leave: () => void,
  known?: OrderAndAttempt,
): Promise<Attempt | undefined> {
  const { railDirectory, askAboutPayment, askAboutRefund, attempts } = state
  const { railId } = task
  try {
    const rail = (await railDirectory.find(railId)) ?? (await reloaded(state, railId))
    if (task.kind === 'dispute') {
      await workOnDispute(state, task, rail)
      return undefined
    }
    const asking = task.kind === 'payment' ? askAboutPayment : askAboutRefund
    const inquiry = await asking(task, rail, known)
    if (inquiry.kind === 'failed') {
      await fail(state, task, rail, inquiry)
      return undefined
    }
    await note(state, rail)
    return await commitDecided(state, task, inquiry)
  } catch (err) {
    state.log.warn({ ...about(task), err }, 'not asked yet; trying again')
    // If the database is away, this fails too, and the lease's end retries it.
    await attempts.commit({ task, calls: [], next: laterAfter(state, task) }).catch(() => {})
    return undefined
  } finally {
    leave()
  }
}

async function workOnDispute(state: State, task: ClaimedTask, rail: KnownRail): Promise<void> {
  const inquiry = await state.askAboutDispute(task, rail)
  if (inquiry.kind === 'failed') return fail(state, task, rail, inquiry)
  await note(state, rail)
  const committed = await state.disputes.commit(inquiry.outcome)
  const decided = committed?.decided
  if (decided?.kind === 'refused') state.log.warn(about(task), `a dispute is not booked: ${decided.why}`)
}

async function reloaded({ railDirectory }: State, railId: string): Promise<KnownRail> {
  railDirectory.forget()
  const rail = await railDirectory.find(railId)
  assert(rail, 'a rail is never removed')
  return rail
}

function laterAfter({ clock }: State, { failures }: ClaimedTask) {
  return { dueAtMs: clock.now() + afterFailureMs(failures), failures: failures + 1 }
}

async function commitDecided(
  state: State,
  task: ClaimedTask,
  { calls, decide }: Inquiry & { readonly kind: 'answered' },
): Promise<Attempt | undefined> {
  for (let tries = 1; ; tries++) {
    const ids = { ...makeIds(state), prices: await state.prices.current() }
    const { dueAtMs, ...decided } = await decide(ids, tries > 1)
    const isOver = decided.refund !== undefined || decided.decision?.isOver === true
    const next = isOver ? undefined : { dueAtMs, failures: 0 }
    try {
      const { decision, before } = decided
      const alert = decision?.alert
      const emails = alert !== undefined && before ? notify(state, before.attempt, alert) : []
      const isOurs = await state.attempts.commit({ task, calls, ...decided, emails, next })
      if (isOurs && alert !== undefined) state.log.warn(about(task), alert)
      return isOurs ? (decision?.attempt ?? before?.attempt) : undefined
    } catch (error) {
      if (!(error instanceof RailRaceLost) || tries === maxDecisions) throw error
    }
  }
}

function notify(state: State, { railId: rail, paymentId, amountMinor, currency }: Attempt, happened: string) {
  const amount = `${toDecimalText(amountMinor, currency)} ${currency}`
  return state.makeEmails('rail-alert', { parameters: { rail, paymentId, amount, happened } })
}

function makeIds({ clock, random }: State): Omit<DecisionIds, 'prices'> {
  const nowMs = clock.now()
  return {
    transferId: makeTransactionId(nowMs, random),
    returnId: makeTransactionId(nowMs, random),
    applyId: makeTransactionId(nowMs, random),
    callbackIds: [makeCallbackId(nowMs, random), makeCallbackId(nowMs + 1, random)],
    nowMs,
  }
}

async function fail(
  state: State,
  task: ClaimedTask,
  { rail }: KnownRail,
  { failure, calls }: Pick<Inquiry & { readonly kind: 'failed' }, 'failure' | 'calls'>,
): Promise<void> {
  await state.attempts.commit({ task, calls, next: laterAfter(state, task) })
  const nowMs = state.clock.now()
  const pausedUntilMs = await state.rails.noteFailure(rail.railId, {
    failure,
    nowMs,
    emailsFor: (untilMs) =>
      state.makeEmails('rail-paused', {
        parameters: { rail: rail.railId, failure, until: writtenTime(untilMs) },
        onceKey: `${rail.railId} ${writtenDay(nowMs)}`,
      }),
  })
  state.railDirectory.forget()
  if (pausedUntilMs !== undefined)
    state.log.warn(about(task), `rail ${rail.railId} fails and is left alone for a while: ${failure}`)
}

function about({ merchantId, paymentId, railId }: ClaimedTask) {
  return { worker: 'ask-rails', merchantId, paymentId, railId }
}

async function note(state: State, { rail }: KnownRail): Promise<void> {
  if (rail.failures === 0) return
  await state.rails.noteAnswer(rail.railId)
  state.railDirectory.forget()
}
