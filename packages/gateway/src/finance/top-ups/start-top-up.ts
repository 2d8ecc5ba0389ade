// Starts a wallet's top-up: an order that any rail can pay. The wallet's room is checked under the lock of its
// account, including pending top-ups, so that concurrent ones respect the limit.
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
  /** Identifies the form, so that sending it twice creates one order. */
  readonly formNumber: string
  /** Shown on the checkout and by the rail. */
  readonly description: string
}

export type TopUpOutcome =
  /** The checkout path without the host. */
  | { readonly kind: 'begun'; readonly path: string }
  /** No rail accepts this amount now. */
  | { readonly kind: 'no_rail' }
  | { readonly kind: 'over_limit'; readonly roomMinor: bigint }
  | { readonly kind: 'too_many' }
  /** The form was sent before with another amount, or the number is another wallet's. */
  | { readonly kind: 'number_used' }

export type StartTopUp = ReturnType<typeof makeStartTopUp>

export function makeStartTopUp(parts: StartTopUpParts) {
  const { topUps, clock, random } = parts
  return {
    /** Currencies in which a rail accepts top-ups now. */
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

    taken,

    async start(wish: TopUpWish): Promise<TopUpOutcome> {
      const { currency, amountMinor } = wish
      const nowMs = clock.now()
      const made = orderOf(wish, nowMs)
      // A repeated request must get its order even if a new one would be rejected.
      const earlier = await parts.orders.findOrderByNumber(made)
      if (earlier) return answerFor(wish, earlier)
      const isTaken = (await taken(currency, [amountMinor])).length > 0
      if (!isTaken || (await parts.findOwnMerchant()).status !== 'active') return { kind: 'no_rail' }
      await leaveUnbegun(made, nowMs)
      const { balanceMinor: limitMinor } = limitsIn(currency, parts.defaultLimits)
      const opened = await topUps.open(made, { limitMinor })
      if (opened.kind !== 'stored') return opened
      return answerFor(wish, opened.order)
    },
  }

  /** Those of the amounts that a rail accepts now. */
  async function taken(currency: string, amountsMinor: readonly bigint[]): Promise<readonly bigint[]> {
    const rails = [...(await parts.railDirectory.all()).values()]
    return amountsMinor.filter((amountMinor) => {
      const toPay = { merchantId: ownMerchantId, currency, amountMinor }
      return rails.some(({ rail }) => isOffered(rail, toPay, clock.now()))
    })
  }

  function answerFor({ walletId, currency, amountMinor }: TopUpWish, order: Order): TopUpOutcome {
    const { merchantId, paymentId } = order
    // A form's number is not secret, and a wallet may only reach its own orders.
    const isSame =
      order.topsUp === walletId && order.currency === currency && order.paymentAmountMinor === amountMinor
    if (!isSame) return { kind: 'number_used' }
    const token = parts.linkTokens.make([merchantId, paymentId])
    return { kind: 'begun', path: checkoutUrl({ merchantId, paymentId, token }, '') }
  }

  /**
   * A new top-up replaces one without a payment attempt, which then needs no room. Overdue ones expire here if the
   * expiry job has not reached them.
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
