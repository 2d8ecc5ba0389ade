// Medusa's payment sessions as payment orders of the gateway. The session's id is the order's number, so that repeating
// is safe and a callback finds its session; a session whose amount changes gets a new order, numbered behind it.
import type {
  AuthorizePaymentInput,
  AuthorizePaymentOutput,
  CancelPaymentInput,
  CapturePaymentInput,
  DeletePaymentInput,
  GetPaymentStatusInput,
  GetPaymentStatusOutput,
  InitiatePaymentInput,
  InitiatePaymentOutput,
  Logger,
  PaymentProviderOutput,
  PaymentSessionStatus,
  ProviderWebhookPayload,
  RefundPaymentInput,
  RetrievePaymentInput,
  UpdatePaymentInput,
  WebhookActionResult,
} from '@medusajs/framework/types'
import { AbstractPaymentProvider, MedusaError, PaymentActions } from '@medusajs/framework/utils'
import {
  CallbackVerificationError,
  ConflictError,
  type Credentials,
  type OrderStatus,
  type QueryAnswer,
  Tillgate,
  toDecimalText,
  toMinorUnits,
} from '@tillgate/sdk'
import { toAmount } from './amounts.ts'

export interface TillgateOptions {
  /** As the gateway gave them out; or the path of the file that a sandbox writes. */
  readonly credentials: Credentials | string
  /** Where the gateway reaches this Medusa: the origin before /hooks/payment/…. */
  readonly backendUrl: string
  /** Where the consumer comes back to: a page of the storefront, which completes the cart. */
  readonly returnUrl: string
  /** What the checkout calls the order; "Order" when left out. */
  readonly description?: string
  /** For how long a session can be paid, 5 to 1,440 minutes; 60 when left out. */
  readonly expiryMinutes?: number
}

/** What a session keeps. The storefront reads checkoutUrl and sends the consumer there. */
interface SessionData extends Record<string, unknown> {
  readonly session_id: string
  readonly orderNo: string
  readonly paymentId: string
  readonly checkoutUrl: string
  readonly amount: string
  readonly currency: string
  readonly status?: OrderStatus
}

/** A payment is captured by being paid: there is nothing between. */
const statuses: Readonly<Record<OrderStatus, PaymentSessionStatus>> = {
  pending: 'pending',
  confirming: 'pending',
  success: 'captured',
  failed: 'error',
  timeout: 'canceled',
  cancelled: 'canceled',
}

const actions: Readonly<Record<OrderStatus, WebhookActionResult['action']>> = {
  pending: PaymentActions.PENDING,
  confirming: PaymentActions.PENDING,
  success: PaymentActions.SUCCESSFUL,
  failed: PaymentActions.FAILED,
  timeout: PaymentActions.CANCELED,
  cancelled: PaymentActions.CANCELED,
}

const refundWaitMs = 10_000
const numberAlreadyUsed = 40900

export class TillgateProvider extends AbstractPaymentProvider<TillgateOptions> {
  static override identifier = 'tillgate'

  readonly #tillgate: Tillgate
  readonly #options: TillgateOptions
  readonly #log: Logger

  static override validateOptions(options: Partial<TillgateOptions>): void {
    for (const name of ['credentials', 'backendUrl', 'returnUrl'] as const)
      if (!options[name]) throw new Error(`The option ${name} of @tillgate/medusa is missing.`)
  }

  constructor(cradle: { logger: Logger }, options: TillgateOptions) {
    super(cradle as unknown as Record<string, unknown>, options)
    const { credentials } = options
    this.#tillgate =
      typeof credentials === 'string' ? Tillgate.fromFile(credentials) : new Tillgate(credentials)
    this.#options = options
    this.#log = cradle.logger
  }

  async initiatePayment({
    amount,
    currency_code,
    data,
    context,
  }: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    // Of what the storefront sent along, the session's id alone is Medusa's own.
    const sessionId = String(data?.['session_id'] ?? context?.idempotency_key ?? '')
    if (!sessionId) throw new MedusaError(MedusaError.Types.INVALID_DATA, 'The payment session has no id.')
    const currency = currency_code.toUpperCase()
    const session = await this.#createOrder(sessionId, 1, toAmount(amount, currency), currency)
    return { id: session.paymentId, status: 'pending', data: session }
  }

  async updatePayment({ amount, currency_code, data }: UpdatePaymentInput): Promise<PaymentProviderOutput> {
    const session = sessionOf(data)
    const currency = currency_code.toUpperCase()
    const wanted = toAmount(amount, currency)
    if (wanted === session.amount && currency === session.currency) return { data: session }
    // Paid meanwhile: then the gateway refuses, and the amount stays what was paid.
    await this.deletePayment({ data: session })
    const [, times = '1'] = /\.(\d+)$/.exec(session.orderNo) ?? []
    return { data: await this.#createOrder(session.session_id, Number(times) + 1, wanted, currency) }
  }

  async authorizePayment({ data }: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    return this.getPaymentStatus({ data: data ?? {} })
  }

  async getPaymentStatus({ data }: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    const session = sessionOf(data)
    const { paymentStatus } = await this.#query(session)
    return { status: statuses[paymentStatus], data: { ...session, status: paymentStatus } }
  }

  async capturePayment({ data }: CapturePaymentInput): Promise<PaymentProviderOutput> {
    const session = sessionOf(data)
    const { paymentStatus } = await this.#query(session)
    if (paymentStatus !== 'success')
      throw new MedusaError(
        MedusaError.Types.NOT_ALLOWED,
        `The payment is ${paymentStatus}: it cannot be captured.`,
      )
    return { data: { ...session, status: paymentStatus } }
  }

  async retrievePayment({ data }: RetrievePaymentInput): Promise<PaymentProviderOutput> {
    return { data: { ...(await this.#query(sessionOf(data))) } }
  }

  /** Any number of them, in part or whole. The id of Medusa's refund is its number: the same one is never paid twice. */
  async refundPayment({ amount, data, context }: RefundPaymentInput): Promise<PaymentProviderOutput> {
    const session = sessionOf(data)
    const referRefundNo = context?.idempotency_key
    if (!referRefundNo) throw new MedusaError(MedusaError.Types.INVALID_DATA, 'The refund has no id.')
    await this.#refund(session, referRefundNo, toAmount(amount, session.currency))
    return { data: session }
  }

  /** Not paid: cancelled. Paid, and Medusa could not make an order of it: the money goes back. */
  async cancelPayment({ data }: CancelPaymentInput): Promise<PaymentProviderOutput> {
    const session = sessionOf(data)
    const { paymentStatus, refunds } = await this.#query(session)
    if (paymentStatus === 'success') {
      const minor = (value: string | number) => toMinorUnits(value, session.currency, 'amount')
      const back = refunds
        .filter(({ status }) => status !== 'refund_failed')
        .reduce((sum, each) => sum + minor(each.refundAmount), 0n)
      const left = minor(session.amount) - back
      // One that failed keeps its number; what is refunded anew needs another.
      const number = `${session.orderNo}-cancel`
      const tries = refunds.filter(({ referRefundNo }) => referRefundNo.startsWith(number)).length
      const referRefundNo = tries === 0 ? number : `${number}.${tries + 1}`
      if (left > 0n) await this.#refund(session, referRefundNo, toDecimalText(left, session.currency))
      return { data: { ...session, status: paymentStatus } }
    }
    return this.deletePayment({ data: session })
  }

  /** A session that is replaced or given up. One that was paid stays: Medusa is told so. */
  async deletePayment({ data }: DeletePaymentInput): Promise<PaymentProviderOutput> {
    const session = sessionOf(data)
    try {
      await this.#tillgate.orders.cancel(session.paymentId)
    } catch (error) {
      const { paymentStatus } =
        error instanceof ConflictError ? await this.#query(session) : { paymentStatus: undefined }
      if (paymentStatus !== 'failed' && paymentStatus !== 'timeout') throw error
    }
    return { data: { ...session, status: 'cancelled' } }
  }

  /** Nothing of a callback counts before its signature was verified; what is not the gateway's does nothing. */
  async getWebhookActionAndData({
    rawData,
    data,
  }: ProviderWebhookPayload['payload']): Promise<WebhookActionResult> {
    try {
      const event = await this.#tillgate.callbacks.unwrap(rawData ?? data)
      if (event.kind !== 'order') return { action: PaymentActions.NOT_SUPPORTED }
      const { status, referOrderNo, paymentAmount } = event.result
      const session_id = referOrderNo.replace(/\.\d+$/, '')
      return { action: actions[status], data: { session_id, amount: Number(paymentAmount) } }
    } catch (error) {
      if (!(error instanceof CallbackVerificationError)) throw error
      this.#log.warn(`A callback was refused: ${error.message}`)
      return { action: PaymentActions.NOT_SUPPORTED }
    }
  }

  /** A number that is taken is of an order whose answer was lost: nobody knows it, so it is cancelled, and the next is taken. */
  async #createOrder(
    sessionId: string,
    times: number,
    amount: string,
    currency: string,
  ): Promise<SessionData> {
    const orderNo = times === 1 ? sessionId : `${sessionId}.${times}`
    try {
      return await this.#createNumbered(sessionId, orderNo, amount, currency)
    } catch (error) {
      if (!(error instanceof ConflictError && error.code === numberAlreadyUsed)) throw error
      const { paymentId } = await this.#tillgate.orders.query({ orderNo })
      await this.deletePayment({ data: { session_id: sessionId, paymentId } })
      return this.#createOrder(sessionId, times + 1, amount, currency)
    }
  }

  async #createNumbered(
    sessionId: string,
    orderNo: string,
    amount: string,
    currency: string,
  ): Promise<SessionData> {
    const { backendUrl, returnUrl, description = 'Order', expiryMinutes = 60 } = this.#options
    const paymentTime = Date.now()
    const { paymentId, checkoutUrl } = await this.#tillgate.orders.create({
      order: {
        orderNo,
        orderAmount: amount,
        goods: [{ referenceGoodsId: sessionId, goodsName: description, goodsAmount: amount }],
      },
      paymentAmount: amount,
      currency,
      paymentTime,
      paymentExpiryTime: paymentTime + expiryMinutes * 60_000,
      callbackUrl: `${backendUrl.replace(/\/+$/, '')}/hooks/payment/tillgate_tillgate`,
      redirectUrl: returnUrl,
    })
    return { session_id: sessionId, orderNo, paymentId, checkoutUrl, amount, currency }
  }

  async #query(session: SessionData): Promise<QueryAnswer> {
    const order = await this.#tillgate.orders.query(session.paymentId)
    // What a session keeps must be about its own order, whatever wrote it.
    if (!order.orderNo.startsWith(session.session_id))
      throw new MedusaError(MedusaError.Types.INVALID_DATA, 'The payment belongs to another session.')
    return order
  }

  async #refund({ paymentId }: SessionData, referRefundNo: string, refundAmount: string): Promise<void> {
    const { refundId } = await this.#tillgate.refunds.create({ paymentId, referRefundNo, refundAmount })
    // Most end within a second. One that takes longer goes on; one that failed is told, so that Medusa drops it.
    const ended = await this.#tillgate.refunds
      .waitUntilFinal(refundId, { timeoutMs: refundWaitMs })
      .catch(() => undefined)
    if (ended?.status === 'refund_failed')
      throw new MedusaError(MedusaError.Types.NOT_ALLOWED, `The refund failed: ${ended.msg}`)
  }
}

function sessionOf(data: Record<string, unknown> | undefined): SessionData {
  if (typeof data?.['paymentId'] !== 'string' || typeof data['session_id'] !== 'string')
    throw new MedusaError(
      MedusaError.Types.INVALID_DATA,
      'The payment session has no payment of the gateway.',
    )
  return data as SessionData
}
