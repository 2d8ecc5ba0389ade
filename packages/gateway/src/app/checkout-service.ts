// Puts the checkout together: what its pages need from the operations and stores of an open core.
import type { RandomBytes } from '@tillgate/protocol'
import { makeActs } from '../faces/checkout/acts.ts'
import { LiveOrders } from '../faces/checkout/live.ts'
import type { RunningCheckout } from '../faces/checkout/routes.ts'
import { makeVisits } from '../faces/checkout/visit.ts'
import type { CookieJar } from '../http/cookies.ts'
import { makeSealing, makeTokens } from '../http/sealing.ts'
import type { CurrentOrder } from '../orders/current-order.ts'
import type { OrderWatch } from '../orders/order-watch.ts'
import { makeReturnToShop } from '../orders/return-to-shop.ts'
import { isOverdue } from '../orders/rules/status-change.ts'
import { makeShowCheckout } from '../orders/show-checkout.ts'
import type { SubmitPayment } from '../payments/submit-payment.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { findTestWallet, type RefillTestWallet } from '../sandbox/test-wallets.ts'
import { makeAuthenticateWallet } from '../wallets/authenticate-wallet.ts'
import type { Behaviour } from '../wallets/rules/wallet.ts'
import type { Core } from './core.ts'

export interface CheckoutServiceParts {
  readonly core: Core
  readonly watch: OrderWatch
  readonly currentOrder: CurrentOrder
  readonly submitPayment: SubmitPayment
  /** Of the sandbox alone. */
  readonly refill: RefillTestWallet | undefined
  readonly jar: CookieJar
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Log
}

export function startCheckoutService(
  parts: CheckoutServiceParts,
): RunningCheckout & { stop(): Promise<void> } {
  const { core, clock, random, log } = parts
  const { orders, wallets, directory, platformKeys, vault } = core
  const visits = makeVisits({
    jar: parts.jar,
    sealing: makeSealing(vault.deriveKeys('checkout sessions'), random),
    tokens: makeTokens(vault.deriveKeys('checkout forms')),
    random,
    clock,
  })
  const live = new LiveOrders({
    async findStatus(key) {
      const found = await orders.findStatus(key)
      const nowMs = clock.now()
      if (!found || !isOverdue(found, nowMs)) return found
      const order = await orders.findOrder(key)
      return order && parts.currentOrder(order, nowMs)
    },
    watch: parts.watch,
    clock,
    onTrouble: (err) => log.warn({ worker: 'live-orders', err }, 'could not look; looking again'),
  })
  return {
    showCheckout: makeShowCheckout({ orders, currentOrder: parts.currentOrder, directory, clock }),
    returnToShop: makeReturnToShop({ platformKeys, clock }),
    acts: makeActs({
      authenticateWallet: makeAuthenticateWallet({ wallets, clock }),
      submitPayment: parts.submitPayment,
      findTestWalletId: async (behaviour: Behaviour) => (await findTestWallet(wallets, behaviour))?.walletId,
      visits,
    }),
    async findSignedIn(walletId, order) {
      const wallet = await wallets.findWallet(walletId)
      // Locked since it signed in: as if it had not.
      if (wallet?.status !== 'active') return undefined
      await parts.refill?.(wallet, order)
      const availableMinor = await wallets.findAvailable(walletId, order.currency)
      return { name: wallet.name, login: wallet.login, availableMinor }
    },
    visits,
    live,
    stop: () => live.stop(),
  }
}
