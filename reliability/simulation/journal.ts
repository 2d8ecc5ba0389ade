// What people were told. It knows nothing of the database: at the end both are compared, and whatever was acknowledged
// must be there, once, and as it was told.
import { isFinalOrderStatus, type OrderStatus } from '@tillgate/protocol'

export interface ToldOrder {
  readonly merchantId: string
  readonly orderNo: string
  readonly paymentId: string
  readonly amountMinor: bigint
  status: OrderStatus
  /** The transaction of a payment that was told as submitted. */
  transactionId?: string
}

export interface ToldRefund {
  readonly merchantId: string
  readonly paymentId: string
  readonly referRefundNo: string
  readonly refundId: string
  readonly amountMinor: bigint
}

export interface ToldCapture {
  readonly merchantId: string
  readonly paymentId: string
  readonly referCaptureNo: string
  readonly transactionId: string
  readonly amountMinor: bigint
}

export interface ToldScan {
  readonly code: string
  readonly paymentId: string
  /** Made before. */
  readonly shownAtMs: number
}

export class Journal {
  readonly orders = new Map<string, ToldOrder>()
  readonly refunds = new Map<string, ToldRefund>()
  readonly captures = new Map<string, ToldCapture>()
  readonly scans: ToldScan[] = []
  readonly payouts: { readonly idempotencyKey: string; readonly amountMinor: bigint }[] = []
  readonly withdrawals: { readonly formNumber: string; readonly amountMinor: bigint }[] = []
  /** Undefined: of fees, all that there were. */
  readonly ownMoney: { readonly idempotencyKey: string; readonly amountMinor: bigint | undefined }[] = []
  readonly corrections: { readonly idempotencyKey: string; readonly amountMinor: bigint }[] = []
  /** What somebody was told that contradicts what was told before. */
  readonly contradictions: string[] = []
  /** Answers that were of the state before, where such may be. */
  readonly lagging: string[] = []
  readonly #mayLag: boolean

  constructor({ mayLag = false } = {}) {
    this.#mayLag = mayLag
  }

  created(told: ToldOrder): void {
    const before = this.orders.get(`${told.merchantId} ${told.orderNo}`)
    if (!before) this.orders.set(`${told.merchantId} ${told.orderNo}`, told)
    else if (before.paymentId !== told.paymentId)
      this.contradictions.push(`${told.orderNo} was answered as ${before.paymentId} and as ${told.paymentId}`)
  }

  /** `before` is what was known when the question was asked: answers to two questions may overtake each other. */
  answered(order: ToldOrder, before: OrderStatus, status: OrderStatus): void {
    // No state before is final: another end than was told is wrong everywhere.
    const unlike = this.#mayLag && !isFinalOrderStatus(status) ? this.lagging : this.contradictions
    if (isFinalOrderStatus(before) && status !== before)
      unlike.push(`${order.orderNo} was told as ${before}, which is final, and then as ${status}`)
    if (before === 'confirming' && !['confirming', 'success', 'failed'].includes(status))
      unlike.push(`${order.orderNo} was being paid, and then was ${status}`)
    if (!isFinalOrderStatus(order.status) && status !== 'pending') order.status = status
  }

  submitted(order: ToldOrder, transactionId: string): void {
    if (order.transactionId !== undefined && order.transactionId !== transactionId)
      this.contradictions.push(
        `${order.orderNo} was submitted as ${order.transactionId} and as ${transactionId}`,
      )
    order.transactionId = transactionId
    if (order.status === 'pending') order.status = 'confirming'
    else if (order.status === 'timeout' || order.status === 'cancelled')
      this.contradictions.push(`${order.orderNo} was ${order.status}, and yet a payment was submitted`)
  }

  captured(told: ToldCapture): void {
    const before = this.captures.get(`${told.paymentId} ${told.referCaptureNo}`)
    if (!before) this.captures.set(`${told.paymentId} ${told.referCaptureNo}`, told)
    else if (before.transactionId !== told.transactionId)
      this.contradictions.push(
        `${told.referCaptureNo} was answered as ${before.transactionId} and as ${told.transactionId}`,
      )
  }

  scanned(told: ToldScan): void {
    this.scans.push(told)
  }

  refunded(told: ToldRefund): void {
    const before = this.refunds.get(`${told.merchantId} ${told.referRefundNo}`)
    if (!before) this.refunds.set(`${told.merchantId} ${told.referRefundNo}`, told)
    else if (before.refundId !== told.refundId)
      this.contradictions.push(
        `${told.referRefundNo} was answered as ${before.refundId} and as ${told.refundId}`,
      )
  }
}
