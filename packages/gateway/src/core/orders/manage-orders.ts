// What an operator does with an order: the same operations as the merchant's own, recorded with who did it and why,
// in the transaction that does it. The merchant is told by callback, with the reason.
import { Failure, type RefundAnswer } from '@tillgate/protocol'
import { type AuditParts, makeAuditEntries } from '../audit/audit-entries.ts'
import { refundLimitMinor } from '../audit/rules/approval.ts'
import { approvalNeeded } from '../audit/rules/authority.ts'
import type { AuditedAction, Effect } from '../audit/rules/effects.ts'
import type { MerchantStore } from '../merchants/store/merchants.ts'
import { makeCancelOrder } from './cancel-order.ts'
import type { CurrentOrder } from './current-order.ts'
import { makeRefundOrder } from './refunds/refund-order.ts'
import type { RefundStore } from './refunds/store/refunds.ts'
import type { OrderKey } from './rules/order.ts'
import type { OrderStore } from './store/orders.ts'

export interface ManageOrdersParts extends AuditParts {
  readonly orders: OrderStore
  readonly refunds: RefundStore
  readonly merchants: Pick<MerchantStore, 'findMerchant'>
  readonly currentOrder: CurrentOrder
  /** Who acts here, in the order's history; an operator unless told otherwise. */
  readonly by?: 'operator' | 'member'
}

export interface RefundByOperator {
  /** The same number never refunds twice, however often the form is sent. */
  readonly referRefundNo: string
  /** As it was typed. */
  readonly amount: string
  readonly reason: string
}

export type ManageOrders = ReturnType<typeof makeManageOrders>

export function makeManageOrders(parts: ManageOrdersParts) {
  const { orders, refunds } = parts

  const makeAuditEntry = makeAuditEntries(parts)
  const entry = (
    name: AuditedAction,
    { merchantId, paymentId }: OrderKey,
    reason: string,
    effects?: readonly Effect[],
  ) => makeAuditEntry(name, paymentId, { merchantId, reason, ...(effects && { effects }) })

  const merchantOf = async ({ merchantId }: OrderKey) => {
    const found = await parts.merchants.findMerchant(merchantId)
    if (!found) throw new Failure('order_not_found')
    return found.merchant
  }

  return {
    async cancelOrder(key: OrderKey, reason: string): Promise<void> {
      const cancel = makeCancelOrder({
        ...parts,
        by: { actor: parts.by ?? 'operator', reason },
        orders: {
          findOrder: orders.findOrder,
          commitStatusChanges: (changes) =>
            orders.commitStatusChanges(changes, entry('order.cancel', key, reason)),
        },
      })
      await cancel(await merchantOf(key), JSON.stringify({ paymentId: key.paymentId }))
    },

    async refundOrder(key: OrderKey, given: RefundByOperator): Promise<RefundAnswer> {
      const { authority } = parts
      const approval = authority?.kind === 'operator' ? authority.approval : undefined
      const isBound = authority !== undefined && authority.kind !== 'member' && !approval
      /** How much of an order may be refunded in all without approval; undefined: any amount. */
      const limitMinor = (currency: string) =>
        isBound ? refundLimitMinor(authority.policy, currency) : undefined
      const refund = makeRefundOrder({
        ...parts,
        refunds: {
          findRefundByNumber: refunds.findRefundByNumber,
          insertRefund: (request) =>
            refunds.insertRefund(
              request,
              // Up to the limit it needs no approval, and the statement that takes the share holds the limit.
              { ...entry('order.refund', key, given.reason, []), approval },
              limitMinor(request.refund.currency),
            ),
        },
        check({ currency, refundedMinor, refundHeldMinor }, amountMinor) {
          const mostMinor = limitMinor(currency)
          const totalMinor = refundedMinor + refundHeldMinor + amountMinor
          if (authority && mostMinor !== undefined && totalMinor > mostMinor) throw approvalNeeded(authority)
        },
      })
      const { referRefundNo, amount: refundAmount, reason: refundReason } = given
      return refund(
        await merchantOf(key),
        JSON.stringify({ paymentId: key.paymentId, referRefundNo, refundAmount, refundReason }),
      )
    },
  }
}
