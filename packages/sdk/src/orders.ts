// Payment orders: create, query, cancel, and wait for the end.
import {
  type CancelAnswer,
  type CreateAnswer,
  type CreateBody,
  isFinalOrderStatus,
  type OrderListAnswer,
  type OrderStatus,
  type QueryAnswer,
} from '@tillgate/protocol'
import { expectTexts } from './answers.ts'
import type { Caller } from './call.ts'
import { UnexpectedAnswerError } from './errors.ts'
import type { CallOptions, Settings } from './options.ts'
import { pollUntil, type WaitOptions } from './poll.ts'
import { serialise } from './serialise.ts'

const minute = 60_000
export const defaultExpiryMs = 30 * minute

/**
 * What to create. Amounts are numbers or decimal strings in units of the currency: `12.5` or `"12.50"` dollars,
 * `1200` yen. They are sent as they are and never rounded.
 */
export interface NewOrder extends Omit<CreateBody, 'channel' | 'paymentTime' | 'paymentExpiryTime'> {
  /** `WEB` when left out. */
  readonly channel?: CreateBody['channel']
  /**
   * Milliseconds since 1970. When left out, the time at which this client first created the `orderNo`, so that
   * repeating `create` is the same request. It is part of the content: whoever wants to repeat it after a crash or
   * from another process gives it (the time at which the order was placed), or asks by `orderNo`.
   */
  readonly paymentTime?: CreateBody['paymentTime']
  /** 5 minutes to 24 hours after paymentTime; 30 minutes when left out. */
  readonly paymentExpiryTime?: CreateBody['paymentExpiryTime']
}

/** Which order: its paymentId, or your own orderNo when the answer of create was lost, or one of its refunds. */
export type OrderReference =
  | string
  | { readonly paymentId: string }
  | { readonly orderNo: string }
  | { readonly refundId: string }

/** Which orders: all that are left out is not asked for. */
export interface OrderFilter {
  /** Created at this time or later, in milliseconds since 1970. */
  readonly since?: number
  /** Created before this time. */
  readonly until?: number
  /** Of this paymentStatus. */
  readonly status?: OrderStatus
  /** The cursor of the answer before. */
  readonly cursor?: string
  /** 1 to 100; 50 when left out. */
  readonly limit?: number
}

export interface Orders {
  /**
   * Creates a payment order; send the consumer to `checkoutUrl`. The same `orderNo` with the same content answers
   * the order that is there, so repeating it is safe.
   *
   * @example
   * const { paymentId, checkoutUrl } = await tillgate.orders.create({
   *   order: {
   *     orderNo: 'A-1001',
   *     orderAmount: '25.00',
   *     goods: [{ referenceGoodsId: 'shirt', goodsName: 'Shirt', goodsAmount: '12.50', goodsQuantity: 2 }],
   *   },
   *   paymentAmount: '25.00',
   *   currency: 'USD',
   *   callbackUrl: 'https://shop.example/callbacks',
   *   redirectUrl: 'https://shop.example/thanks',
   * })
   */
  create(order: NewOrder, options?: CallOptions): Promise<CreateAnswer>

  /**
   * An order as it is now. `paymentStatus` is the payment's own status; `status` speaks of the newest refund.
   *
   * @example
   * const { paymentStatus } = await tillgate.orders.query(paymentId)
   * const lost = await tillgate.orders.query({ orderNo: 'A-1001' })
   */
  query(order: OrderReference, options?: CallOptions): Promise<QueryAnswer>

  /**
   * Lists orders, newest first. Send the `cursor` of an answer for the orders that follow; without one the list has
   * ended. Orders that exist when you ask for the first page come exactly once.
   *
   * @example
   * let cursor
   * do {
   *   const page = await tillgate.orders.list({ status: 'success', limit: 100, ...(cursor && { cursor }) })
   *   for (const { orderNo, payAmount } of page.orders) console.log(orderNo, payAmount)
   *   cursor = page.cursor
   * } while (cursor)
   */
  list(filter?: OrderFilter, options?: CallOptions): Promise<OrderListAnswer>

  /**
   * Cancels an order that is still pending; a ConflictError (40901) when it is being paid or paid.
   *
   * @example
   * await tillgate.orders.cancel(paymentId)
   */
  cancel(paymentId: string, options?: CallOptions): Promise<CancelAnswer>

  /**
   * Queries until the payment has a final status (success, failed, timeout, cancelled), slower and slower. For a
   * result page or a script; a shop waits for the callback.
   *
   * @example
   * const { paymentStatus } = await tillgate.orders.waitUntilFinal(paymentId, { timeoutMs: 60_000 })
   */
  waitUntilFinal(order: OrderReference, options?: WaitOptions): Promise<QueryAnswer>
}

export function makeOrders({ call, now }: Caller, settings: Settings): Orders {
  const query: Orders['query'] = async (order, options) => {
    const reference = typeof order === 'string' ? { paymentId: order } : order
    const data = await call('service.trade.query', () => serialise(reference), options)
    return expectTexts<QueryAnswer>(data, ['paymentId', 'status', 'paymentStatus'])
  }
  const paymentTimes = new PaymentTimes()
  return {
    async create(order, options) {
      const defaultTime = paymentTimes.of(order.order?.orderNo, now())
      const makeBody = (nowMs: number) => serialise(withTimes(order, defaultTime(nowMs)))
      const data = await call('service.trade.create', makeBody, options)
      return expectTexts<CreateAnswer>(data, ['paymentId', 'checkoutUrl', 'status'])
    },
    query,
    async list(filter = {}, options) {
      const data = await call('service.order.list', () => serialise(filter), options)
      if (!Array.isArray(data['orders']))
        throw new UnexpectedAnswerError('The gateway answered success without orders.', { httpStatus: 200 })
      // Safe: the rest is optional.
      return data as unknown as OrderListAnswer
    },
    async cancel(paymentId, options) {
      const data = await call('service.trade.cancel', () => serialise({ paymentId }), options)
      return expectTexts<CancelAnswer>(data, ['paymentId', 'status'])
    },
    waitUntilFinal: (order, options) =>
      pollUntil(
        async (callOptions) => {
          const answer = await query(order, callOptions)
          const { paymentStatus } = answer
          return { value: answer, isFinal: isFinalOrderStatus(paymentStatus), status: paymentStatus }
        },
        settings,
        options,
      ),
  }
}

function withTimes(order: NewOrder, defaultTime: number): CreateBody {
  const { channel = 'WEB', paymentTime = defaultTime, ...rest } = order
  const paymentExpiryTime = order.paymentExpiryTime ?? Number(paymentTime) + defaultExpiryMs
  return { ...rest, channel, paymentTime, paymentExpiryTime }
}

const maxPaymentTimes = 10_000

/** The default of paymentTime, derived once for each orderNo: whoever repeats a create sends the same content. */
class PaymentTimes {
  readonly #times = new Map<string, number>()

  /** Known until its order has expired. What a call derives itself follows a corrected clock. */
  of(orderNo: string, nowMs: number): (nowMs: number) => number {
    const known = this.#times.get(orderNo)
    if (known !== undefined && nowMs < known + defaultExpiryMs) return () => known
    return (correctedMs) => {
      const time = Math.round(correctedMs)
      this.#times.delete(orderNo)
      this.#times.set(orderNo, time)
      for (const oldest of this.#times.keys()) {
        if (this.#times.size <= maxPaymentTimes) break
        this.#times.delete(oldest)
      }
      return time
    }
  }
}
