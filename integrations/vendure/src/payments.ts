// Vendure's payments as payment orders of the gateway. Whatever says that a payment moved (a callback, the consumer who
// is back, an administrator), the gateway is asked, and its answer alone counts. All that changes an order's payments
// holds a lock on the order, so that nothing is settled or refunded twice.
import { randomUUID } from 'node:crypto'
import { Inject, Injectable } from '@nestjs/common'
import {
  type CallbackEvent,
  ConflictError,
  isFinalOrderStatus,
  type OrderStatus,
  type RefundResult,
  Tillgate,
} from '@tillgate/sdk'
import {
  type CancelPaymentErrorResult,
  type CancelPaymentResult,
  ConfigService,
  type CreatePaymentErrorResult,
  type CreatePaymentResult,
  type CreateRefundResult,
  type ID,
  isGraphQlErrorResult,
  Logger,
  Order,
  OrderService,
  Payment,
  type PaymentState,
  Refund,
  type RequestContext,
  RequestContextService,
  type SettlePaymentErrorResult,
  type SettlePaymentResult,
  TransactionalConnection,
  totalCoveredByPayments,
  UserInputError,
} from '@vendure/core'
import { toAmount } from './amounts.ts'
import { type TillgateOptions, tillgateOptions } from './options.ts'
import { awaitingPayment, reasonOf } from './states.ts'

const logName = 'TillgatePlugin'
const refundWaitMs = 8_000
const numberUsed = 40900

/** What a payment becomes that was not paid. */
const unpaid: Readonly<Record<Exclude<OrderStatus, 'success'>, Exclude<PaymentState, 'Settled'>>> = {
  pending: awaitingPayment,
  confirming: awaitingPayment,
  failed: 'Declined',
  timeout: 'Cancelled',
  cancelled: 'Cancelled',
}

@Injectable()
export class TillgatePayments {
  readonly tillgate: Tillgate
  readonly #options: TillgateOptions
  readonly #connection: TransactionalConnection
  readonly #orders: OrderService
  readonly #contexts: RequestContextService
  readonly #precision: number

  constructor(
    @Inject(tillgateOptions) options: TillgateOptions,
    @Inject(TransactionalConnection) connection: TransactionalConnection,
    @Inject(OrderService) orders: OrderService,
    @Inject(RequestContextService) contexts: RequestContextService,
    @Inject(ConfigService) config: ConfigService,
  ) {
    const { credentials } = options
    this.tillgate =
      typeof credentials === 'string' ? Tillgate.fromFile(credentials) : new Tillgate(credentials)
    this.#options = options
    this.#connection = connection
    this.#orders = orders
    this.#contexts = contexts
    this.#precision = config.entityOptions.moneyStrategy.precision ?? 2
  }

  /** One payment at a time: what waits already is cancelled, and its amount is due again. */
  async create(ctx: RequestContext, order: Order): Promise<CreatePaymentResult | CreatePaymentErrorResult> {
    for (const payment of await this.#lockPayments(ctx, order.id)) {
      if (payment.state !== awaitingPayment) continue
      const cancelled = await this.#orders.cancelPayment(ctx, payment.id)
      if (isGraphQlErrorResult(cancelled))
        return { amount: 0, state: 'Error', errorMessage: reasonOf(cancelled) }
    }
    order.payments = await this.#orders.getOrderPayments(ctx, order.id)
    const amount = order.totalWithTax - totalCoveredByPayments(order)
    try {
      const { paymentId, checkoutUrl } = await this.#createOrder(order, amount)
      return {
        amount,
        state: awaitingPayment,
        transactionId: paymentId,
        metadata: { public: { checkoutUrl } },
      }
    } catch (error) {
      Logger.error(`The payment of order ${order.code} was not begun: ${error}`, logName)
      // Consumers read this: what is wrong with the shop stays in its log.
      return { amount, state: 'Error', errorMessage: 'The payment could not be begun.' }
    }
  }

  async settle(
    ctx: RequestContext,
    order: Order,
    payment: Payment,
  ): Promise<SettlePaymentResult | SettlePaymentErrorResult> {
    await this.#refresh(ctx, order, payment)
    if (payment.state === 'Settled') return { success: true }
    if (payment.state !== awaitingPayment) return { success: false, state: payment.state }
    const { paymentStatus, msg } = await this.tillgate.orders.query(payment.transactionId)
    if (paymentStatus !== 'success')
      return {
        success: false,
        state: unpaid[paymentStatus],
        errorMessage: msg || `The payment is ${paymentStatus}.`,
      }
    // What was said while it waited is over.
    payment.errorMessage = ''
    return { success: true }
  }

  async cancel(
    ctx: RequestContext,
    order: Order,
    payment: Payment,
  ): Promise<CancelPaymentResult | CancelPaymentErrorResult> {
    await this.#refresh(ctx, order, payment)
    if (payment.state === 'Settled')
      return { success: false, state: 'Settled', errorMessage: 'The payment is settled: refund it.' }
    if (payment.state !== awaitingPayment) return { success: true }
    try {
      await this.tillgate.orders.cancel(payment.transactionId)
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      const { paymentStatus } = await this.tillgate.orders.query(payment.transactionId)
      if (paymentStatus === 'success' || paymentStatus === 'confirming')
        return {
          success: false,
          state: awaitingPayment,
          errorMessage: paymentStatus === 'success' ? 'The payment is made.' : 'The payment is being made.',
        }
    }
    return { success: true }
  }

  /**
   * Any number of them, in part or whole. Numbered by how many there are, so that one whose answer was lost is not paid
   * again when it is repeated.
   */
  async refund(
    ctx: RequestContext,
    {
      order,
      payment,
      amount,
      reason,
    }: { order: Order; payment: Payment; amount: number; reason?: string | null | undefined },
  ): Promise<CreateRefundResult> {
    await this.#lockPayments(ctx, order.id)
    const made = await this.#connection.getRepository(ctx, Refund).countBy({ payment: { id: payment.id } })
    const paymentId = payment.transactionId
    const referRefundNo = `${paymentId}-${made + 1}`
    const refundAmount = this.#toAmount(amount, order)
    try {
      const { refundId } = await this.tillgate.refunds.create({
        paymentId,
        referRefundNo,
        refundAmount,
        ...(reason && { refundReason: reason }),
      })
      // Most end within a second. The callback tells of one that takes longer.
      const ended = await this.tillgate.refunds
        .waitUntilFinal(refundId, { timeoutMs: refundWaitMs })
        .catch(() => undefined)
      return { state: refundState(ended?.status), transactionId: refundId, metadata: { message: ended?.msg } }
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      if (error.code !== numberUsed) return { state: 'Failed', metadata: { message: error.message } }
      const { refunds } = await this.tillgate.orders.query(paymentId)
      const lost = refunds.find((each) => each.referRefundNo === referRefundNo)
      throw new UserInputError(
        `The gateway has a refund of ${lost?.refundAmount} whose answer was lost. Ask for the same amount and reason first: it is not paid again.`,
      )
    }
  }

  /** A callback that was verified. One that is not for a payment of this shop is acknowledged and does nothing. */
  async take(event: CallbackEvent): Promise<void> {
    if (event.kind === 'order' && isFinalOrderStatus(event.result.status))
      await this.follow(event.result.paymentId)
    if (event.kind === 'refund') await this.#endRefund(event.result)
  }

  /** The order's code, after its payment became what it is at the gateway. */
  async follow(paymentId: string): Promise<string | undefined> {
    return this.#inOrderOf(paymentId, async (ctx, payment) => {
      const settled = await this.#orders.settlePayment(ctx, payment.id)
      if (isGraphQlErrorResult(settled))
        Logger.info(`Payment ${paymentId} was not settled: ${reasonOf(settled)}`, logName)
      return payment.order.code
    })
  }

  async #endRefund({ refundId, paymentId, status, msg }: RefundResult): Promise<void> {
    await this.#inOrderOf(paymentId, async (ctx, { order }) => {
      // Made a moment ago, and not committed yet: the lock waits for it.
      await this.#lockPayments(ctx, order.id)
      const refund = await this.#connection
        .getRepository(ctx, Refund)
        .findOneBy({ transactionId: refundId, state: 'Pending' })
      if (!refund) return
      if (status === 'refund_failed') Logger.warn(`Refund ${refundId} failed: ${msg}`, logName)
      await this.#orders.transitionRefundToState(ctx, refund.id, refundState(status))
    })
  }

  /** In one transaction, in the channel that the order is of. */
  async #inOrderOf<Result>(
    paymentId: string,
    work: (ctx: RequestContext, payment: Payment) => Promise<Result>,
  ): Promise<Result | undefined> {
    const payment = await this.#connection.rawConnection.getRepository(Payment).findOne({
      where: { transactionId: paymentId },
      relations: { order: { channels: true } },
    })
    if (!payment) {
      Logger.warn(`No payment of this shop is ${paymentId}.`, logName)
      return undefined
    }
    // Every order is in the default channel, and in the one it was made in.
    const { channels } = payment.order
    const channel = channels.find(({ code }) => code !== '__default_channel__') ?? channels[0]
    const ctx = await this.#contexts.create({
      apiType: 'admin',
      ...(channel && { channelOrToken: channel.token }),
    })
    return this.#connection.withTransaction(ctx, (inTransaction) => work(inTransaction, payment))
  }

  async #createOrder(order: Order, value: number): Promise<{ paymentId: string; checkoutUrl: string }> {
    const { vendureUrl, description = 'Order', expiryMinutes = 60 } = this.#options
    const amount = this.#toAmount(value, order)
    const here = `${vendureUrl.replace(/\/+$/, '')}/payments/tillgate`
    const paymentTime = Date.now()
    return this.tillgate.orders.create({
      order: {
        // Never used again: what a rollback makes Vendure forget, nobody has seen and nobody can pay.
        orderNo: `${order.code}-${randomUUID().slice(0, 8)}`,
        orderAmount: amount,
        goods: [{ referenceGoodsId: order.code, goodsName: description, goodsAmount: amount }],
      },
      paymentAmount: amount,
      currency: order.currencyCode,
      paymentTime,
      paymentExpiryTime: paymentTime + expiryMinutes * 60_000,
      callbackUrl: here,
      redirectUrl: here,
    })
  }

  #toAmount(value: number, { currencyCode }: Order): string {
    return toAmount(value, this.#precision, currencyCode)
  }

  /** Vendure read the payment before the lock: somebody may have moved it since. */
  async #refresh(ctx: RequestContext, order: Order, payment: Payment): Promise<void> {
    const payments = await this.#lockPayments(ctx, order.id)
    payment.state = payments.find(({ id }) => id === payment.id)?.state ?? payment.state
  }

  /** The order's payments as they are; nobody else changes them until the transaction ends. */
  async #lockPayments(ctx: RequestContext, orderId: ID): Promise<Payment[]> {
    // SQLite has one writer at a time and no locks on rows.
    const hasLocks = !/sqlite|sqljs/.test(this.#connection.rawConnection.options.type)
    const orders = this.#connection.getRepository(ctx, Order).createQueryBuilder('locked')
    const order = orders.select('locked.id').where('locked.id = :orderId', { orderId })
    const payments = this.#connection.getRepository(ctx, Payment).createQueryBuilder('payment')
    payments.where('payment.orderId = :orderId', { orderId })
    for (const query of hasLocks ? [order, payments] : []) query.setLock('pessimistic_write')
    await order.getOne()
    return payments.getMany()
  }
}

function refundState(status: string | undefined): 'Settled' | 'Failed' | 'Pending' {
  if (status === 'refund_success') return 'Settled'
  return status === 'refund_failed' ? 'Failed' : 'Pending'
}
