// What the API reference says of each operation beside its schemas: which failures it can answer with, and an answer as
// an example. A test holds the examples against the schemas and against what a gateway really answers.
import { readFileSync } from 'node:fs'
import type { TSchema } from 'typebox'
import type { FailureName } from '../../packages/protocol/src/codes.ts'
import * as answers from '../../packages/protocol/src/messages/answers.ts'
import * as bills from '../../packages/protocol/src/messages/bills.ts'
import * as links from '../../packages/protocol/src/messages/links.ts'
import { orderListAnswerSchema } from '../../packages/protocol/src/messages/order-list.ts'
import type { PaymentResult, RefundResult } from '../../packages/protocol/src/messages/results.ts'
import * as listen from '../../packages/protocol/src/messages/sandbox-listen.ts'
import { sandboxRequestsAnswerSchema } from '../../packages/protocol/src/messages/sandbox-requests.ts'
import type { Method } from '../../packages/protocol/src/methods.ts'

export interface OperationNotes {
  readonly title: string
  /** What to know before calling it, in a sentence or two. */
  readonly about: string
  /** Names of tables in packages/protocol/documentation/tables.ts. */
  readonly bodyTables: readonly string[]
  readonly answerTables: readonly string[]
  readonly answerSchema: TSchema
  /** Names of requests in docs/test-vectors.json. */
  readonly example: string
  readonly exampleAnswer: object
  /** Beside those that every operation shares. */
  readonly failures: readonly FailureName[]
}

/** What can happen before the operation itself is reached, and internal errors. */
export const sharedFailures: readonly FailureName[] = [
  'malformed_envelope',
  'timestamp_outside_window',
  'envelope_not_opened',
  'merchant_suspended',
  'no_such_operation',
  'wrong_verb',
  'too_large',
  'not_json',
  'too_many_requests',
  'internal',
  'unavailable',
]

const { callbacks } = JSON.parse(
  readFileSync(new URL('../../docs/test-vectors.json', import.meta.url), 'utf8'),
) as { callbacks: readonly { name: string; body: string; envelope: { id: string } }[] }

/** What callbacks of the vectors say: the answers tell of the same payment and the same refund. */
function told<Result>(eventName: string): Result & { callbackId: string } {
  const found = callbacks.find(({ name }) => name === eventName)
  if (found === undefined) throw new Error(`there is no callback "${eventName}" in the vectors`)
  return { ...JSON.parse(found.body), callbackId: found.envelope.id }
}

const payment = told<PaymentResult>('payment.order.success')
const refund = told<RefundResult>('payment.refund.success')
const { merchantId, paymentId, referOrderNo, paymentAmount, currency } = payment
const { refundId, referRefundNo, refundAmount } = refund

const link = {
  linkId: 'L01K73ZQ800JZ7V3N4Q5R6S7T8W',
  linkNo: 'donation-2026',
  linkUrl: 'https://pay.example/l/L01K73ZQ800JZ7V3N4Q5R6S7T8W',
  status: 'active',
  title: 'A tree for the park',
  uses: 'many',
  currency: 'EUR',
  leastAmount: 5,
  mostAmount: 500,
  createTime: payment.paymentTime,
  paidCount: 0,
  paidAmount: 0,
  refundedAmount: 0,
}

const queried = {
  status: refund.status,
  transactionId: payment.transactionId,
  msg: '',
  merchantId,
  referOrderNo: referRefundNo,
  payAmount: paymentAmount,
  currency,
  paymentTime: payment.paymentTime,
  paidTime: payment.paidTime,
  paymentId,
  orderNo: referOrderNo,
  paymentStatus: payment.status,
  paymentAmount,
  payMethod: 'wallet',
  refunds: [
    {
      refundId,
      referRefundNo,
      refundAmount,
      status: refund.status,
      refundTime: refund.refundTime,
      completeTime: refund.completeTime,
      transactionId: refund.transactionId,
      msg: '',
    },
  ],
}

export const operations: Readonly<Record<Method, OperationNotes>> = {
  'service.trade.create': {
    title: 'Create a payment order',
    about:
      'Answers the address where the consumer pays. Safe to repeat: the same `orderNo` with the same content is the same order, for ever; with other content it is 40900, and `data.field` names what differs.',
    bodyTables: ['create body', 'order object', 'goods object', 'shipping object'],
    answerTables: ['create answer'],
    answerSchema: answers.createAnswerSchema,
    example: 'create, with every field',
    exampleAnswer: {
      paymentId,
      referOrderNo,
      channel: 'WEB',
      checkoutUrl: `https://pay.example/checkout/${merchantId}/${paymentId}/3q2-7wV1cmVseSBhIHNlY3JldCBvZiB0aGlzIG9yZGV`,
      status: 'pending',
    },
    failures: [
      'invalid_field',
      'amount_does_not_fit_currency',
      'amounts_do_not_add_up',
      'times_out_of_range',
      'url_not_allowed',
      'callback_address_changed_too_often',
      'number_already_used',
    ],
  },
  'service.trade.query': {
    title: 'Query a payment order or a refund',
    about:
      'The truth at this moment. Give exactly one of the three numbers; `orderNo` is for when the answer of create was lost.',
    bodyTables: ['query body'],
    answerTables: ['query answer', 'refund in a query answer'],
    answerSchema: answers.queryAnswerSchema,
    example: 'query by paymentId',
    exampleAnswer: queried,
    failures: ['invalid_field', 'order_not_found'],
  },
  'service.trade.cancel': {
    title: 'Cancel a payment order',
    about:
      'Only while it is `pending`. Safe to repeat. There is no callback: the answer says it. An operator’s cancel is told by `payment.order.failed`.',
    bodyTables: ['cancel body'],
    answerTables: ['cancel answer'],
    answerSchema: answers.cancelAnswerSchema,
    example: 'cancel',
    exampleAnswer: { paymentId, referOrderNo, status: 'cancelled' },
    failures: ['invalid_field', 'order_not_found', 'status_does_not_allow'],
  },
  'service.trade.refund': {
    title: 'Refund a payment',
    about:
      'Wholly or in part, once or several times, never more in all than was paid. The result comes by callback. Safe to repeat by `referRefundNo`.',
    bodyTables: ['refund body'],
    answerTables: ['refund answer'],
    answerSchema: answers.refundAnswerSchema,
    example: 'refund',
    exampleAnswer: {
      refundId,
      paymentId,
      referRefundNo,
      refundAmount,
      currency,
      status: 'refunding',
    },
    failures: [
      'invalid_field',
      'amount_does_not_fit_currency',
      'order_not_found',
      'number_already_used',
      'status_does_not_allow',
      'more_than_left_to_refund',
    ],
  },
  'service.trade.callback': {
    title: 'Send an order’s callbacks again',
    about: 'For when your listener lost them. It uses up none of the regular attempts.',
    bodyTables: ['callback body'],
    answerTables: ['callback answer'],
    answerSchema: answers.callbackAnswerSchema,
    example: 'callback (send again)',
    exampleAnswer: { paymentId, queued: 2 },
    failures: ['invalid_field', 'order_not_found'],
  },
  'service.order.list': {
    title: 'List payment orders',
    about:
      'Newest first, each as query answers it. Send the `cursor` of an answer for the orders that follow; without one the list has ended. Every order that you had created before the first page is listed exactly once, whatever is created meanwhile. With `status`, a page can have fewer orders than `limit`, or none, and still a `cursor`: a page looks through 5,000 orders at most.',
    bodyTables: ['order list body'],
    answerTables: ['order list answer'],
    answerSchema: orderListAnswerSchema,
    example: 'order list',
    exampleAnswer: { orders: [queried], cursor: paymentId },
    failures: ['invalid_field'],
  },
  'service.bill.get': {
    title: 'Read a day’s bill',
    about:
      'From a quarter past midnight UTC on, for the day before and any day before that; while the bill is still being made it is 50300. A bill never changes.',
    bodyTables: ['bill body'],
    answerTables: ['bill answer', 'totals of a bill'],
    answerSchema: bills.billAnswerSchema,
    example: 'bill',
    exampleAnswer: {
      date: '2025-10-09',
      totals: [
        {
          currency,
          opening: 0,
          late: 0,
          payments: paymentAmount,
          refunds: -Number(refundAmount),
          fees: 0,
          payouts: 0,
          corrections: 0,
          closing: Number(paymentAmount) - Number(refundAmount),
        },
      ],
      lineCount: 2,
      byteCount: 451,
      sha256: '6d7d2f5b9a0c1e384756acbd0f1e2d3c4b5a69788796a5b4c3d2e1f009182736',
      downloadUrl: `https://pay.example/bills/${merchantId}/2025-10-09/1760055600000/3q2-7wV1cmVseSBhIHNlY3JldCBvZiB0aGlzIG9yZGV`,
      downloadExpiryTime: 1760055600000,
    },
    failures: ['invalid_field', 'times_out_of_range'],
  },
  'service.link.create': {
    title: 'Create a payment link',
    about:
      'Answers the address of a page, with a QR code, where consumers pay: a fixed amount, or one that they say; once, or any number of times. Each payment is an order like any other, whose `orderNo` begins with the `linkId`. Safe to repeat: the same `linkNo` with the same content is the same link; with other content it is 40900.',
    bodyTables: ['link create body'],
    answerTables: ['link answer'],
    answerSchema: links.linkAnswerSchema,
    example: 'link create',
    exampleAnswer: link,
    failures: [
      'invalid_field',
      'amount_does_not_fit_currency',
      'amounts_do_not_add_up',
      'times_out_of_range',
      'url_not_allowed',
      'callback_address_changed_too_often',
      'number_already_used',
    ],
  },
  'service.link.query': {
    title: 'Query a payment link',
    about: 'What came of it: how many paid, how much, and its newest orders.',
    bodyTables: ['link query body'],
    answerTables: ['link query answer', 'order of a link'],
    answerSchema: links.linkQueryAnswerSchema,
    example: 'link query',
    exampleAnswer: {
      ...link,
      paidCount: 1,
      paidAmount: 25,
      orders: [
        {
          paymentId,
          orderNo: `${link.linkId}-7Q3V9K2M4X8TDN5B`,
          status: 'success',
          paymentAmount: 25,
          refundedAmount: 0,
          createTime: payment.paymentTime,
          paidTime: payment.paidTime,
        },
      ],
    },
    failures: ['invalid_field', 'order_not_found'],
  },
  'service.link.close': {
    title: 'Close a payment link',
    about:
      'For ever: no payment begins there any more. One that has begun can still be paid until its own expiry. Closing a closed link answers success.',
    bodyTables: ['link close body'],
    answerTables: [],
    answerSchema: links.linkAnswerSchema,
    example: 'link close',
    exampleAnswer: { ...link, status: 'closed' },
    failures: ['invalid_field', 'order_not_found'],
  },
  'service.sandbox.pay': {
    title: 'Pay as a test consumer',
    about: 'What a tap on a test wallet does, without a browser.',
    bodyTables: ['sandbox pay body'],
    answerTables: ['sandbox answer'],
    answerSchema: answers.sandboxAnswerSchema,
    example: 'sandbox pay',
    exampleAnswer: { paymentId, status: 'confirming' },
    failures: ['invalid_field', 'order_not_found', 'status_does_not_allow'],
  },
  'service.sandbox.advance': {
    title: 'Let time pass for one order',
    about:
      'Its expiry and its callbacks’ attempts move into the past; what you said of it stays, and no other order notices.',
    bodyTables: ['sandbox advance body'],
    answerTables: ['sandbox answer'],
    answerSchema: answers.sandboxAnswerSchema,
    example: 'sandbox advance',
    exampleAnswer: { paymentId, status: 'timeout' },
    failures: ['invalid_field', 'order_not_found'],
  },
  'service.sandbox.listen': {
    title: 'Take callbacks over this connection',
    about: 'For a program that no callback can reach. `till listen` is built on it.',
    bodyTables: ['sandbox listen body'],
    answerTables: ['sandbox listen answer', 'listened callback'],
    answerSchema: listen.sandboxListenAnswerSchema,
    example: 'sandbox listen',
    exampleAnswer: { callbacks: [], after: 'eyJhdCI6MTc2MDAwMDAwMDAwMH0' },
    failures: ['invalid_field'],
  },
  'service.sandbox.acknowledge': {
    title: 'Acknowledge a callback that was listened to',
    about: 'The callback counts as delivered, with an attempt in its history that says so.',
    bodyTables: ['sandbox acknowledge body'],
    answerTables: ['sandbox acknowledge answer'],
    answerSchema: listen.sandboxAcknowledgeAnswerSchema,
    example: 'sandbox acknowledge',
    exampleAnswer: { callbackId: payment.callbackId, state: 'delivered' },
    failures: ['invalid_field', 'order_not_found'],
  },
  'service.sandbox.requests': {
    title: 'List refused and slow requests',
    about:
      'Your own of the last 7 days, by the `requestId` of their answers: what each asked for and what was said. `till logs` is built on it.',
    bodyTables: ['sandbox requests body'],
    answerTables: ['sandbox requests answer', 'logged request'],
    answerSchema: sandboxRequestsAnswerSchema,
    example: 'sandbox requests',
    exampleAnswer: {
      requests: [
        {
          requestId: 'q3JvY2sgYW5kIHJv',
          at: payment.paymentTime,
          method: 'service.trade.create',
          httpStatus: 400,
          code: 40001,
          field: 'currency',
          msg: 'currency must be an ISO 4217 code in capital letters, but was "eur".',
          durationMs: 4,
        },
      ],
    },
    failures: ['invalid_field'],
  },
}
