// What a wallet's codes paid in the last minutes, and which orders wait for the owner's confirmation.
import type { Clock } from '../../../platform/runtime/clock.ts'
import type { Tokens } from '../../../platform/runtime/secrets/tokens.ts'
import type { MerchantDirectory } from '../../merchants/merchant-directory.ts'
import type { Merchant } from '../../merchants/rules/merchant.ts'
import type { CurrentOrder } from '../current-order.ts'
import { checkoutUrl } from '../rules/checkout-url.ts'
import type { Order } from '../rules/order.ts'
import type { OrderStore } from '../store/orders.ts'
import type { PayCodeStore } from './store/pay-codes.ts'

export interface ScannedPayment {
  readonly order: Order
  readonly merchant: Merchant
  /** Of the checkout, where the owner confirms. */
  readonly path: string
}

export interface ListScannedParts {
  readonly payCodes: Pick<PayCodeStore, 'listScanned'>
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly currentOrder: CurrentOrder
  readonly directory: Pick<MerchantDirectory, 'load'>
  readonly linkTokens: Tokens
  readonly clock: Clock
}

export type ListScanned = ReturnType<typeof makeListScanned>

export function makeListScanned(parts: ListScannedParts) {
  return async (walletId: string): Promise<ScannedPayment[]> => {
    const nowMs = parts.clock.now()
    const scanned = await parts.payCodes.listScanned(walletId, nowMs)
    const found = await Promise.all(
      scanned.map(async (key) => {
        const stored = await parts.orders.findOrder(key)
        const { known } = await parts.directory.load(key.merchantId, nowMs)
        if (!stored || !known) return []
        const token = parts.linkTokens.make([key.merchantId, key.paymentId])
        const path = checkoutUrl({ ...key, token }, '')
        return [{ order: await parts.currentOrder(stored, nowMs), merchant: known.merchant, path }]
      }),
    )
    return found.flat()
  }
}
