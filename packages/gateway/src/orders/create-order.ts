// service.trade.create: a payment order, once for each orderNo, for ever.
import {
  type CreateAnswer,
  Failure,
  type Ignoring,
  ignoring,
  makePaymentId,
  parseCreateBody,
  type RandomBytes,
} from '@tillgate/protocol'
import type { CallbackHosts } from '../merchants/callback-hosts.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { Clock } from '../platform/clock.ts'
import { remember } from '../platform/remember.ts'
import { checkUrl, publicOnly, type UrlCheck, type UrlPolicy } from '../platform/ssrf-guard.ts'
import type { Tokens } from '../platform/tokens.ts'
import type { CurrentOrder } from './current-order.ts'
import { checkoutUrl } from './rules/checkout-url.ts'
import { differingField, makeOrder, type Order, refusalOfTimes } from './rules/order.ts'
import { refusalOfReturnUrl } from './rules/return-url.ts'
import type { OrderStore } from './store/orders.ts'

export interface CreateOrderParts {
  readonly orders: Pick<OrderStore, 'insertOrder' | 'findOrderByNumber'>
  readonly currentOrder: CurrentOrder
  readonly callbackHosts: CallbackHosts
  readonly urlPolicy: UrlPolicy
  readonly publicUrl: string
  readonly linkTokens: Tokens
  readonly clock: Clock
  readonly random: RandomBytes
  /** Told of the expiry of every order that is made, so that somebody wakes up in time. */
  readonly onPending: (expiresAtMs: number) => void
}

/** A shop's addresses are the same from order to order, and reading one costs 10 µs. */
const urlsRemembered = 1_000

export function makeCreateOrder(parts: CreateOrderParts) {
  const { orders, callbackHosts, urlPolicy, clock, random } = parts
  const vouchedFor = remembering(urlPolicy)
  const selfRegistered = remembering(publicOnly(urlPolicy))
  const refusalOfReturn = remember(
    (url: string, channel: Order['channel']) => refusalOfReturnUrl(url, { mode: urlPolicy.mode, channel }),
    { keyOf: (url, channel) => `${channel} ${url}`, most: urlsRemembered },
  )
  return async (merchant: Merchant, body: string): Promise<CreateAnswer> => {
    const create = parseCreateBody(body)
    const nowMs = clock.now()
    const made = makeOrder(create, {
      merchantId: merchant.merchantId,
      paymentId: makePaymentId(nowMs, random),
      nowMs,
    })
    const { defaultCallbackUrl } = merchant
    // An order that names no address has the merchant's own, as it is now.
    const isDefault = !create.callbackUrl && defaultCallbackUrl !== undefined
    const order = isDefault ? { ...made, callbackUrl: defaultCallbackUrl } : made
    const stored = await store(order, merchant, nowMs)
    if (stored.paymentId === order.paymentId) parts.onPending(order.expiresAtMs)
    // The merchant's address may have changed since: who leaves it out says nothing about it.
    else refuseOtherContent(stored, isDefault ? { ...order, callbackUrl: stored.callbackUrl } : order)
    return answer(await parts.currentOrder(stored, nowMs), create)
  }

  /** What stands against a new order does not stand against the answer for one that was made before. */
  async function store(order: Order, merchant: Merchant, nowMs: number): Promise<Order> {
    const refusal =
      refusalOfTimes(order, nowMs) ??
      refusalOfUrls(order, merchant) ??
      (await callbackHosts.refusalOf(order, merchant))
    if (!refusal) return orders.insertOrder(order)
    const earlier = await orders.findOrderByNumber(order)
    if (!earlier) throw refusal
    return earlier
  }

  function refusalOfUrls(order: Order, { isSelfRegistered }: Merchant): Failure | undefined {
    const { callbackUrl, channel } = order
    const callback = callbackUrl && (isSelfRegistered ? selfRegistered : vouchedFor)(callbackUrl)
    if (callback && callback.kind === 'refused') {
      const advice = isSelfRegistered && callback.reason === 'address_not_public' ? listenAdvice : ''
      return urlNotAllowed('callbackUrl', callback.detail, advice)
    }
    for (const field of ['redirectUrl', 'cancelUrl'] as const) {
      const url = order[field]
      const refusal = url && refusalOfReturn(url, channel)
      if (refusal) return urlNotAllowed(field, refusal)
    }
    return undefined
  }

  function answer(order: Order, asked: Ignoring): CreateAnswer {
    const { merchantId, paymentId, orderNo, channel, status } = order
    const token = parts.linkTokens.make([merchantId, paymentId])
    return {
      paymentId,
      referOrderNo: orderNo,
      channel,
      checkoutUrl: checkoutUrl({ merchantId, paymentId, token }, parts.publicUrl),
      status,
      ...ignoring(asked),
    }
  }
}

const listenAdvice =
  ' Callbacks of merchants who signed on at /sandbox go to public addresses; to take them on your own machine, name one that is not there yet, such as https://shop.example/callbacks, and run till listen.'

function urlNotAllowed(field: string, detail: string, advice = ''): Failure {
  return new Failure('url_not_allowed', { field, message: `${field} is not allowed: ${detail}.${advice}` })
}

function remembering(policy: UrlPolicy): (url: string) => UrlCheck {
  return remember((url: string) => checkUrl(url, policy), { keyOf: (url) => url, most: urlsRemembered })
}

function refuseOtherContent(stored: Order, order: Order): void {
  const field = differingField(stored, order)
  if (field === undefined) return
  throw new Failure('number_already_used', {
    field,
    message: `orderNo ${order.orderNo} was already used for an order with another ${field}. Repeat that order as it was, or use a new orderNo.`,
  })
}
