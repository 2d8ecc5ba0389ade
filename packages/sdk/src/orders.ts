// Payment orders: create, query, list, cancel, and wait for the final status.
import {
  type CancelAnswer,
  type CaptureAnswer,
  type CreateAnswer,
  type CreateBody,
  isFinalOrderStatus,
  type OrderListAnswer,
  type OrderStatus,
  type QueryAnswer,
  type ReleaseAnswer,
  type ScanAnswer,
  type WireAmount,
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
 * A new order. Amounts are numbers or decimal strings in units of the currency: `12.5` or `"12.50"` dollars, `1200`
 * yen. They are sent unchanged and never rounded.
 */
export interface NewOrder extends Omit<CreateBody, 'channel' | 'paymentTime' | 'paymentExpiryTime'> {
  /** `WEB` by default. */
  readonly channel?: CreateBody['channel']
  /**
   * Milliseconds since 1970. By default, the time at which this client first created the `orderNo`, so that repeating
   * `create` is the same request. It is part of the content: to repeat a create after a crash or from another process,
   * set it (the time at which the order was placed), or query by `orderNo`.
   */
  readonly paymentTime?: CreateBody['paymentTime']
  /** 5 minutes to 24 hours after paymentTime; 30 minutes by default. */
  readonly paymentExpiryTime?: CreateBody['paymentExpiryTime']
}

/** An order by its paymentId, by your orderNo if the response to create was lost, or by one of its refunds. */
export type OrderReference =
  | string
  | { readonly paymentId: string }
  | { readonly orderNo: string }
  | { readonly refundId: string }

/** A capture of an authorized order. The amount is a number or a decimal string; by default all that remains. */
export type NewCapture = ({ readonly paymentId: string } | { readonly orderNo: string }) & {
  readonly referCaptureNo: string
  readonly amount?: WireAmount
  /** Releases the rest. */
  readonly final?: boolean
}

/** A payment by the code that a consumer's wallet shows. The amount is a number or a decimal string. */
export interface NewScan {
  /** The content of the QR code, or its digits. */
  readonly code: string
  readonly orderNo: string
  readonly amount: WireAmount
  readonly currency: string
  readonly orderDescription?: string
  readonly callbackUrl?: string
  readonly attach?: string
}

/** Filters of a list; an omitted one does not apply. */
export interface OrderFilter {
  /** Created at this time or later, in milliseconds since 1970. */
  readonly since?: number
  /** Created before this time. */
  readonly until?: number
  /** With this paymentStatus. */
  readonly status?: OrderStatus
  /** The cursor of the previous response. */
  readonly cursor?: string
  /** 1 to 100; 50 by default. */
  readonly limit?: number
}

export interface Orders {
  /**
   * Creates a payment order; send the consumer to `checkoutUrl`. The same `orderNo` with the same content returns the
   * existing order, so repeating is safe.
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
   * An order's current state. `paymentStatus` is the payment's own status; `status` refers to the newest refund.
   *
   * @example
   * const { paymentStatus } = await tillgate.orders.query(paymentId)
   * const lost = await tillgate.orders.query({ orderNo: 'A-1001' })
   */
  query(order: OrderReference, options?: CallOptions): Promise<QueryAnswer>

  /**
   * Lists orders, newest first. Pass the `cursor` of a response to get the next page; without a cursor, the list has
   * ended. Orders that exist at the request for the first page appear exactly once.
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
   * Cancels a pending order; a ConflictError (40901) if it is being paid or paid.
   *
   * @example
   * await tillgate.orders.cancel(paymentId)
   */
  cancel(paymentId: string, options?: CallOptions): Promise<CancelAnswer>

  /**
   * Captures an order that was created with `captureMode: 'manual'` and authorized by the consumer. The last capture
   * takes all that remains or has `final: true`; the rest is released. The same `referCaptureNo` with the same content
   * returns the existing capture, so repeating is safe.
   *
   * @example
   * const { status } = await tillgate.orders.capture({ paymentId, referCaptureNo: 'A-1001-C1', amount: '20.00', final: true })
   */
  capture(capture: NewCapture, options?: CallOptions): Promise<CaptureAnswer>

  /**
   * Releases what is authorized and not captured. Without a capture, the order becomes `failed`.
   *
   * @example
   * await tillgate.orders.release(paymentId)
   */
  release(paymentId: string, options?: CallOptions): Promise<ReleaseAnswer>

  /**
   * Charges the wallet whose code the consumer shows. `pending` waits for the consumer's confirmation. The same
   * `orderNo` returns the existing order, with any code, so repeating is safe.
   *
   * @example
   * const { paymentId } = await tillgate.orders.scan({ code, orderNo: 'A-1001', amount: '4.20', currency: 'EUR' })
   * const { paymentStatus } = await tillgate.orders.waitUntilFinal(paymentId)
   */
  scan(scan: NewScan, options?: CallOptions): Promise<ScanAnswer>

  /**
   * Queries until the payment has a final status (success, failed, timeout, cancelled), at growing intervals. For a
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
    async scan(scan, options) {
      const data = await call('service.order.scan', () => serialise(scan), options)
      return expectTexts<ScanAnswer>(data, ['paymentId', 'status'])
    },
    async capture(capture, options) {
      const data = await call('service.order.capture', () => serialise(capture), options)
      return expectTexts<CaptureAnswer>(data, ['paymentId', 'transactionId', 'status'])
    },
    async release(paymentId, options) {
      const data = await call('service.order.release', () => serialise({ paymentId }), options)
      return expectTexts<ReleaseAnswer>(data, ['paymentId', 'status'])
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

/** The default of paymentTime, derived once per orderNo, so that a repeated create has the same content. */
class PaymentTimes {
  readonly #times = new Map<string, number>()

  /** Stored until the order has expired. A time computed during a call follows a corrected clock. */
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
