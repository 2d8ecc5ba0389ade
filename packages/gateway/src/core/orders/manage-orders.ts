// Operators' actions on orders: the merchant's own operations, recorded in their transaction. The merchant receives a
// callback with the reason.

import { type CaptureAnswer, Failure, type RefundAnswer, type ReleaseAnswer } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { type AuditDetails, makeAuditEntry } from '../audit/audit-entries.ts'
import type { Context } from '../authority/context.ts'
import { refundLimitMinor } from '../authority/rules/approval.ts'
import { approvalNeeded } from '../authority/rules/authority.ts'
import type { AuditedAction } from '../authority/rules/effects.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { MerchantStore } from '../merchants/store/merchants.ts'
import { bindWithin } from '../merchants/within.ts'
import { makeCancelOrder } from './cancel-order.ts'
import { type CaptureOrderParts, makeCaptureOrder, makeReleaseOrder } from './captures/capture-order.ts'
import type { CaptureStore } from './captures/store/captures.ts'
import type { CurrentOrder } from './current-order.ts'
import type { ExplainMissingOrder } from './explain-missing-order.ts'
import type { PriceDirectory } from './fees/price-directory.ts'
import { makeRefundOrder } from './refunds/refund-order.ts'
import type { RefundStore } from './refunds/store/refunds.ts'
import type { OrderKey } from './rules/order.ts'
import type { OrderStore } from './store/orders.ts'

export interface ManageOrdersParts extends ClockAndRandom {
  readonly stores: {
    readonly orders: OrderStore
    readonly refunds: RefundStore
    readonly captures: CaptureStore
    readonly merchants: Pick<MerchantStore, 'findMerchant'>
  }
  readonly currentOrder: CurrentOrder
  readonly explainMissingOrder: ExplainMissingOrder
  readonly prices: Pick<PriceDirectory, 'current'>
  readonly askRailNow: CaptureOrderParts['askRailNow']
}

export interface RefundByOperator {
  /** A repeated number does not refund twice. */
  readonly referRefundNo: string
  readonly amount: string
  readonly reason?: string
}

export interface CaptureByOperator {
  /** A repeated number does not capture twice. */
  readonly referCaptureNo: string
  readonly amount: string
}

export type ManageOrders = ReturnType<typeof makeManageOrders>

type Parts = ManageOrdersParts

export function makeManageOrders(parts: ManageOrdersParts) {
  return bindWithin(parts, {
    cancelOrder,
    captureOrder: captureByPerson,
    releaseOrder: releaseByPerson,
    refundOrder,
  })
}

async function cancelOrder(parts: Parts, context: Context, key: OrderKey, reason: string): Promise<void> {
  const { orders } = parts.stores
  const cancel = makeCancelOrder({
    ...parts,
    by: { actor: context.authority?.kind === 'member' ? 'member' : 'operator', reason },
    orders: {
      findOrder: orders.findOrder,
      commitStatusChanges: (changes) =>
        orders.commitStatusChanges(changes, entryOf(parts, context, 'order.cancel', { key, reason })),
    },
  })
  await cancel(await merchantOf(parts, key), JSON.stringify({ paymentId: key.paymentId }))
}

/** Each capture is made once by its number, and audited once. */
async function captureByPerson(
  parts: Parts,
  context: Context,
  key: OrderKey,
  { referCaptureNo, amount }: CaptureByOperator,
): Promise<CaptureAnswer> {
  const capture = makeCaptureOrder(heldParts(parts, context, 'order.capture', key))
  const body = JSON.stringify({ paymentId: key.paymentId, referCaptureNo, amount })
  return capture(await merchantOf(parts, key), body)
}

async function releaseByPerson(
  parts: Parts,
  context: Context,
  key: OrderKey,
  reason: string,
): Promise<ReleaseAnswer> {
  const release = makeReleaseOrder(heldParts(parts, context, 'order.release', key, reason))
  return release(await merchantOf(parts, key), JSON.stringify({ paymentId: key.paymentId }))
}

function heldParts(
  parts: Parts,
  context: Context,
  action: 'order.capture' | 'order.release',
  key: OrderKey,
  reason?: string,
): CaptureOrderParts {
  const actor = context.authority?.kind === 'member' ? 'member' : 'operator'
  const entry = entryOf(parts, context, action, { key, ...(reason !== undefined && { reason }) })
  return { ...parts, ...parts.stores, by: { actor, entry } }
}

async function refundOrder(
  parts: Parts,
  context: Context,
  key: OrderKey,
  given: RefundByOperator,
): Promise<RefundAnswer> {
  const { refunds } = parts.stores
  const { authority } = context
  const approval = authority?.kind === 'operator' ? authority.approval : undefined
  const isBound = authority !== undefined && authority.kind !== 'member' && !approval
  /** The total of an order that may be refunded without approval; undefined: any amount. */
  const limitMinor = (currency: string) =>
    isBound ? refundLimitMinor(authority.policy, currency) : undefined
  const { referRefundNo, amount: refundAmount, reason: refundReason } = given
  const why = refundReason !== undefined && { reason: refundReason }
  const refund = makeRefundOrder({
    ...parts,
    ...parts.stores,
    refunds: {
      findRefundByNumber: refunds.findRefundByNumber,
      insertRefund: (request) =>
        refunds.insertRefund(
          request,
          // Up to the limit no approval is needed, and the statement that takes the share enforces the limit.
          {
            ...entryOf(parts, context, 'order.refund', { key, ...why, effects: [] }),
            approval,
          },
          limitMinor(request.refund.currency),
        ),
    },
    check({ currency, refundedMinor, refundHeldMinor }, amountMinor) {
      const mostMinor = limitMinor(currency)
      const totalMinor = refundedMinor + refundHeldMinor + amountMinor
      if (authority && mostMinor !== undefined && totalMinor > mostMinor) throw approvalNeeded(authority)
    },
  })
  return refund(
    await merchantOf(parts, key),
    JSON.stringify({ paymentId: key.paymentId, referRefundNo, refundAmount, refundReason }),
  )
}

function entryOf(
  parts: Parts,
  context: Context,
  action: AuditedAction,
  { key, ...details }: Pick<AuditDetails, 'reason' | 'effects'> & { readonly key: OrderKey },
) {
  return makeAuditEntry(parts, context, action, key.paymentId, { ...details, merchantId: key.merchantId })
}

async function merchantOf({ stores }: Parts, { merchantId }: OrderKey): Promise<Merchant> {
  const found = await stores.merchants.findMerchant(merchantId)
  if (!found) throw new Failure('order_not_found')
  return found.merchant
}
