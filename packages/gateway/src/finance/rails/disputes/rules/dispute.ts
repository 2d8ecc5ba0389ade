// A dispute: the consumer's bank took a payment back. Its money is a function of its status, so a rail's response in any
// order, repeated or reversed, moves only the difference. Pure.
import assert from 'node:assert/strict'
import {
  type DisputeAnswer,
  type DisputeEventName,
  type DisputeReason,
  type DisputeResponse,
  type DisputeResult,
  type DisputeStatus,
  disputeEvents,
  toWireAmount,
} from '@tillgate/protocol'
import type { Callback } from '../../../../core/callbacks/rules/callback.ts'
import {
  type AccountKey,
  type DisputeTransferKind,
  directTransfer,
  disputesAccount,
  feesAccount,
  merchantAccount,
  owedAccount,
  railAccount,
  type Transfer,
} from '../../../../core/ledger/rules/transfer.ts'
import type { Order } from '../../../../core/orders/rules/order.ts'

export interface DisputeKey {
  readonly merchantId: string
  readonly disputeId: string
}

export interface Dispute extends DisputeKey {
  readonly railId: string
  /** The rail's own number. */
  readonly reference: string
  readonly paymentId: string
  readonly status: DisputeStatus
  readonly amountMinor: bigint
  readonly currency: string
  readonly feeMinor: bigint
  readonly reason: DisputeReason
  readonly respondByMs: number | undefined
  readonly openedAtMs: number
  readonly closedAtMs: number | undefined
  /** What the rail passes on to the provider now. */
  readonly accepts: readonly DisputeResponse[]
  readonly response: MerchantResponse | undefined
  readonly passedOnAtMs: number | undefined
  /** Changes so far; each numbers its transfers and its events. */
  readonly rounds: number
}

/** A sealed file can be opened only for this place. */
export function placeOfEvidence({ merchantId, disputeId }: DisputeKey): string {
  return `evidence ${merchantId} ${disputeId}`
}

export type MerchantResponse =
  | { readonly kind: 'accept'; readonly givenAtMs: number }
  | {
      readonly kind: 'evidence'
      readonly givenAtMs: number
      readonly evidenceId: string
      /** Undefined once it is deleted after the end of the dispute, as the file is. */
      readonly text?: string | undefined
      readonly file?: { readonly name: string; readonly contentType: string } | undefined
    }

/** The spendable balance of the merchant, and what it owes, with their accounts locked. */
export interface Means {
  readonly availableMinor: bigint
  readonly owedMinor: bigint
}

export interface DisputeChange {
  readonly dispute: Dispute
  readonly transfers: readonly Transfer[]
  readonly callbacks: readonly Callback[]
  /** The increase of the order's disputed amount. */
  readonly disputedMinor: bigint
}

export interface DecisionGiven {
  readonly means: Means
  readonly order: Order
  readonly callbackId: () => string
  readonly nowMs: number
}

export type KnownAnswer = Exclude<DisputeAnswer, { readonly status: 'unknown' }>

/** Why the response contradicts the payment; undefined if it does not. `otherMinor` is disputed by other disputes. */
export function whyNotDisputed(
  order: Pick<Order, 'currency' | 'paymentAmountMinor'>,
  answer: KnownAnswer,
  otherMinor: bigint,
): string | undefined {
  if (answer.currency !== order.currency) return `it is in ${answer.currency} instead of ${order.currency}`
  if (answer.status !== 'won' && otherMinor + BigInt(answer.amountMinor) > order.paymentAmountMinor)
    return 'all disputes together exceed what was paid'
  if (BigInt(answer.feeMinor ?? 0) > order.paymentAmountMinor * mostFee.times + mostFee.beyondMinor)
    return 'its fee is more than a hundred times the payment'
  return undefined
}

/** A small payment can cost much more than it is worth. Beyond this, the rail means another unit. */
const mostFee = { times: 100n, beyondMinor: 10_000n } as const

export function openDispute(
  of: { readonly order: Order; readonly railId: string; readonly reference: string },
  answer: KnownAnswer,
  { disputeId, nowMs }: { readonly disputeId: string; readonly nowMs: number },
): Dispute {
  const { merchantId, paymentId, currency } = of.order
  return {
    merchantId,
    disputeId,
    railId: of.railId,
    reference: of.reference,
    paymentId,
    status: 'open',
    amountMinor: BigInt(answer.amountMinor),
    currency,
    feeMinor: 0n,
    reason: answer.reason ?? 'other',
    respondByMs: answer.respondBy,
    openedAtMs: nowMs,
    closedAtMs: undefined,
    accepts: answer.accepts,
    response: undefined,
    passedOnAtMs: undefined,
    rounds: 0,
  }
}

/**
 * What the response changes. A dispute that is first heard of when it has ended is opened before, so that the books show
 * both movements, as the provider's report does.
 */
export function decideDispute(
  before: Dispute | undefined,
  opened: Dispute,
  answer: KnownAnswer,
  given: DecisionGiven,
): DisputeChange | undefined {
  const first = before ? undefined : moveDispute(undefined, opened, given)
  const known = before ?? (first?.dispute as Dispute)
  const after: Dispute = {
    ...known,
    status: answer.status,
    amountMinor: BigInt(answer.amountMinor),
    feeMinor: BigInt(answer.feeMinor ?? 0),
    reason: answer.reason ?? known.reason,
    respondByMs: answer.respondBy,
    accepts: answer.accepts,
    closedAtMs: answer.status === 'open' ? undefined : (known.closedAtMs ?? given.nowMs),
  }
  const means = { ...given.means, ...first?.means }
  const next = isSame(known, after) ? undefined : moveDispute(known, after, { ...given, means })
  const changes = [first, next].flatMap((change) => change ?? [])
  if (changes.length === 0) return undefined
  return {
    dispute: next?.dispute ?? known,
    transfers: changes.flatMap(({ transfers }) => transfers),
    callbacks: changes.flatMap(({ callbacks }) => callbacks),
    disputedMinor: takenMinor(next?.dispute ?? known) - takenMinor(before),
  }
}

function isSame(one: Dispute, other: Dispute): boolean {
  return (
    one.status === other.status &&
    one.amountMinor === other.amountMinor &&
    one.feeMinor === other.feeMinor &&
    one.reason === other.reason &&
    one.respondByMs === other.respondByMs &&
    one.accepts.join() === other.accepts.join()
  )
}

function takenMinor(dispute: Dispute | undefined): bigint {
  return dispute && dispute.status !== 'won' ? dispute.amountMinor : 0n
}

function lostMinor(dispute: Dispute | undefined): bigint {
  return dispute?.status === 'lost' ? dispute.amountMinor : 0n
}

function moveDispute(
  before: Dispute | undefined,
  wanted: Dispute,
  given: DecisionGiven,
): { dispute: Dispute; transfers: Transfer[]; callbacks: Callback[]; means: Means } {
  const isNews = before?.status !== wanted.status
  const isMoved = before?.amountMinor !== wanted.amountMinor || before.feeMinor !== wanted.feeMinor
  const dispute = { ...wanted, rounds: wanted.rounds + (isNews || isMoved ? 1 : 0) }
  const books = makeBooks(dispute, given)
  const lost = lostMinor(dispute) - lostMinor(before)
  const taken = takenMinor(dispute) - takenMinor(before)
  const fee = dispute.feeMinor - (before?.feeMinor ?? 0n)
  if (lost < 0n) books.bringBack(-lost)
  if (taken > 0n) books.take('dispute', taken)
  if (taken < 0n) books.giveBack('dispute_won', -taken)
  if (lost > 0n) books.lose(lost)
  if (fee > 0n) books.take('dispute_fee', fee)
  if (fee < 0n) books.giveBack('dispute_fee', -fee)
  books.repay()
  return {
    dispute,
    transfers: books.transfers,
    callbacks: isNews ? [callbackOf(dispute, given)] : [],
    means: books.means(),
  }
}

/** Transfers in the order in which they are booked, each from money that is there. */
function makeBooks(dispute: Dispute, { means, nowMs }: { readonly means: Means; readonly nowMs: number }) {
  const { merchantId, railId, currency, paymentId } = dispute
  const transfers: Transfer[] = []
  const merchant = merchantAccount(merchantId, currency)
  const disputes = disputesAccount(railId, currency)
  const fees = feesAccount(merchantId, currency)
  const owed = owedAccount(merchantId, currency)
  const rail = railAccount(railId, currency)
  let { availableMinor, owedMinor } = means

  function book(kind: DisputeTransferKind, from: AccountKey, to: AccountKey, amountMinor: bigint): void {
    const isDebt = kind === 'debt'
    transfers.push(
      directTransfer({
        merchantId,
        transferId: transferIdOf(dispute, transfers.length),
        kind,
        from,
        to,
        amountMinor,
        madeAtMs: nowMs,
        ...(!isDebt && { paymentId }),
      }),
    )
    if (to === merchant) availableMinor += amountMinor
    if (from === merchant) availableMinor -= amountMinor
    if (isDebt) owedMinor += to === merchant ? amountMinor : -amountMinor
  }

  return {
    transfers,
    /** What the merchant's balance lacks is lent, so that the books say who bears it. */
    take(kind: 'dispute' | 'dispute_fee', amountMinor: bigint): void {
      const missing = amountMinor - (availableMinor > 0n ? availableMinor : 0n)
      if (missing > 0n) book('debt', owed, merchant, missing)
      book(kind, merchant, kind === 'dispute' ? disputes : fees, amountMinor)
    },
    giveBack(kind: 'dispute_won' | 'dispute_fee', amountMinor: bigint): void {
      book(kind, kind === 'dispute_won' ? disputes : fees, merchant, amountMinor)
    },
    lose: (amountMinor: bigint) => book('dispute_lost', disputes, rail, amountMinor),
    bringBack: (amountMinor: bigint) => book('dispute_lost', rail, disputes, amountMinor),
    repay(): void {
      const repaid = repayableMinor({ availableMinor, owedMinor })
      if (repaid > 0n) book('debt', merchant, owed, repaid)
    },
    means: (): Means => ({ availableMinor, owedMinor }),
  }
}

/** What a merchant repays from its balance. */
export function repayableMinor({ availableMinor, owedMinor }: Means): bigint {
  const least = availableMinor < owedMinor ? availableMinor : owedMinor
  return least > 0n ? least : 0n
}

/** Derived from the dispute, the round and the place within it, so that the primary key rejects a repeated booking. */
function transferIdOf({ disputeId, rounds }: Dispute, index: number): string {
  assert(rounds < 36 ** 2 && index < 36, 'a dispute changes a few times')
  return `${disputeId}${rounds.toString(36).padStart(2, '0')}${index.toString(36)}`
}

function callbackOf(dispute: Dispute, { order, callbackId, nowMs }: DecisionGiven): Callback {
  const { merchantId, paymentId, disputeId, rounds, status } = dispute
  // A dispute that was reopened has the same event again, which is one of its own.
  const refundId = rounds <= 2 ? disputeId : `${disputeId}-${rounds}`
  return {
    merchantId,
    callbackId: callbackId(),
    paymentId,
    refundId,
    eventName: eventOf(status),
    // Only webhook endpoints receive disputes.
    callbackUrl: undefined,
    body: JSON.stringify(resultOf(dispute, order)),
    createdAtMs: nowMs,
  }
}

function eventOf(status: DisputeStatus): DisputeEventName {
  const names = Object.keys(disputeEvents) as DisputeEventName[]
  const found = names.find((name) => disputeEvents[name].statuses.some((each) => each === status))
  assert(found, 'every status of a dispute has its event')
  return found
}

function resultOf(dispute: Dispute, { orderNo, attach }: Order): DisputeResult {
  return {
    merchantId: dispute.merchantId,
    disputeId: dispute.disputeId,
    paymentId: dispute.paymentId,
    referOrderNo: orderNo,
    disputeAmount: toWireAmount(dispute.amountMinor, dispute.currency),
    currency: dispute.currency,
    status: dispute.status,
    reason: dispute.reason,
    openedTime: dispute.openedAtMs,
    ...(dispute.respondByMs !== undefined && { respondBy: dispute.respondByMs }),
    ...(dispute.closedAtMs !== undefined && { completeTime: dispute.closedAtMs }),
    ...(attach !== undefined && { attach }),
  }
}
