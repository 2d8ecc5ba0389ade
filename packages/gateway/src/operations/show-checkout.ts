// What the checkout shows: the order behind a link, as it is at this moment, and the merchant who is paid. A link that
// is wrong in any part finds nothing, and does not tell which part it was.
import { hash, timingSafeEqual } from 'node:crypto'
import { merchantIdPattern, paymentIdPattern } from '@tillgate/protocol'
import type { Clock } from '../clock.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Order, OrderKey } from '../domain/order.ts'
import type { OrderStore } from '../store/orders.ts'
import type { CurrentOrder } from './current-order.ts'
import type { MerchantDirectory } from './merchant-directory.ts'

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
    const isRight = isSameSecret(token, order?.checkoutToken ?? '')
    if (!order || !isRight) return undefined
    const nowMs = clock.now()
    // Only now: nobody makes us look merchants up by guessing links.
    const { known } = directory.remembered(merchantId, nowMs) ?? (await directory.load(merchantId, nowMs))
    return known && { order: await currentOrder(order, nowMs), merchant: known.merchant }
  }
}

/** Hashed first: timingSafeEqual wants equal lengths, and a length is something to learn too. */
function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  return timingSafeEqual(digest(given), digest(expected))
}
