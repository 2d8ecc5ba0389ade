// Ends payments and refunds that wait for their rail: claims them, calls the rail outside any transaction, and
// commits the result. Repeated calls use the same id, so nothing is paid twice.
import assert from 'node:assert/strict'
import { makeCallbackId, makeTransactionId, makeUuid, type RandomBytes } from '@tillgate/protocol'
import type { Clock } from '../../../platform/runtime/clock.ts'
import type { Log } from '../../../platform/runtime/log.ts'
import type { NewEmail } from '../../emails/rules/email.ts'
import { endAuthorization } from '../captures/rules/capture.ts'
import type { CaptureStore } from '../captures/store/captures.ts'
import type { PriceDirectory } from '../fees/price-directory.ts'
import type { PriceBook } from '../fees/rules/price.ts'
import { settleRefund } from '../refunds/rules/refund.ts'
import type { RefundStore } from '../refunds/store/refunds.ts'
import { isHeld, type Order } from '../rules/order.ts'
import type { OrderStore } from '../store/orders.ts'
import type { ClaimedAuthorization } from './rules/authorization.ts'
import { type FinalAnswer, settlePayment } from './rules/payment.ts'
import type { Rail, RailAnswer } from './rules/rail.ts'
import type { Decided, SettlingStore } from './store/settling.ts'

export interface SettleParts {
  readonly settling: SettlingStore
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly refunds: Pick<RefundStore, 'findRefund'>
  readonly rail: Rail
  readonly captures: Pick<CaptureStore, 'commitHeldChange'>
  readonly prices: Pick<PriceDirectory, 'current'>
  /** How long money is held for a capture. */
  readonly authorizationMs: number
  /** Undefined: no email is sent. */
  readonly notifyRefund: NotifyRefund | undefined
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Log
}

/** After this time, other workers take over. */
export const leaseMs = 30_000
/** A rail that takes longer is called again. */
export const railTimeoutMs = 10_000
assert(railTimeoutMs * 2 < leaseMs, 'a claim outlasts its rail and the commit after it')

/** The pause after failures doubles up to the maximum. */
const pauseMs = { first: 1_000, most: 60_000 } as const
/**
 * After this many attempts, two minutes in total, the failure is logged. Citus needs up to a minute to finish the
 * prepared transactions of a killed worker.
 */
const attemptsOutOfSight = 7
/** Limits the pause that a rail may request. */
const maxCheckAfterMs = 24 * 60 * 60 * 1000

export function makeSettle(parts: SettleParts) {
  const { clock, settling, random } = parts
  return {
    claim(claiming: { readonly leaseMs: number; readonly limit: number }) {
      const nowMs = clock.now()
      return settling.claim({ ...claiming, claimId: makeUuid(nowMs, random), nowMs })
    },
    work: (claimed: ClaimedAuthorization) => settleOne(parts, claimed),
    nextDueAtMs: settling.nextDue,
  }
}

/** True if it must be retried. */
async function settleOne(parts: SettleParts, claimed: ClaimedAuthorization): Promise<boolean> {
  const { clock } = parts
  try {
    if (claimed.kind === 'held') return await endHeld(parts, claimed)
    const facts = await load(parts, claimed)
    if (!facts) {
      await postpone(parts, claimed, pauseAfter(claimed.attempts))
      return true
    }
    const answer = await ask(parts, claimed, facts)
    if (answer.kind === 'later') {
      await postpone(parts, claimed, answer.checkAfterMs)
      return true
    }
    if (answer.kind === 'approved' && facts.kind === 'payment' && facts.order.authorization) {
      await parts.settling.hold(claimed, clock.now() + parts.authorizationMs)
      return false
    }
    const decided = decide(parts, claimed, facts, answer, await parts.prices.current())
    await parts.settling.settle({ ...decided, emails: await notify(parts, decided, facts.order) })
    return false
  } catch (err) {
    const { merchantId, paymentId, refundId } = claimed
    parts.log.warn(
      { worker: 'settle', merchantId, paymentId, refundId, err },
      'not settled yet; trying again',
    )
    // If the database is away, this fails too, and the lease's end retries it.
    await postpone(parts, claimed, pauseAfter(claimed.attempts)).catch(() => {})
    return true
  }
}

/** The authorization has ended: what was captured stays paid, and the rest is released. */
async function endHeld(parts: SettleParts, claimed: ClaimedAuthorization): Promise<boolean> {
  const { clock, random, orders, captures } = parts
  const nowMs = clock.now()
  const order = await orders.findOrder(claimed)
  const heldUntilMs = order?.authorization?.heldUntilMs
  if (order && isHeld(order) && heldUntilMs !== undefined && heldUntilMs <= nowMs) {
    const change = endAuthorization(order, {
      transferId: makeTransactionId(nowMs, random),
      callbackId: makeCallbackId(nowMs, random),
      actor: 'gateway',
      reason: 'The authorization expired.',
      nowMs,
    })
    const outcome = await captures.commitHeldChange(change, { claimId: claimed.claimId })
    if (outcome === 'done') return false
  }
  await postpone(parts, claimed, Math.max(pauseAfter(claimed.attempts), (heldUntilMs ?? 0) - nowMs))
  return true
}

async function notify(parts: SettleParts, decided: Decided, order: Order): Promise<readonly NewEmail[]> {
  const { walletId } = decided.claimed
  if (decided.kind === 'payment' || decided.change.refund.status !== 'refund_success') return []
  if (!parts.notifyRefund || walletId === undefined) return []
  return parts.notifyRefund(walletId, order, decided.change.refund.amountMinor)
}

function postpone(
  { settling, clock }: SettleParts,
  { authorizationId, claimId }: ClaimedAuthorization,
  waitMs: number,
): Promise<void> {
  return settling.postpone({ authorizationId, claimId, dueAtMs: clock.now() + waitMs })
}

/** Undefined if, on a cluster, the claim row is visible before the merchant's rows of the same commit. */
async function load(
  { orders, refunds }: SettleParts,
  claimed: ClaimedAuthorization,
): Promise<Facts | undefined> {
  const { merchantId, paymentId, refundId } = claimed
  const [order, refund] = await Promise.all([
    orders.findOrder({ merchantId, paymentId }),
    refundId === undefined ? undefined : refunds.findRefund({ merchantId, refundId }),
  ])
  assert(order, 'what is settled belongs to an order')
  const isInSight = claimed.kind === 'payment' ? order.status !== 'pending' : refund !== undefined
  if (!isInSight && claimed.attempts <= attemptsOutOfSight) return undefined
  if (claimed.kind === 'payment') return { kind: 'payment', order }
  assert(refund, 'a refund that is settled exists')
  return { kind: 'refund', order, refund }
}

async function ask(parts: SettleParts, claimed: ClaimedAuthorization, facts: Facts): Promise<RailAnswer> {
  const { refusal, transactionId, walletId } = claimed
  if (refusal !== undefined) return { kind: 'declined', reason: refusal }
  assert(transactionId && walletId, 'what the rail is asked about is held in a wallet')
  const payment = { ...claimed, transactionId, walletId }
  if (facts.kind === 'payment') return withinTime(parts, parts.rail.authorise(payment), claimed)
  const { refundId } = facts.refund
  const { transactionId: paymentTransactionId } = facts.order
  assert(paymentTransactionId, 'a paid order has its transaction')
  return withinTime(parts, parts.rail.refund({ ...payment, refundId, paymentTransactionId }), claimed)
}

async function withinTime(
  { clock }: SettleParts,
  asking: Promise<RailAnswer>,
  { attempts }: ClaimedAuthorization,
): Promise<RailAnswer> {
  const answered = new AbortController()
  const silence = clock
    .wait(railTimeoutMs, answered.signal)
    .then((): RailAnswer => ({ kind: 'later', checkAfterMs: pauseAfter(attempts) }))
  try {
    const answer = await Promise.race([asking, silence])
    if (answer.kind !== 'later') return answer
    return { kind: 'later', checkAfterMs: Math.min(Math.max(0, answer.checkAfterMs), maxCheckAfterMs) }
  } finally {
    answered.abort()
  }
}

function decide(
  { clock, random }: SettleParts,
  claimed: ClaimedAuthorization,
  facts: Facts,
  answer: FinalAnswer,
  prices: PriceBook,
): Decided {
  const nowMs = clock.now()
  const given = {
    transferId: makeTransactionId(nowMs, random),
    callbackId: makeCallbackId(nowMs, random),
    nowMs,
  }
  return facts.kind === 'payment'
    ? { kind: 'payment', claimed, ...settlePayment(facts.order, answer, { ...given, prices }) }
    : { kind: 'refund', claimed, change: settleRefund(facts, answer, given) }
}

/** Emails the payer that the refund has arrived. */
export type NotifyRefund = (
  walletId: string,
  order: Order,
  amountMinor: bigint,
) => Promise<readonly NewEmail[]>

type Facts =
  | { readonly kind: 'payment'; readonly order: Parameters<typeof settlePayment>[0] }
  | ({ readonly kind: 'refund' } & Parameters<typeof settleRefund>[0])

function pauseAfter(attempts: number): number {
  return Math.min(pauseMs.first * 2 ** (attempts - 1), pauseMs.most)
}
