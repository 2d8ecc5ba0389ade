// Clauses 2.10 to 2.12, 4.4, 5.4, 6 and 7.3: the gateway's callbacks, and its reaction to responses.
import { eventOf, type OpenedCallback, resultOf } from '../callback.ts'
import type { Check } from '../clauses.ts'
import { expect, shown } from '../outcome.ts'
import { amount, exactly, expectFields, guid, message, text, time } from '../values.ts'
import type { World } from '../world.ts'

const envelopeFields = (world: World, { envelope }: OpenedCallback) =>
  expectFields('the callback', envelope, {
    id: guid,
    merchantId: exactly(world.gateway.merchantId),
    eventName: text(64),
    sign: text(2_048),
    timestamp: time,
    body: text(256 * 1024),
  })

const closedFields = { format: 'json', charset: 'utf-8', encryptType: 'AES', signType: 'RSA' }

const events = [
  ['payment.order.confirming', 'paid', 'confirming'],
  ['payment.order.success', 'paid', 'ended'],
  ['payment.order.failed', 'unpaid', 'ended'],
  ['payment.order.timeout', 'expired', 'ended'],
  ['payment.refund.success', 'refunded', 'ended'],
  ['payment.refund.failed', 'unrefunded', 'ended'],
] as const

/** All flows have the callback that ends them; only the paid one has `confirming`. */
async function callbackOf(world: World, flow: (typeof events)[number][1], which: 'confirming' | 'ended') {
  const came = (await world[flow]()) as Awaited<ReturnType<World['paid']>>
  return came[which]()
}

export const callbackChecks: readonly Check[] = [
  {
    clause: '2.10',
    title: 'a callback has id, merchantId, eventName, sign, timestamp and body',
    async run(world) {
      const { confirming, ended } = await world.paid()
      envelopeFields(world, ended())
      envelopeFields(world, confirming())
      const [one, other] = [confirming().envelope['id'], ended().envelope['id']]
      expect(one !== other, `two callbacks have the id ${shown(one)}`)
    },
  },
  {
    clause: '2.10',
    title: 'format, charset, encryptType and signType are absent or as the interface says',
    async run({ paid }) {
      const { envelope } = (await paid()).ended()
      for (const [field, value] of Object.entries(closedFields))
        expect(
          [undefined, value].includes(envelope[field] as string),
          `${field} is ${shown(envelope[field])}`,
        )
    },
  },
  {
    clause: '2.11',
    title: 'the result of a payment has the fields of the payment',
    async run({ gateway, paid }) {
      const { order, ended } = await paid()
      expectFields('payment.order.success', resultOf(ended()), {
        merchantId: exactly(gateway.merchantId),
        'referOrderNo|outOrderNo': exactly(order.body.order.orderNo),
        transactionId: text(30),
        paymentAmount: amount(order.body.paymentAmount),
        currency: exactly(order.body.currency),
        paymentTime: exactly(order.body.paymentTime, String(order.body.paymentTime)),
        'completeTime|paidTime': time,
        status: exactly('success'),
      })
    },
  },
  {
    clause: '2.11',
    title: 'the result of a failed payment has its status and a message',
    async run({ unpaid }) {
      const result = resultOf((await unpaid()).ended())
      expectFields('payment.order.failed', result, { status: exactly('failed'), msg: message })
      expect(result['msg'] !== '', 'msg is empty')
    },
  },
  {
    clause: '2.12',
    title: 'the result of a refund has the fields of the refund',
    async run({ gateway, refunded }) {
      const { order, body, data, ended } = await refunded()
      expectFields('payment.refund.success', resultOf(ended()), {
        merchantId: exactly(gateway.merchantId),
        refundId: exactly(data['refundId']),
        paymentId: exactly(order.paymentId),
        referRefundNo: exactly(body.referRefundNo),
        transactionId: text(30),
        refundAmount: amount(body.refundAmount),
        refundTime: time,
        completeTime: time,
        status: exactly('refund_success'),
      })
    },
  },
  {
    clause: '2.12',
    title: 'the result of a failed refund has its status and a message',
    async run({ unrefunded }) {
      const result = resultOf((await unrefunded()).ended())
      expectFields('payment.refund.failed', result, { status: exactly('refund_failed'), msg: message })
      expect(result['msg'] !== '', 'msg is empty')
    },
  },
  {
    clause: '4.4',
    title: 'a callback is a POST of JSON',
    async run({ paid }) {
      const { received } = (await paid()).ended()
      expect(received.verb === 'POST', `it is a ${received.verb}`)
      const type = received.headers['content-type'] ?? ''
      expect(/^application\/json\b/i.test(type), `its Content-Type is ${shown(type)}`)
    },
  },
  {
    clause: '4.4',
    title: 'a callback that was answered with code 20000 is not sent again',
    async run({ paid, receiver, marks }) {
      await paid()
      // A duplicate would have arrived by now, or arrives within a second.
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      const accepted = receiver.received.filter(
        ({ httpStatus, mark }) => httpStatus === 200 && marks.has(mark),
      )
      const ids = accepted.map((each) => `${each.mark} ${eventOf(each)}`)
      const twice = ids.find((id, index) => ids.indexOf(id) !== index)
      expect(twice === undefined, `${twice?.split(' ')[1]} came again after it was acknowledged`)
    },
  },
  {
    clause: '5.4',
    title: 'a callback is encrypted with the merchant’s AES key',
    async run({ paid }) {
      expect((await paid()).ended().plain !== undefined, 'its body does not decrypt')
    },
  },
  {
    clause: '5.4',
    title: 'a callback is signed with the service’s key',
    async run({ paid }) {
      const { plain, isSigned } = (await paid()).ended()
      expect(plain !== undefined && isSigned, 'its signature does not verify')
    },
  },
  ...events.map(([eventName, flow, which]) => ({
    clause: '6' as const,
    title: `${eventName} is sent, with a result object of its kind`,
    async run(world: World) {
      const result = resultOf(await callbackOf(world, flow, which))
      const isRefund = result['refundId'] !== undefined
      expect(
        isRefund === eventName.startsWith('payment.refund'),
        `its result is that of another kind of event`,
      )
      const status = String(result['status']).replace('refund_', '')
      expect(eventName.endsWith(`.${status}`), `its result has the status ${shown(result['status'])}`)
    },
  })),
  {
    clause: '6',
    title: 'callbacks go to the callbackUrl of their own order',
    async run({ paid, unpaid, receiver }) {
      const [one, other] = [(await paid()).order, (await unpaid()).order]
      for (const { mark } of [one, other]) {
        const own = receiver.received.filter((each) => each.mark === mark)
        expect(own.length > 0, 'an order’s callbackUrl received nothing')
      }
    },
  },
  {
    clause: '6',
    title: 'a callback that is answered with HTTP 500 is sent again, with the same id',
    async run({ repeated, retryTimeoutMs }) {
      const { refused, again } = await repeated()
      expect(again, `it did not come again within ${retryTimeoutMs / 1_000} seconds`)
      const [first, second] = [refused.envelope['id'], again.envelope['id']]
      expect(first === second, `its id was ${shown(first)} and is ${shown(second)}`)
    },
  },
  {
    clause: '7.3',
    title: 'a delivery that is not answered with HTTP 200 counts as failed and is repeated',
    async run({ repeated, retryTimeoutMs }) {
      const { again } = await repeated()
      expect(again, `it was not repeated within ${retryTimeoutMs / 1_000} seconds`)
    },
  },
]
