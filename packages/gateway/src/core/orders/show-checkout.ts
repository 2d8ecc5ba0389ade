// Loads the checkout's order as of now and its merchant. An invalid link finds nothing, whichever part is wrong.
import { merchantIdPattern, paymentIdPattern } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { MerchantDirectory } from '../merchants/merchant-directory.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { CurrentOrder } from './current-order.ts'
import type { Order, OrderKey } from './rules/order.ts'
import type { OrderStore } from './store/orders.ts'

export interface CheckoutLink extends OrderKey {
  readonly token: string
}

export interface Checkout {
  readonly order: Order
  readonly merchant: Merchant
  readonly hasAttempts: boolean
}

export interface ShowCheckoutParts {
  readonly orders: Pick<OrderStore, 'findForCheckout'>
  readonly linkTokens: Tokens
  readonly currentOrder: CurrentOrder
  readonly directory: Pick<MerchantDirectory, 'remembered' | 'load'>
  readonly clock: Clock
}

export type ShowCheckout = (link: CheckoutLink) => Promise<Checkout | undefined>

export function makeShowCheckout(parts: ShowCheckoutParts): ShowCheckout {
  const { orders, linkTokens, currentOrder, directory, clock } = parts
  return async ({ merchantId, paymentId, token }) => {
    if (!merchantIdPattern.test(merchantId) || !paymentIdPattern.test(paymentId)) return undefined
    const key = { merchantId, paymentId }
    // Checked before any query, so that guessed links cost no database work.
    if (!linkTokens.isRight(token, [merchantId, paymentId])) return undefined
    const found = await orders.findForCheckout(key)
    if (!found) return undefined
    const { order, hasAttempts } = found
    const nowMs = clock.now()
    const { known } = directory.remembered(merchantId, nowMs) ?? (await directory.load(merchantId, nowMs))
    return known && { order: await currentOrder(order, nowMs), merchant: known.merchant, hasAttempts }
  }
}
