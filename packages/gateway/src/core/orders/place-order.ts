// Validates and stores a new order, from a merchant's create or a payment link, once per orderNo.
import { Failure } from '@tillgate/protocol'
import { remember } from '../../platform/runtime/remember.ts'
import { checkUrl, publicOnly, type UrlCheck, type UrlPolicy } from '../../platform/runtime/ssrf-guard.ts'
import type { CallbackHosts } from '../merchants/callback-hosts.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import { type Order, refusalOfTimes } from './rules/order.ts'
import { refusalOfReturnUrl } from './rules/return-url.ts'
import type { OrderStore } from './store/orders.ts'

export interface PlaceOrderParts {
  readonly orders: Pick<OrderStore, 'insertOrder' | 'findOrderByNumber'>
  readonly callbackHosts: CallbackHosts
  readonly urlPolicy: UrlPolicy
}

export type Addresses = Pick<Order, 'callbackUrl' | 'redirectUrl' | 'cancelUrl' | 'channel'>

/** A shop's addresses repeat, and parsing one costs 10 µs. */
const urlsRemembered = 1_000

export type PlaceOrder = ReturnType<typeof makePlaceOrder>

export function makePlaceOrder(parts: PlaceOrderParts) {
  const { orders, callbackHosts, urlPolicy } = parts
  const vouchedFor = remembering(urlPolicy)
  const selfRegistered = remembering(publicOnly(urlPolicy))
  const refusalOfReturn = remember(
    (url: string, channel: Order['channel']) => refusalOfReturnUrl(url, { mode: urlPolicy.mode, channel }),
    { keyOf: (url, channel) => `${channel} ${url}`, most: urlsRemembered },
  )
  return {
    /**
     * Returns the order stored under its orderNo, new or earlier. Undefined if its single-use link already has a live
     * order.
     */
    async place(order: Order, merchant: Merchant, nowMs: number): Promise<Order | undefined> {
      return store(withAddress(order, merchant), merchant, nowMs)
    },

    /** The order with the merchant's default callback URL. Throws if the order is refused. */
    async check(order: Order, merchant: Merchant, nowMs: number): Promise<Order> {
      const whole = withAddress(order, merchant)
      const refusal = await refusalOf(whole, merchant, nowMs)
      if (refusal) throw refusal
      return whole
    },

    async refusalOfAddresses(addresses: Addresses, merchant: Merchant): Promise<Failure | undefined> {
      return refusalOfUrls(addresses, merchant) ?? (await callbackHosts.refusalOf(addresses, merchant))
    },
  }

  /** Looks for the order before it rejects: a repeated request gets its order, even if a new one would be rejected now. */
  async function store(order: Order, merchant: Merchant, nowMs: number): Promise<Order | undefined> {
    const refusal = await refusalOf(order, merchant, nowMs)
    if (!refusal) return orders.insertOrder(order)
    const earlier = await orders.findOrderByNumber(order)
    if (!earlier) throw refusal
    return earlier
  }

  async function refusalOf(order: Order, merchant: Merchant, nowMs: number): Promise<Failure | undefined> {
    return (
      refusalOfTimes(order, nowMs) ??
      refusalOfUrls(order, merchant) ??
      (await callbackHosts.refusalOf(order, merchant))
    )
  }

  function refusalOfUrls(addresses: Addresses, { isSelfRegistered }: Merchant): Failure | undefined {
    const { callbackUrl, channel } = addresses
    const callback = callbackUrl && (isSelfRegistered ? selfRegistered : vouchedFor)(callbackUrl)
    if (callback && callback.kind === 'refused') {
      const isPrivate = callback.reason === 'address_not_public'
      const advice = !isPrivate ? '' : isSelfRegistered ? listenAdvice : ' Use a public address.'
      return urlNotAllowed('callbackUrl', callback.detail, advice)
    }
    for (const field of ['redirectUrl', 'cancelUrl'] as const) {
      const url = addresses[field]
      const refusal = url && refusalOfReturn(url, channel)
      if (refusal) return urlNotAllowed(field, refusal)
    }
    return undefined
  }
}

function withAddress(order: Order, { defaultCallbackUrl }: Merchant): Order {
  return order.callbackUrl || defaultCallbackUrl === undefined
    ? order
    : { ...order, callbackUrl: defaultCallbackUrl }
}

const listenAdvice =
  ' Merchants from /sandbox receive callbacks at public addresses only. To receive them on your own machine, use an address that does not exist yet, such as https://shop.example/callbacks, and run till listen.'

function urlNotAllowed(field: string, detail: string, advice = ''): Failure {
  return new Failure('url_not_allowed', { field, message: `${field} is not allowed: ${detail}.${advice}` })
}

function remembering(policy: UrlPolicy): (url: string) => UrlCheck {
  return remember((url: string) => checkUrl(url, policy), { keyOf: (url) => url, most: urlsRemembered })
}
