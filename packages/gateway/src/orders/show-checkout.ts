// What the checkout shows: the order behind a link, as it is at this moment, and the merchant who is paid. A link that
// is wrong in any part finds nothing, and does not tell which part it was.
import { merchantIdPattern, paymentIdPattern } from '@tillgate/protocol'
import type { MerchantDirectory } from '../merchants/merchant-directory.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { Clock } from '../platform/clock.ts'
import { isSameSecret } from '../platform/constant-time.ts'
import type { CurrentOrder } from './current-order.ts'
import type { Order, OrderKey } from './rules/order.ts'
import type { OrderStore } from './store/orders.ts'

export interface CheckoutLink extends OrderKey {
  readonly token: string
}

export interface Checkout {
  readonly order: Order
  readonly merchant: Merchant
}

export interface ShowCheckoutParts {
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly currentOrder: CurrentOrder
  readonly directory: Pick<MerchantDirectory, 'remembered' | 'load'>
  readonly clock: Clock
}

/** As long as any. */
const noToken = '-'.repeat(27)

export type ShowCheckout = (link: CheckoutLink) => Promise<Checkout | undefined>

export function makeShowCheckout({
  orders,
  currentOrder,
  directory,
  clock,
}: ShowCheckoutParts): ShowCheckout {
  return async ({ merchantId, paymentId, token }) => {
    if (!merchantIdPattern.test(merchantId) || !paymentIdPattern.test(paymentId)) return undefined
    const order = await orders.findOrder({ merchantId, paymentId })
    // Compared also where there is no order, so that both ways take the same time.
    const isRight = isSameSecret(token, order?.checkoutToken ?? noToken)
    if (!order || !isRight) return undefined
    const nowMs = clock.now()
    // Only now: nobody makes us look merchants up by guessing links.
    const { known } = directory.remembered(merchantId, nowMs) ?? (await directory.load(merchantId, nowMs))
    return known && { order: await currentOrder(order, nowMs), merchant: known.merchant }
  }
}
