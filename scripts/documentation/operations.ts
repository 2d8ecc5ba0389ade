// What the API reference says about each operation beyond its schemas: its purpose, its rules, the errors that it can
// return, and an example response. A test compares the examples with the schemas and with the responses of a gateway.
import { readFileSync } from 'node:fs'
import type { TSchema } from 'typebox'
import type { FailureName } from '../../packages/protocol/src/codes.ts'
import * as answers from '../../packages/protocol/src/messages/answers.ts'
import * as bills from '../../packages/protocol/src/messages/bills.ts'
import * as captures from '../../packages/protocol/src/messages/captures.ts'
import * as links from '../../packages/protocol/src/messages/links.ts'
import { orderListAnswerSchema } from '../../packages/protocol/src/messages/order-list.ts'
import type { PaymentResult, RefundResult } from '../../packages/protocol/src/messages/results.ts'
import * as listen from '../../packages/protocol/src/messages/sandbox-listen.ts'
import { sandboxRequestsAnswerSchema } from '../../packages/protocol/src/messages/sandbox-requests.ts'
import { scanAnswerSchema } from '../../packages/protocol/src/messages/scans.ts'
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
  /** What a caller must know beyond the fields, one sentence or two each. */
  readonly rules?: readonly string[]
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

const held = {
  paymentId,
  referOrderNo,
  status: payment.status,
  currency,
  authorizedAmount: paymentAmount,
  capturedAmount: 20,
  remainingAmount: 0,
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
    about: 'Create an order and get the `checkoutUrl` to which you redirect the consumer.',
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
    rules: [
      '**Retries are safe**, without a time limit. The same `orderNo` with the same content returns the stored order with its current status. Different content returns 40900, and `data.field` names the first field that differs.',
      '**The content is compared by value**: `12.5` equals `"12.50"`, an omitted `goodsQuantity` equals 1, and `null`, `""` and omitted are equal. Key order and unknown fields do not count. `paymentTime` and `paymentExpiryTime` do, so store both with the order that you may repeat.',
      '**Expiry**: `paymentExpiryTime` is 300,000 to 86,400,000 ms after `paymentTime`, both ends included, and in the future. At that millisecond, the order becomes `timeout`.',
      '**URLs**: in live mode, `callbackUrl` is `https` on port 443 at a public address. `redirectUrl` and `cancelUrl` may be any `https` address, or with `channel` `APP` the scheme of your app. The sandbox also accepts `http` and other ports.',
      '**Sums**: `orderAmount` equals the sum of amount × quantity if every good has an amount; `totalTax` likewise. `paymentAmount` is not tied to a sum.',
    ],
  },
  'service.trade.query': {
    title: 'Query an order or a refund',
    about: 'Get the current status of an order and its refunds. Send exactly one of the three numbers.',
    bodyTables: ['query body'],
    answerTables: [
      'query answer',
      'refund in a query answer',
      'authorization object',
      'capture in a query answer',
    ],
    answerSchema: answers.queryAnswerSchema,
    example: 'query by paymentId',
    exampleAnswer: queried,
    failures: ['invalid_field', 'order_not_found'],
    rules: [
      'Use `paymentStatus` to decide whether an order is paid. As soon as a refund exists, `status`, `msg` and `referOrderNo` describe the newest refund, or the one that you queried by `refundId`.',
      '`payAmount`, `transactionId` and `paidTime` always describe the payment. Each refund in `refunds` has its own `transactionId`.',
      'If the response to create was lost, query by `orderNo`.',
    ],
  },
  'service.trade.cancel': {
    title: 'Cancel a payment order',
    about: 'Cancel an order that is still `pending`. The response is final: no callback follows.',
    bodyTables: ['cancel body'],
    answerTables: ['cancel answer'],
    answerSchema: answers.cancelAnswerSchema,
    example: 'cancel',
    exampleAnswer: { paymentId, referOrderNo, status: 'cancelled' },
    failures: ['invalid_field', 'order_not_found', 'status_does_not_allow'],
    rules: [
      'An order that is being paid or is paid returns 40901: wait for the result, then refund. Canceling a `cancelled` order returns success again.',
      'If the operator cancels an order, you receive `payment.order.failed` with status `cancelled` and the reason in `msg`.',
    ],
  },
  'service.trade.refund': {
    title: 'Refund a payment',
    about: 'Refund a paid order fully or in part. The result arrives by callback and can be queried.',
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
    rules: [
      'Several refunds are allowed until the payment is used up. A larger amount returns 40902. An order that is not `success` returns 40901.',
      '**Retries are safe**: the same `referRefundNo` with the same content returns the stored refund. Different content returns 40900.',
      'The money comes from your merchant wallet. Insufficient funds end the refund as `refund_failed`, with the reason in `msg`.',
    ],
  },
  'service.trade.callback': {
    title: 'Resend callbacks',
    about:
      'Resend all callbacks of an order, for example after your listener lost them. A resend uses none of the eight retries.',
    bodyTables: ['callback body'],
    answerTables: ['callback answer'],
    answerSchema: answers.callbackAnswerSchema,
    example: 'callback (send again)',
    exampleAnswer: { paymentId, queued: 2 },
    failures: ['invalid_field', 'order_not_found'],
    rules: [
      'A repeated envelope queues nothing more. A new request for the same callback takes effect after one minute at the earliest.',
    ],
  },
  'service.order.list': {
    title: 'List payment orders',
    about: 'List your orders, newest first, with the fields of query.',
    bodyTables: ['order list body'],
    answerTables: ['order list answer'],
    answerSchema: orderListAnswerSchema,
    example: 'order list',
    exampleAnswer: { orders: [queried], cursor: paymentId },
    failures: ['invalid_field'],
    rules: [
      'To get the next page, send the `cursor` of the response. The list ends when the response has none.',
      '`since` and `until` refer to the time at which the gateway created the order.',
      'Every order that existed before you requested the first page is listed exactly once. An order that is created meanwhile is listed at most once.',
      'With `status`, a page searches at most 5,000 orders, so it can have fewer orders than `limit`, or none, and still a `cursor`.',
    ],
  },
  'service.order.capture': {
    title: 'Capture an authorized order',
    about: 'Take the money of an order with `captureMode` `manual`, in one or several captures.',
    bodyTables: ['capture body'],
    answerTables: ['capture answer'],
    answerSchema: captures.captureAnswerSchema,
    example: 'capture',
    exampleAnswer: {
      ...held,
      referCaptureNo: 'A-1001-C1',
      transactionId: `${payment.transactionId}C1`,
      captureAmount: 20,
      captureStatus: 'captured',
    },
    failures: [
      'invalid_field',
      'amount_does_not_fit_currency',
      'order_not_found',
      'number_already_used',
      'status_does_not_allow',
      'more_than_left_to_capture',
    ],
    rules: [
      '**Authorization**: when the consumer agrees, the order becomes `confirming` and the money is held in the wallet or by the rail. As soon as `authorization.expiresAt` is in the query, you can capture.',
      '**Retries are safe**: the same `referCaptureNo` with the same content returns the stored capture.',
      '**The last capture** takes all that remains or has `final: true`. The rest is released, the order becomes `success`, and you receive `payment.order.success` with the captured sum as `paymentAmount`.',
      'Each capture moves its money at once. Refunds follow the last one. An order has at most 32.',
      '**At the end of the authorization** (7 days, unless the operator of the gateway sets another time), the rest is released. An order without a capture becomes `failed` with `msg` “The authorization expired.”; captured money stays yours, and the order becomes `success`.',
      'The checkout offers the wallet and [rails that can capture](../rails.md#authorize-and-capture).',
    ],
  },
  'service.order.release': {
    title: 'Release an authorization',
    about: 'Give back what is held and not captured, for example when you cannot deliver.',
    bodyTables: ['release body'],
    answerTables: ['release answer'],
    answerSchema: captures.releaseAnswerSchema,
    example: 'release',
    exampleAnswer: { ...held, status: 'failed', capturedAmount: 0 },
    failures: ['invalid_field', 'order_not_found', 'status_does_not_allow'],
    rules: [
      'Without a capture, the order becomes `failed`; after captures, it becomes `success` with the captured sum.',
      '**Retries are safe**: a release of an order that is already captured or released returns its state.',
    ],
  },
  'service.order.scan': {
    title: 'Charge a scanned wallet code',
    about: 'Charge the wallet whose code the consumer shows at your till.',
    bodyTables: ['scan body'],
    answerTables: ['scan answer'],
    answerSchema: scanAnswerSchema,
    example: 'scan',
    exampleAnswer: {
      paymentId,
      referOrderNo,
      checkoutUrl: `https://pay.example.com/checkout/${merchantId}/${paymentId}/x`,
      status: 'confirming',
      currency,
      paymentAmount: 4.2,
    },
    failures: [
      'invalid_field',
      'amount_does_not_fit_currency',
      'url_not_allowed',
      'callback_address_changed_too_often',
      'code_not_accepted',
      'number_already_used',
    ],
    rules: [
      '**Small amounts** (`SCAN_LIMIT` of the gateway) are paid at once: the order is `confirming`, then `success`. Otherwise, it stays `pending` until the consumer confirms it in the wallet, for at most 5 minutes.',
      '**A code** works once, for one merchant, within 60 seconds.',
      '**Without a response**, repeat the request with the same `orderNo`, with any code: the wallet is charged once. Or [query](query.md) by `orderNo`: if no such order exists 60 seconds later, nothing was charged. To undo, [cancel](cancel.md) the order, or [refund](refund.md) it once it is paid.',
      '**Wrong codes**: 20 at once, then 10 a minute; then 42900.',
    ],
  },
  'service.bill.get': {
    title: 'Get a daily bill',
    about:
      'Get the totals of one day (UTC) and a link to the CSV file with every line. A bill never changes.',
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
    rules: [
      'A bill is ready at 00:15 UTC on the next day. Until the day is over, the response is 40004; while the bill is being made, 50300.',
      '`downloadUrl` needs no signature and works for five minutes. Anyone who has the URL can read the bill: keep it out of logs.',
      'The file is UTF-8 CSV (RFC 4180) with the columns `time`, `kind`, `transactionId`, `paymentId`, `orderNo`, `refundId`, `referRefundNo`, `currency` and `amount`. In each currency, `opening` plus all lines equals `closing`. A cell that a spreadsheet would read as a formula starts with an apostrophe.',
      'Kinds: `payment`, `transfer_applied`, `refund`, `fee`, `fee_return`, `payout`, `payout_return`, `correction`, and `late` for a movement of an earlier day whose bill existed already. Later versions may add kinds.',
    ],
  },
  'service.link.create': {
    title: 'Create a payment link',
    about:
      'Create a page with a QR code where consumers pay a fixed or an open amount, once or many times. Each payment is an order whose `orderNo` starts with the `linkId`.',
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
    rules: [
      '**Retries are safe**: the same `linkNo` with the same content returns the stored link. Different content returns 40900.',
      'Without `amount`, the consumer enters an amount between `leastAmount` and `mostAmount`.',
      'Opening the page creates no order; pressing the button does. A link with `uses` `once` has one open order at a time and accepts one payment.',
    ],
  },
  'service.link.query': {
    title: 'Query a payment link',
    about: 'Get a link with its totals and its newest 50 orders.',
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
      'Close a link permanently. An order that was started can still be paid until it expires. Closing a closed link returns success.',
    bodyTables: ['link close body'],
    answerTables: [],
    answerSchema: links.linkAnswerSchema,
    example: 'link close',
    exampleAnswer: { ...link, status: 'closed' },
    failures: ['invalid_field', 'order_not_found'],
  },
  'service.sandbox.pay': {
    title: 'Pay as a test consumer',
    about: 'Pay an order as a test consumer, without a browser.',
    bodyTables: ['sandbox pay body'],
    answerTables: ['sandbox answer'],
    answerSchema: answers.sandboxAnswerSchema,
    example: 'sandbox pay',
    exampleAnswer: { paymentId, status: 'confirming' },
    failures: ['invalid_field', 'order_not_found', 'status_does_not_allow'],
  },
  'service.sandbox.advance': {
    title: 'Advance the time of one order',
    about:
      'Move the expiry, callbacks and retries of one order into the past, to test an expiry or a retry within seconds.',
    bodyTables: ['sandbox advance body'],
    answerTables: ['sandbox answer'],
    answerSchema: answers.sandboxAnswerSchema,
    example: 'sandbox advance',
    exampleAnswer: { paymentId, status: 'timeout' },
    failures: ['invalid_field', 'order_not_found'],
    rules: [
      'This operation is not idempotent: every request moves the times again. If a response is lost, query the order before you repeat the request.',
    ],
  },
  'service.sandbox.listen': {
    title: 'Receive callbacks by polling',
    about:
      'Receive callbacks over a connection that you open, on a machine that the gateway cannot reach. `till listen` uses this operation.',
    bodyTables: ['sandbox listen body'],
    answerTables: ['sandbox listen answer', 'listened callback'],
    answerSchema: listen.sandboxListenAnswerSchema,
    example: 'sandbox listen',
    exampleAnswer: { callbacks: [], after: 'eyJhdCI6MTc2MDAwMDAwMDAwMH0' },
    failures: ['invalid_field'],
    rules: [
      'Send the `after` of the last response in the next request. A response has at most 20 callbacks, each sealed as it would be sent; callbacks that you missed are included. The gateway also sends them to their `callbackUrl`.',
    ],
  },
  'service.sandbox.acknowledge': {
    title: 'Acknowledge a polled callback',
    about: 'Mark a callback as delivered after your program returned HTTP 200.',
    bodyTables: ['sandbox acknowledge body'],
    answerTables: ['sandbox acknowledge answer'],
    answerSchema: listen.sandboxAcknowledgeAnswerSchema,
    example: 'sandbox acknowledge',
    exampleAnswer: { callbackId: payment.callbackId, state: 'delivered' },
    failures: ['invalid_field', 'order_not_found'],
  },
  'service.sandbox.requests': {
    title: 'List rejected and slow requests',
    about:
      'List your rejected requests, and those that took a second or longer, of the last 7 days. Requests that could not be opened are not included. `till logs` uses this operation.',
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
