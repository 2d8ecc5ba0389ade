// Asks a rail about a payment attempt: start, status or cancel. For bank transfers, the order's money in suspense
// decides instead.
import assert from 'node:assert/strict'
import {
  captureVersion,
  parseRailCaptureAnswer,
  parseRailPaymentAnswer,
  type RailMessage,
  type RailPaymentAnswer,
} from '@tillgate/protocol'
import type { MerchantDirectory } from '../../core/merchants/merchant-directory.ts'
import { isUnderWay } from '../../core/orders/captures/rules/capture.ts'
import type { CaptureStore } from '../../core/orders/captures/store/captures.ts'
import type { CurrentOrder } from '../../core/orders/current-order.ts'
import type { ClaimedTask } from '../../core/orders/payments/rules/rail-task.ts'
import { checkoutUrl } from '../../core/orders/rules/checkout-url.ts'
import type { OrderStore } from '../../core/orders/store/orders.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import { type Asked, believed, type Inquiry, withCalls } from './inquiry.ts'
import type { AskRail } from './rail-client.ts'
import type { KnownRail } from './rail-directory.ts'
import {
  type Decision,
  type OrderAndAttempt,
  type Question,
  questionFor,
  releasesAtOnce,
  startsAgain,
  whyNotBelieved,
} from './rules/attempt.ts'
import { decideAsked, lookAgainSeconds } from './rules/bank-transfer.ts'
import { decideCapture } from './rules/decide-capture.ts'
import { decidePayment } from './rules/decide-payment.ts'
import type { LateMoney } from './rules/late-money.ts'
import { paymentCapture, paymentStart } from './rules/rail-message.ts'
import { laterWhileHeld, nextAskAtMs, nextLookAtMs } from './rules/rail-retry.ts'
import type { BankAccount } from './rules/transfer-account.ts'
import type { RailAttemptStore } from './store/rail-attempts.ts'
import type { TransferEntryStore } from './store/transfer-entries.ts'

export interface LoadParts {
  readonly attempts: Pick<RailAttemptStore, 'findAttempt'>
  readonly captures: Pick<CaptureStore, 'listCaptures'>
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly currentOrder: CurrentOrder
  readonly clock: Clock
}

export interface AskAboutPaymentParts extends LoadParts {
  readonly transferEntries: Pick<TransferEntryStore, 'listEntries'>
  readonly directory: Pick<MerchantDirectory, 'remembered' | 'load'>
  readonly linkTokens: Tokens
  readonly publicUrl: string
  readonly lateMoney: LateMoney
}

export async function load(
  { attempts, captures, orders, currentOrder, clock }: LoadParts,
  task: ClaimedTask,
  nowMs = clock.now(),
): Promise<OrderAndAttempt> {
  const [order, attempt] = await Promise.all([orders.findOrder(task), attempts.findAttempt(task)])
  assert(order && attempt, 'what is asked about belongs to an order and an attempt')
  const facts = { order: await currentOrder(order, nowMs), attempt }
  return order.authorization ? { ...facts, captures: await captures.listCaptures(task) } : facts
}

/** When to ask again, as the decision leaves the order. A rail that captured at once is asked once more now. */
function dueAtMs(
  facts: OrderAndAttempt,
  { attempt = facts.attempt, heldUntilMs, captured, captureFailure }: Decision,
  { status, checkAfterSeconds }: { readonly status: string; readonly checkAfterSeconds?: number },
  nowMs: number,
): number {
  const given = { nowMs, checkAfterSeconds }
  if (attempt.status !== 'authorized') return nextAskAtMs(facts, given)
  if (heldUntilMs !== undefined) return status === 'approved' ? nowMs : laterWhileHeld(heldUntilMs, nowMs)
  const isCaptured = captured !== undefined || captureFailure !== undefined
  return nextLookAtMs({ ...facts, attempt, captures: isCaptured ? [] : (facts.captures ?? []) }, given)
}

export function makeAskAboutPayment(parts: AskAboutPaymentParts, ask: AskRail) {
  /** `known`: order and attempt, if already loaded. */
  return async (task: ClaimedTask, rail: KnownRail, known?: OrderAndAttempt): Promise<Inquiry> => {
    const facts = known && !known.order.authorization ? known : await load(parts, task)
    const { account } = rail.rail
    if (account) return lookIntoSuspense(task, account, facts)
    const question = questionOf(task, facts)
    if (question === 'payment.capture') return askToCapture(task, rail, facts)
    const asked = await askPayment(rail, facts, question)
    if (asked.kind === 'failed') return asked
    const { answer, calls } = asked
    return {
      kind: 'answered',
      calls,
      async decide(ids, isAgain) {
        const now = isAgain ? await load(parts, task, ids.nowMs) : await current(facts, ids.nowMs)
        const { authorizationDays } = rail.rail
        const decision = decidePayment(now, answer, { ...ids, authorizationDays, lateMoney: parts.lateMoney })
        return { decision, before: now, dueAtMs: dueAtMs(now, decision, answer, ids.nowMs) }
      },
    }
  }

  /** The same captureId is the same capture, so a call without a response is repeated. */
  async function askToCapture(task: ClaimedTask, rail: KnownRail, facts: OrderAndAttempt): Promise<Inquiry> {
    const planned = facts.captures?.find(isUnderWay)
    assert(planned, 'a capture is asked for')
    const reply = await ask(rail, paymentCapture(facts.attempt, planned), parseRailCaptureAnswer)
    const asked = withCalls(
      believed(reply, ({ amountMinor }) =>
        amountMinor === undefined || amountMinor === planned.amountMinor.toString()
          ? undefined
          : `captured ${amountMinor} minor units instead of ${planned.amountMinor}`,
      ),
      [],
    )
    if (asked.kind === 'failed') return asked
    const { calls, answer } = asked
    return {
      kind: 'answered',
      calls,
      async decide(ids, isAgain) {
        const now = isAgain ? await load(parts, task, ids.nowMs) : facts
        const decision = decideCapture(now, answer, ids)
        return { decision, before: now, dueAtMs: dueAtMs(now, decision, answer, ids.nowMs) }
      },
    }
  }

  /**
   * The entries read here are complete, because recording money locks the order first and changes the open attempt.
   */
  function lookIntoSuspense(task: ClaimedTask, account: BankAccount, facts: OrderAndAttempt): Inquiry {
    return {
      kind: 'answered',
      calls: [],
      async decide(ids, isAgain) {
        const now = isAgain ? await load(parts, task, ids.nowMs) : await current(facts, ids.nowMs)
        const question = questionOf(task, now)
        const dueAtMs = nextAskAtMs(now, { nowMs: ids.nowMs, checkAfterSeconds: lookAgainSeconds })
        // Uses the money that is already there.
        if (question !== 'payment.cancel' && now.attempt.status === 'pending') return { dueAtMs }
        const entries = await parts.transferEntries.listEntries(task)
        return { decision: decideAsked({ ...now, account, entries }, question, ids), before: now, dueAtMs }
      },
    }
  }

  function questionOf(task: ClaimedTask, facts: OrderAndAttempt): Question {
    return questionFor(facts, { isFirst: task.claims === 1, nowMs: parts.clock.now() })
  }

  async function current(facts: OrderAndAttempt, nowMs: number): Promise<OrderAndAttempt> {
    return { ...facts, order: await parts.currentOrder(facts.order, nowMs) }
  }

  /** A start that may have been lost is looked up first. */
  async function askPayment(
    rail: KnownRail,
    facts: OrderAndAttempt,
    question: Exclude<Question, 'payment.capture'>,
  ): Promise<Asked<RailPaymentAnswer>> {
    const { transactionId } = facts.attempt
    const put = async (asked: Exclude<Question, 'payment.capture'>) => {
      const message =
        asked === 'payment.start'
          ? await startMessage(facts)
          : asked === 'payment.release'
            ? { type: asked, version: captureVersion, transactionId }
            : { type: asked, transactionId }
      const reply = await ask(rail, message, (text) => parseRailPaymentAnswer(asked, text))
      return believed(reply, (answer) => whyNotBelieved(facts, asked, answer))
    }
    const first = await put(question)
    if (first.kind === 'failed') return withCalls(first, [])
    if (startsAgain(facts, first.answer)) return withCalls(await put('payment.start'), [first.call])
    if (question !== 'payment.release' && releasesAtOnce(facts, first.answer))
      return withCalls(await put('payment.release'), [first.call])
    return withCalls(first, [])
  }

  async function startMessage(facts: OrderAndAttempt): Promise<RailMessage> {
    const { merchantId, paymentId } = facts.order
    const nowMs = parts.clock.now()
    const { directory, linkTokens, publicUrl } = parts
    const { known } = directory.remembered(merchantId, nowMs) ?? (await directory.load(merchantId, nowMs))
    const token = linkTokens.make([merchantId, paymentId])
    return paymentStart({
      ...facts,
      merchantName: known?.merchant.name ?? merchantId,
      returnUrl: `${checkoutUrl({ merchantId, paymentId, token }, publicUrl)}/rail`,
      notifyUrl: `${publicUrl}/rails/${facts.attempt.railId}/notifications`,
    })
  }
}
