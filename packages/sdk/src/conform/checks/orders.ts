// Clauses 2.8, 2.9, 3, 4.1, 4.3, 7.4 and 9: the state of an order, as query returns it.

import type { Check } from '../clauses.ts'
import { dataOf } from '../gateway.ts'
import { expect, shown } from '../outcome.ts'
import { amount, currency, exactly, expectFields, message, text, time } from '../values.ts'
import { create, query, type World } from '../world.ts'

const pathOfQuery = '/payment/api/v1/payment-order/query'

/** Returned by create, and by query. */
const statuses = [
  ['confirming', 'paid', 'confirming'],
  ['success', 'paid', 'ended'],
  ['failed', 'unpaid', 'ended'],
  ['timeout', 'expired', 'ended'],
] as const

export const orderChecks: readonly Check[] = [
  {
    clause: '2.8',
    title: 'an order is found by its paymentId',
    run: async ({ order, query: queried }) => void (await queried((await order()).paymentId)),
  },
  {
    clause: '2.8',
    title: 'a query without paymentId is refused',
    run: ({ gateway }) => gateway.refuses('a query without paymentId', query, {}),
  },
  {
    clause: '2.8',
    title: 'a paymentId that does not exist is refused',
    run: ({ gateway }) => gateway.refuses('an unknown paymentId', query, { paymentId: 'P0' }),
  },
  {
    clause: '2.9',
    title: 'a pending order is answered with its own numbers',
    async run({ gateway, order, query: queried }) {
      const made = await order()
      expectFields('query', await queried(made.paymentId), {
        status: exactly('pending'),
        merchantId: exactly(gateway.merchantId),
        referOrderNo: exactly(made.body.order.orderNo),
        currency: exactly('USD'),
        paymentTime: exactly(made.body.paymentTime, String(made.body.paymentTime)),
      })
    },
  },
  {
    clause: '2.9',
    title: 'a paid order has transactionId, payAmount and paidTime',
    async run({ gateway, paid }) {
      const { order, query: answer } = await paid()
      expectFields('query', answer, {
        status: exactly('success'),
        transactionId: text(30),
        merchantId: exactly(gateway.merchantId),
        referOrderNo: exactly(order.body.order.orderNo),
        payAmount: amount(order.body.paymentAmount),
        currency,
        paymentTime: time,
        paidTime: time,
      })
    },
  },
  {
    clause: '2.9',
    title: 'referOrderNo is the refund’s number once there is a refund',
    async run({ refunded }) {
      const { body, query: answer } = await refunded()
      expectFields('query', answer, { referOrderNo: exactly(body.referRefundNo) })
    },
  },
  {
    clause: '3.1',
    title: 'an order is pending when it is created, by create and by query',
    async run({ order, query: queried }) {
      const made = await order()
      expectFields('create', made.data, { status: exactly('pending') })
      expectFields('query', await queried(made.paymentId), { status: exactly('pending') })
    },
  },
  ...statuses.map(([status, flow, callback]) => ({
    clause: '3.1' as const,
    title: `${status} is delivered by callback${callback === 'ended' ? ', and can be queried' : ''}`,
    async run(world: World) {
      const came = (await world[flow]()) as Awaited<ReturnType<World['paid']>>
      expect(came[callback]().envelope['eventName'] === `payment.order.${status}`, `it is not ${status}`)
      if (callback === 'ended') expectFields('query', came.query, { status: exactly(status) })
    },
  })),
  {
    clause: '3.1',
    title: 'an authorized order is confirming, and success after its last capture (an extension)',
    async run({ captured }) {
      const { authorized, first, repeated, last, query: answer } = await captured()
      expectFields('query', authorized, { status: exactly('confirming') })
      expectFields('the first capture', first, { status: exactly('confirming'), capturedAmount: amount(2) })
      expectFields('the same capture again', repeated, { capturedAmount: amount(2) })
      expectFields('the last capture', last, { status: exactly('success'), capturedAmount: amount(5) })
      expectFields('query', answer, { status: exactly('success'), payAmount: amount(5) })
    },
  },
  {
    clause: '3.2',
    title: 'refunding is answered by refund',
    async run({ refunded }) {
      expectFields('refund', (await refunded()).data, { status: exactly('refunding') })
    },
  },
  {
    clause: '3.2',
    title: 'refund_success is delivered by callback, and can be queried',
    async run({ refunded }) {
      const { ended, query: answer } = await refunded()
      ended()
      expectFields('query', answer, { status: exactly('refund_success') })
    },
  },
  {
    clause: '3.2',
    title: 'refund_failed is delivered by callback, and can be queried',
    async run({ unrefunded }) {
      const { ended, query: answer } = await unrefunded()
      ended()
      expectFields('query', answer, { status: exactly('refund_failed') })
    },
  },
  {
    clause: '3.3',
    title: 'create yields the status pending',
    async run({ order }) {
      expectFields('create', (await order()).data, { status: exactly('pending') })
    },
  },
  {
    clause: '4.1',
    title: 'service.trade.cancel cancels a pending order (body by Tillgate’s choice: {paymentId})',
    async run({ gateway, order }) {
      const { paymentId } = await order()
      await gateway.call('service.trade.cancel', { paymentId })
    },
  },
  {
    clause: '4.1',
    title: 'service.trade.refund refunds a paid order (body by Tillgate’s choice)',
    run: async ({ refunded }) => void (await refunded()),
  },
  {
    clause: '4.1',
    title: 'service.trade.callback is served (body by Tillgate’s choice: {paymentId})',
    async run({ gateway, order }) {
      const { paymentId } = await order()
      await gateway.call('service.trade.callback', { paymentId })
    },
  },
  ...[pathOfQuery, '/api/v1/gateway'].map((path) => ({
    clause: '4.3' as const,
    title: `query is served at ${path}`,
    async run({ gateway, order }: World) {
      const { paymentId } = await order()
      const answer = await gateway.send(query, { paymentId }, { path })
      dataOf(answer, `query at ${path}`)
      expect(answer.httpStatus === 200, `HTTP ${answer.httpStatus} instead of 200`)
    },
  })),
  {
    clause: '7.4',
    title: 'a failed payment says why in msg',
    async run({ unpaid }) {
      const { query: answer } = await unpaid()
      expectFields('query', answer, { status: exactly('failed'), msg: message })
      expect(answer['msg'] !== '', 'msg of a failed payment is empty')
    },
  },
  {
    clause: '7.4',
    title: 'a failed refund says why in msg',
    async run({ unrefunded }) {
      const { query: answer } = await unrefunded()
      expectFields('query', answer, { status: exactly('refund_failed'), msg: message })
      expect(answer['msg'] !== '', `msg of a failed refund is ${shown(answer['msg'])}`)
    },
  },
  {
    clause: '8',
    title: 'paymentId and transactionId are not longer than 32 and 30 characters',
    async run({ paid }) {
      const { order, query: answer } = await paid()
      expectFields('create', order.data, { paymentId: text(32), checkoutUrl: text(2048) })
      expectFields('query', answer, { transactionId: text(30) })
    },
  },
  {
    clause: '9',
    title: 'the version is part of the path: v2 is not served by v1',
    run: ({ gateway, newBody }) =>
      gateway.refuses('create at v2', create, newBody(), { path: '/payment/api/v2/payment-order' }),
  },
]
