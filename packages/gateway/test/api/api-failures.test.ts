// The lists of failures in the API reference, held against a gateway: each operation is brought into every trouble that
// it can meet, and must have answered exactly what its list says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureNameOf, type Method } from '@tillgate/protocol'
import { operations, sharedFailures } from '../../../../scripts/documentation/operations.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { createBody, withField } from '../support/order.ts'

const shop = await openCheckoutShop({ environment: { CALLBACK_HOSTS_PER_DAY: '1' } })
const { merchant, clock } = shop

const pending = await shop.order()
const paid = await shop.order()
await shop.pay(paid, 'success')
const cancelled = await shop.order()
await shop.cancel(cancelled)
const ids = { pending: pending.paymentId, paid: paid.paymentId, cancelled: cancelled.paymentId, none: 'P0' }

const create = createBody({ now: clock.now(), orderNo: 'once' })
const another = withField(create, 'order.orderNo', 'never')
const link = { linkNo: 'once', title: 'Tea', currency: 'EUR', amount: 1 }
const anotherLink = { ...link, linkNo: 'never' }
const authorized = await shop.order((body) => {
  body.captureMode = 'manual'
})
await shop.authorize(authorized)
const capture = { paymentId: authorized.paymentId, referCaptureNo: 'once' }
const refund = { paymentId: ids.paid, referRefundNo: 'once', refundAmount: '1.00' }
assert.equal((await merchant.call('service.trade.create', create)).code, 20000)
assert.equal((await merchant.call('service.trade.refund', refund)).code, 20000)

const eachOrder = (body: object = {}) => Object.values(ids).map((paymentId) => ({ ...body, paymentId }))

const troubles: Readonly<Record<Method, readonly object[]>> = {
  'service.trade.create': [
    withField(create, 'order.goods', []),
    withField(create, 'paymentAmount', '12.505'),
    withField(create, 'order.orderAmount', '12.51'),
    withField(create, 'paymentAmount', '12.49'),
    withField(another, 'paymentExpiryTime', create.paymentTime + 1),
    withField(another, 'callbackUrl', 'ftp://shop.example/'),
    withField(another, 'callbackUrl', 'http://two.example/'),
  ],
  'service.trade.query': eachOrder(),
  'service.trade.cancel': eachOrder(),
  'service.trade.refund': [
    ...eachOrder({ referRefundNo: 'two', refundAmount: '0.50' }),
    { ...refund, refundAmount: '1.005' },
    { ...refund, refundAmount: '1.01' },
    { ...refund, referRefundNo: 'three', refundAmount: '100' },
  ],
  'service.trade.callback': eachOrder(),
  'service.order.list': [{ cursor: 'x' }],
  'service.order.capture': [
    ...eachOrder({ referCaptureNo: 'one' }),
    { ...capture, amount: '1.00' },
    { ...capture, amount: '2.00' },
    { ...capture, referCaptureNo: 'two', amount: '1.005' },
    { ...capture, referCaptureNo: 'two', amount: '100' },
  ],
  'service.order.release': eachOrder(),
  'service.order.scan': [
    { code: '1', orderNo: 'scanned', amount: '1.005', currency: 'EUR' },
    { code: '1', orderNo: 'scanned', amount: '1', currency: 'EUR' },
    { code: '1', orderNo: 'scanned', amount: '1', currency: 'EUR', callbackUrl: 'ftp://shop.example/' },
    { code: '1', orderNo: 'scanned', amount: '1', currency: 'EUR', callbackUrl: 'http://two.example/' },
    { code: '1', orderNo: create.order.orderNo, amount: '1', currency: 'EUR' },
  ],
  'service.bill.get': [{ date: '2026-02-30' }, { date: '2999-01-01' }],
  'service.link.create': [
    link,
    { ...link, title: 'Coffee' },
    { ...link, amount: '1.005' },
    { ...link, goods: [{ referenceGoodsId: 'g', goodsName: 'Tea', goodsAmount: 2 }] },
    { ...anotherLink, linkExpiryTime: clock.now() },
    { ...anotherLink, callbackUrl: 'ftp://shop.example/' },
    { ...anotherLink, callbackUrl: 'http://two.example/' },
  ],
  'service.link.query': [{ linkId: 'L01K73ZQ800JZ7V3N4Q5R6S7T8W' }],
  'service.link.close': [{ linkId: 'L01K73ZQ800JZ7V3N4Q5R6S7T8W' }],
  'service.sandbox.pay': eachOrder({ outcome: 'success' }),
  'service.sandbox.advance': eachOrder({ milliseconds: 1 }),
  'service.sandbox.listen': [{ after: 'nothing that was ever answered' }],
  'service.sandbox.requests': [{ limit: 0 }],
  'service.sandbox.acknowledge': [
    { callbackId: '00000000-0000-7000-8000-000000000000', forwardedTo: 'http://127.0.0.1:9', durationMs: 1 },
  ],
}

for (const method of Object.keys(troubles) as Method[]) {
  test(`${method} fails in the ways that the reference lists, and in no other`, async () => {
    const met = new Set<string>()
    for (const body of [{}, { paymentId: 7 }, ...troubles[method]]) {
      const { code } = await merchant.call(method, body)
      const name = code === 20000 ? undefined : failureNameOf(code)
      if (name !== undefined && !sharedFailures.includes(name)) met.add(name)
    }
    assert.deepEqual([...met].sort(), [...operations[method].failures].sort())
  })
}
