// What an operator does with an order: the same operations as the merchant's own, recorded with who did it and why,
// in the transaction that does it. The merchant is told by callback, with the reason.
import { Failure, type RefundAnswer } from '@tillgate/protocol'
import type { MerchantStore } from '../merchants/store/merchants.ts'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import type { Approval } from '../operators/rules/approval.ts'
import { makeRefundOrder } from '../refunds/refund-order.ts'
import type { RefundStore } from '../refunds/store/refunds.ts'
import { makeCancelOrder } from './cancel-order.ts'
import type { CurrentOrder } from './current-order.ts'
import type { OrderKey } from './rules/order.ts'
import type { OrderStore } from './store/orders.ts'

export interface ManageOrdersParts extends ActParts {
  readonly orders: OrderStore
  readonly refunds: RefundStore
  readonly merchants: Pick<MerchantStore, 'findMerchant'>
  readonly currentOrder: CurrentOrder
  /** Who acts here, in the order's history; an operator unless told otherwise. */
  readonly by?: 'operator' | 'member'
  /** A refund waits for its rail. */
  readonly onSubmitted: (railId?: string) => void
  /** Something waits for a rail. */
  readonly onTask: () => void
}

export interface RefundByOperator {
  /** The same number never refunds twice, however often the form is sent. */
  readonly referRefundNo: string
  /** As it was typed. */
  readonly amount: string
  readonly reason: string
  /** Where a second operator allowed it. */
  readonly approval?: Approval | undefined
  /** How much of an order may be refunded in all without one; undefined: any amount. */
  readonly limitMinor?: ((currency: string) => bigint | undefined) | undefined
}

export type ManageOrders = ReturnType<typeof makeManageOrders>

/** More than may be refunded without a second operator. */
export class RefundNeedsApproval extends Error {
  override readonly name = 'RefundNeedsApproval'
  readonly money: { readonly currency: string; readonly amountMinor: bigint }

  constructor(money: { currency: string; amountMinor: bigint }) {
    super('this refund needs a second operator')
    this.money = money
  }
}

export function makeManageOrders(parts: ManageOrdersParts) {
  const { orders, refunds } = parts

  const act = (name: string, { merchantId, paymentId }: OrderKey, reason: string) =>
    makeActs(parts)(name, paymentId, { merchantId, reason })

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
            orders.commitStatusChanges(changes, act('order.cancel', key, reason)),
        },
      })
      await cancel(await merchantOf(key), JSON.stringify({ paymentId: key.paymentId }))
    },

    async refundOrder(key: OrderKey, given: RefundByOperator): Promise<RefundAnswer> {
      const refund = makeRefundOrder({
        ...parts,
        refunds: {
          findRefundByNumber: refunds.findRefundByNumber,
          insertRefund: (request) =>
            refunds.insertRefund(
              request,
              { ...act('order.refund', key, given.reason), approval: given.approval },
              given.limitMinor?.(request.refund.currency),
            ),
        },
        check({ currency, refundedMinor, refundHeldMinor }, amountMinor) {
          const limitMinor = given.limitMinor?.(currency)
          if (limitMinor === undefined || refundedMinor + refundHeldMinor + amountMinor <= limitMinor) return
          throw new RefundNeedsApproval({ currency, amountMinor })
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
