// Calls a rail as the gateway does and judges each response: in time, HTTP 200, valid form. Signatures are collected
// for a separate check, so that a missing one does not hide other violations.
import {
  type CaptureMessage,
  type CaptureMessageType,
  captureVersion,
  type DisputeAnswer,
  type DisputeMessage,
  type DisputeMessageType,
  Failure,
  makePaymentId,
  makeRefundId,
  makeTransactionId,
  type NextAction,
  parseDisputeAnswer,
  parseRailCaptureAnswer,
  parseRailPaymentAnswer,
  parseRailRefundAnswer,
  type RailMessageOf,
  type RailMessageType,
  type RailPaymentAnswer,
  type RailRefundAnswer,
  type RailResponseVerdict,
  type RandomBytes,
  signWebhook,
  toDecimalText,
  verifyRailResponse,
} from '@tillgate/protocol'
import type { Clock } from '../../../platform/runtime/clock.ts'

export type RailResponse =
  | {
      readonly kind: 'answered'
      readonly httpStatus: number
      /** Lowercase names. */
      readonly headers: Readonly<Record<string, string>>
      readonly body: Buffer
    }
  | { readonly kind: 'failed'; readonly reason: string }

export interface ProbeParts {
  readonly post: (body: string, headers: Readonly<Record<string, string>>) => Promise<RailResponse>
  readonly secret: string
  readonly clock: Clock
  readonly random: RandomBytes
  readonly signal: AbortSignal
  /** How long a person may take to approve a payment; 0 if no one is there. */
  readonly approvalWithinMs: number
  /** Prompts the person to approve a payment. */
  readonly askForApproval: (payment: { amount: string; currency: string; nextAction: NextAction }) => void
}

/** The rail violates the protocol. */
export class Nonconformance extends Error {
  override readonly name = 'Nonconformance'
}

/** The check could not run; the message explains why. */
export class NotChecked extends Error {
  override readonly name = 'NotChecked'
}

export interface SignedBy {
  readonly secrets?: readonly string[]
  readonly nowMs?: number
  /** Replaces the signed body. */
  readonly sentBody?: string
}

type Start = RailMessageOf<'payment.start'>
type PaymentMessage = RailMessageOf<'payment.start' | 'payment.status' | 'payment.cancel'>
type RefundMessage = RailMessageOf<'refund.start' | 'refund.status'>

const pollMs = 1_000

export class Probe {
  readonly #parts: ProbeParts
  /** The signature verdict of every HTTP 200 so far. */
  readonly verdicts: { readonly type: string; readonly verdict: RailResponseVerdict }[] = []
  slowestMs = 0

  constructor(parts: ProbeParts) {
    this.#parts = parts
  }

  get secret(): string {
    return this.#parts.secret
  }

  makeStart(amountMinor: bigint, currency: string): Start {
    const { clock, random } = this.#parts
    const nowMs = clock.now()
    return {
      type: 'payment.start',
      transactionId: makeTransactionId(nowMs, random),
      paymentId: makePaymentId(nowMs, random),
      merchantId: '100000000000000001',
      merchantName: 'Conformance check',
      orderNo: `check-${nowMs}`,
      description: 'tillgate rail check',
      amount: toDecimalText(amountMinor, currency),
      amountMinor: String(amountMinor),
      currency,
      createdAt: nowMs,
      expiresAt: nowMs + 900_000,
      returnUrl: 'https://gateway.example/checkout/return',
      notifyUrl: 'https://gateway.example/rails/check/notifications',
      locale: 'en',
      channel: 'WEB',
    }
  }

  makeRefund(payment: Start, amountMinor: bigint): RailMessageOf<'refund.start'> {
    const { transactionId, currency } = payment
    return {
      type: 'refund.start',
      refundId: this.freshRefundId(),
      transactionId,
      amount: toDecimalText(amountMinor, currency),
      amountMinor: String(amountMinor),
      currency,
      reason: 'tillgate rail check',
    }
  }

  freshTransactionId(): string {
    return makeTransactionId(this.#parts.clock.now(), this.#parts.random)
  }

  freshRefundId(): string {
    return makeRefundId(this.#parts.clock.now(), this.#parts.random)
  }

  async askPayment(message: PaymentMessage): Promise<RailPaymentAnswer> {
    const { type } = message
    return read(type, await this.#answered(message), (text) => parseRailPaymentAnswer(type, text))
  }

  async askRefund(message: RefundMessage): Promise<RailRefundAnswer> {
    const { type } = message
    return read(type, await this.#answered(message), (text) => parseRailRefundAnswer(type, text))
  }

  /** Undefined if the rail captures nothing. */
  async askCapture<Answer>(
    message: CaptureMessage,
    parse: (text: string) => Answer,
  ): Promise<Answer | undefined> {
    const response = await this.send(message)
    if (response.kind === 'failed') throw new Nonconformance(`${message.type}: ${response.reason}`)
    if (response.httpStatus === 400) return undefined
    if (response.httpStatus === 200) return read(message.type, response.body.toString(), parse)
    throw new Nonconformance(`${message.type} got HTTP ${response.httpStatus}, not 200 or 400`)
  }

  capture(
    transactionId: string,
    amountMinor: bigint,
    given: { currency: string; final: boolean; number: number },
  ) {
    const { currency, final, number } = given
    return this.askCapture(
      {
        type: 'payment.capture',
        version: captureVersion,
        captureId: `${transactionId}C${number}`,
        transactionId,
        amount: toDecimalText(amountMinor, currency),
        amountMinor: String(amountMinor),
        currency,
        final,
      },
      parseRailCaptureAnswer,
    )
  }

  release(transactionId: string): Promise<RailPaymentAnswer | undefined> {
    return this.askCapture({ type: 'payment.release', version: captureVersion, transactionId }, (text) =>
      parseRailPaymentAnswer('payment.release', text),
    )
  }

  /** Undefined if the rail passes on no disputes. */
  async askDispute(message: DisputeMessage): Promise<DisputeAnswer | undefined> {
    const response = await this.send(message)
    if (response.kind === 'failed') throw new Nonconformance(`${message.type}: ${response.reason}`)
    if (response.httpStatus === 400) return undefined
    if (response.httpStatus === 200) return read(message.type, response.body.toString(), parseDisputeAnswer)
    throw new Nonconformance(`${message.type} got HTTP ${response.httpStatus}, not 200 or 400`)
  }

  paymentStatus(transactionId: string): Promise<RailPaymentAnswer> {
    return this.askPayment({ type: 'payment.status', transactionId })
  }

  /** Sends the message with any signature, or unsigned. */
  async send(
    message: { readonly type: string },
    signedBy: SignedBy | 'unsigned' = {},
  ): Promise<RailResponse> {
    const { clock, random, secret, post } = this.#parts
    const body = JSON.stringify(message)
    const by = signedBy === 'unsigned' ? {} : signedBy
    const { secrets = [secret], nowMs = clock.now(), sentBody = body } = by
    const id = `check-${Buffer.from(random(12)).toString('hex')}`
    const startedAtMs = performance.now()
    const response = await post(sentBody, {
      'content-type': 'application/json',
      ...(signedBy !== 'unsigned' && signWebhook({ id, body }, { secrets, nowMs })),
    })
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAtMs)
    if (response.kind === 'answered' && response.httpStatus === 200) {
      const context = { messageId: id, secrets: [secret], nowMs: clock.now() }
      const verdict = verifyRailResponse(response.headers, response.body, context)
      this.verdicts.push({ type: message.type, verdict })
    }
    return response
  }

  /** Waits until the rail reports the payment as paid, or reserved. */
  async untilPaid(
    start: Start,
    answer: RailPaymentAnswer,
    paid: 'approved' | 'authorized' = 'approved',
  ): Promise<void> {
    const { clock, approvalWithinMs, askForApproval, signal } = this.#parts
    if (answer.status === 'pending' && approvalWithinMs > 0)
      askForApproval({ amount: start.amount, currency: start.currency, nextAction: answer.nextAction })
    const deadlineMs = clock.now() + approvalWithinMs
    let { status } = answer
    while ((status === 'pending' || status === 'submitted') && clock.now() < deadlineMs && !signal.aborted) {
      await clock.wait(pollMs, signal)
      status = (await this.paymentStatus(start.transactionId)).status
    }
    if (status === paid) return
    if (status === 'approved') throw new Nonconformance('the payment was taken, not reserved')
    const hint = approvalWithinMs === 0 ? '; --wait allows time to approve it' : ''
    throw new NotChecked(`the payment of ${start.amount} ${start.currency} stayed ${status}${hint}`)
  }

  async #answered(message: PaymentMessage | RefundMessage): Promise<string> {
    const response = await this.send(message)
    if (response.kind === 'failed') throw new Nonconformance(`${message.type}: ${response.reason}`)
    const { httpStatus, body } = response
    if (httpStatus === 200) return body.toString()
    throw new Nonconformance(`${message.type} got HTTP ${httpStatus}, not 200`)
  }
}

function read<Answer>(
  type: RailMessageType | CaptureMessageType | DisputeMessageType,
  text: string,
  parse: (text: string) => Answer,
): Answer {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Nonconformance(`the answer to ${type}: ${error.message}`, { cause: error })
  }
}
