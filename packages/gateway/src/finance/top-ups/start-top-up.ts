// A consumer tops up: an order is made that any rail may pay, and the consumer goes on to its checkout. What may still come
// into the wallet is looked at while its account is locked, with all that is under way, so the limit holds however many
// are begun at once.
import { makeCallbackId, makePaymentId, type RandomBytes } from '@tillgate/protocol'
import type { CurrentOrder } from '../../core/orders/current-order.ts'
import { checkoutUrl } from '../../core/orders/rules/checkout-url.ts'
import { makeOrder, type Order } from '../../core/orders/rules/order.ts'
import { cancelOrder } from '../../core/orders/rules/status-change.ts'
import { ownMerchantId, topUpLimits } from '../../core/orders/rules/top-up.ts'
import type { OrderStore } from '../../core/orders/store/orders.ts'
import { type DefaultLimits, limitsIn } from '../../core/wallets/rules/limits.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { RailDirectory } from '../rails/rail-directory.ts'
import { isFailing, isOffered } from '../rails/rules/outside-rail.ts'
import type { FindOwnMerchant } from './own-merchant.ts'
import type { TopUpStore } from './store/top-ups.ts'

export interface StartTopUpParts {
  readonly topUps: TopUpStore
  readonly orders: Pick<OrderStore, 'commitStatusChanges' | 'findOrderByNumber'>
  readonly currentOrder: CurrentOrder
  readonly railDirectory: Pick<RailDirectory, 'all'>
  readonly findOwnMerchant: FindOwnMerchant
  readonly defaultLimits: DefaultLimits
  readonly linkTokens: Tokens
  readonly publicUrl: string
  readonly clock: Clock
  readonly random: RandomBytes
}

export interface TopUpWish {
  readonly walletId: string
  readonly currency: string
  readonly amountMinor: bigint
  /** Of the form: sent twice, it is one order. */
  readonly formNumber: string
  /** What the checkout and the rail call it. */
  readonly description: string
}

export type TopUpOutcome =
  /** Where it is paid, without the host. */
  | { readonly kind: 'begun'; readonly path: string }
  /** No rail takes this amount now. */
  | { readonly kind: 'no_rail' }
  | { readonly kind: 'over_limit'; readonly roomMinor: bigint }
  | { readonly kind: 'too_many' }
  /** The form was sent before, with another amount; or its number is another wallet's. */
  | { readonly kind: 'number_used' }

export type StartTopUp = ReturnType<typeof makeStartTopUp>

export function makeStartTopUp(parts: StartTopUpParts) {
  const { topUps, clock, random } = parts
  return {
    /** Those in which some rail takes top-ups now. */
    async currencies(): Promise<readonly string[]> {
      if ((await parts.findOwnMerchant()).status !== 'active') return []
      const all = [...(await parts.railDirectory.all()).values()].map(({ rail }) => rail)
      const open = all.filter(
        (rail) =>
          !rail.isPaused &&
          !isFailing(rail, clock.now()) &&
          (rail.merchants === undefined || rail.merchants.includes(ownMerchantId)),
      )
      return [...new Set(open.flatMap(({ currencies }) => currencies))].sort()
    },

    async start(wish: TopUpWish): Promise<TopUpOutcome> {
      const { currency, amountMinor } = wish
      const nowMs = clock.now()
      const made = orderOf(wish, nowMs)
      // What stands against a new one does not stand against the answer for one that was begun before.
      const earlier = await parts.orders.findOrderByNumber(made)
      if (earlier) return answerFor(wish, earlier)
      const toPay = { merchantId: ownMerchantId, currency, amountMinor }
      const rails = [...(await parts.railDirectory.all()).values()]
      const isTaken = rails.some(({ rail }) => isOffered(rail, toPay, nowMs))
      if (!isTaken || (await parts.findOwnMerchant()).status !== 'active') return { kind: 'no_rail' }
      await leaveUnbegun(made, nowMs)
      const { balanceMinor: limitMinor } = limitsIn(currency, parts.defaultLimits)
      const opened = await topUps.open(made, { limitMinor })
      if (opened.kind !== 'stored') return opened
      return answerFor(wish, opened.order)
    },
  }

  function answerFor({ walletId, currency, amountMinor }: TopUpWish, order: Order): TopUpOutcome {
    const { merchantId, paymentId } = order
    // The number of a form is nobody's secret, and a wallet's page leads to its own orders alone.
    const isSame =
      order.topsUp === walletId && order.currency === currency && order.paymentAmountMinor === amountMinor
    if (!isSame) return { kind: 'number_used' }
    const token = parts.linkTokens.make([merchantId, paymentId])
    return { kind: 'begun', path: checkoutUrl({ merchantId, paymentId, token }, '') }
  }

  /**
   * Whoever begins anew has changed their mind: what was not begun to be paid keeps no room. What is overdue expires
   * here, where the worker that expires orders has not come to it yet.
   */
  async function leaveUnbegun(order: Order, nowMs: number): Promise<void> {
    const unbegun = await topUps.findUnbegun(order)
    const current = await Promise.all(unbegun.map((each) => parts.currentOrder(each, nowMs)))
    const changes = current
      .filter(({ status }) => status === 'pending')
      .flatMap(
        (each) =>
          cancelOrder(each, { actor: 'consumer', callbackId: makeCallbackId(nowMs, random), nowMs }) ?? [],
      )
    if (changes.length > 0) await parts.orders.commitStatusChanges(changes)
  }

  function orderOf(
    { walletId, currency, amountMinor, formNumber, description }: TopUpWish,
    nowMs: number,
  ): Order {
    const orderNo = `top-up-${formNumber}`
    const good = { referenceGoodsId: 'top-up', goodsName: description, goodsAmountMinor: amountMinor }
    return makeOrder(
      {
        order: { orderNo, orderAmountMinor: amountMinor, goods: [{ ...good, goodsQuantity: 1 }] },
        channel: 'WEB',
        paymentAmountMinor: amountMinor,
        currency,
        paymentTimeMs: nowMs,
        paymentExpiryTimeMs: nowMs + topUpLimits.lifeMs,
        redirectUrl: `${parts.publicUrl}/wallet`,
      },
      { merchantId: ownMerchantId, paymentId: makePaymentId(nowMs, random), nowMs, topsUp: walletId },
    )
  }
}
