// service.trade.create: a payment order, once for each orderNo, for ever.
import {
  type CreateAnswer,
  Failure,
  makePaymentId,
  parseCreateBody,
  type RandomBytes,
} from '@tillgate/protocol'
import type { CallbackHosts } from '../merchants/callback-hosts.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { Clock } from '../platform/clock.ts'
import { remember } from '../platform/remember.ts'
import { checkUrl, type UrlCheck, type UrlPolicy } from '../platform/ssrf-guard.ts'
import type { CurrentOrder } from './current-order.ts'
import { checkoutUrl } from './rules/checkout-url.ts'
import { hasSameContent, makeOrder, type Order, refusalOfTimes } from './rules/order.ts'
import type { OrderStore } from './store/orders.ts'

export interface CreateOrderParts {
  readonly orders: Pick<OrderStore, 'insertOrder' | 'findOrderByNumber'>
  readonly currentOrder: CurrentOrder
  readonly callbackHosts: CallbackHosts
  readonly urlPolicy: UrlPolicy
  readonly publicUrl: string
  readonly clock: Clock
  readonly random: RandomBytes
  /** Told of the expiry of every order that is made, so that somebody wakes up in time. */
  readonly onPending: (expiresAtMs: number) => void
}

/** A shop's addresses are the same from order to order, and reading one costs 10 µs. */
const urlsRemembered = 1_000
/** 160 bits: nobody guesses a checkout link. */
const checkoutTokenBytes = 20

export function makeCreateOrder(parts: CreateOrderParts) {
  const { orders, callbackHosts, urlPolicy, clock, random } = parts
  const check = remember((url: string) => checkUrl(url, urlPolicy), {
    keyOf: (url) => url,
    most: urlsRemembered,
  })
  return async (merchant: Merchant, body: string): Promise<CreateAnswer> => {
    const create = parseCreateBody(body)
    const nowMs = clock.now()
    const order = makeOrder(create, {
      merchantId: merchant.merchantId,
      paymentId: makePaymentId(nowMs, random),
      checkoutToken: Buffer.from(random(checkoutTokenBytes)).toString('base64url'),
      nowMs,
    })
    const stored = await store(order, nowMs)
    if (stored.paymentId === order.paymentId) parts.onPending(order.expiresAtMs)
    else if (!hasSameContent(stored, order)) throw differentContent(order)
    return answer(await parts.currentOrder(stored, nowMs), parts.publicUrl)
  }

  /** What stands against a new order does not stand against the answer for one that was made before. */
  async function store(order: Order, nowMs: number): Promise<Order> {
    const refusal =
      refusalOfTimes(order, nowMs) ?? refusalOfUrls(order, check) ?? (await callbackHosts.refusalOf(order))
    if (!refusal) return orders.insertOrder(order)
    const earlier = await orders.findOrderByNumber(order)
    if (!earlier) throw refusal
    return earlier
  }
}

function refusalOfUrls(order: Order, check: (url: string) => UrlCheck): Failure | undefined {
  for (const field of ['callbackUrl', 'redirectUrl'] as const) {
    const url = order[field]
    const checked = url === undefined ? undefined : check(url)
    if (checked?.kind === 'refused') {
      return new Failure('url_not_allowed', { field, message: `${field} is not allowed: ${checked.detail}.` })
    }
  }
  return undefined
}

function differentContent({ orderNo }: Order): Failure {
  return new Failure('number_already_used', {
    field: 'order.orderNo',
    message: `orderNo ${orderNo} was already used for an order with other content. Use a new orderNo.`,
  })
}

function answer(order: Order, publicUrl: string): CreateAnswer {
  return {
    paymentId: order.paymentId,
    referOrderNo: order.orderNo,
    channel: order.channel,
    checkoutUrl: checkoutUrl(order, publicUrl),
    status: order.status,
  }
}
