import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findOrders } from '../../src/core/orders/store/orders.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'

const clock = new TestClock()
const gateway = await startTestGateway({ clock, environment: { MERCHANT_REQUESTS_PER_SECOND: '100000' } })
const merchant = await gateway.addMerchant()
const stranger = await gateway.addMerchant()
const minute = 60_000

async function newOrder() {
  const body = createBody({ now: clock.now() })
  const { data } = await merchant.call('service.trade.create', body)
  return { body, paymentId: data.paymentId as string, orderNo: body.order.orderNo }
}
const query = (body: object) => merchant.call('service.trade.query', body)
const cancel = (paymentId: string) => merchant.call('service.trade.cancel', { paymentId })

test('query answers a pending order as spec 2.9 says, with our additions', async () => {
  const { body, paymentId, orderNo } = await newOrder()
  const answer = await query({ paymentId })
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.data, {
    status: 'pending',
    msg: '',
    merchantId: merchant.merchantId,
    referOrderNo: orderNo,
    currency: 'USD',
    paymentTime: body.paymentTime,
    paymentId,
    orderNo,
    paymentStatus: 'pending',
    paymentAmount: 12.5,
    refunds: [],
  })
})

test('an order is found by its orderNo too', async () => {
  const { paymentId, orderNo } = await newOrder()
  assert.equal((await query({ orderNo })).data.paymentId, paymentId)
})

test('what is not there is 40400', async () => {
  for (const body of [{ paymentId: 'P0' }, { orderNo: 'none' }, { refundId: 'R0' }]) {
    const answer = await query(body)
    assert.deepEqual([answer.status, answer.code], [404, 40400], JSON.stringify(body))
  }
})

test('another merchant’s order looks exactly like none, to query and to cancel', async () => {
  const { paymentId, orderNo } = await newOrder()
  for (const method of ['service.trade.query', 'service.trade.cancel']) {
    const others = await stranger.call(method, { paymentId })
    const none = await stranger.call(method, {
      paymentId: paymentId.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    })
    assert.equal(others.text.replace(others.data.requestId, ''), none.text.replace(none.data.requestId, ''))
    assert.deepEqual([others.status, others.code], [404, 40400])
  }
  assert.equal((await stranger.call('service.trade.query', { orderNo })).code, 40400)
  assert.equal((await query({ paymentId })).data.status, 'pending')
})

test('a batch finds orders of one merchant or of several, each under its own merchant alone', async () => {
  const mine = { merchantId: merchant.merchantId, paymentId: (await newOrder()).paymentId }
  const { data } = await stranger.call('service.trade.create', createBody({ now: clock.now() }))
  const theirs = { merchantId: stranger.merchantId, paymentId: data.paymentId as string }
  const crossed = { ...theirs, merchantId: mine.merchantId }
  const find = async (...keys: readonly (typeof mine)[]) =>
    (await findOrders(gateway.pool, keys)).map((order) => order?.paymentId)
  assert.deepEqual(await find(mine, crossed, mine), [mine.paymentId, undefined, mine.paymentId])
  assert.deepEqual(await find(theirs, crossed, mine), [theirs.paymentId, undefined, mine.paymentId])
})

test('a query names exactly one number, of its form', async () => {
  for (const body of [
    {},
    { paymentId: '' },
    { paymentId: 'x'.repeat(33) },
    { paymentId: 7 },
    { paymentId: 'P1', orderNo: 'o' },
  ]) {
    const answer = await query(body)
    assert.deepEqual([answer.status, answer.code], [400, 40001], JSON.stringify(body))
  }
  assert.equal((await query({ paymentId: 'x'.repeat(32) })).code, 40400)
})

test('a pending order is cancelled, and cancelled again is success', async () => {
  const { paymentId, orderNo } = await newOrder()
  for (let i = 0; i < 2; i++) {
    const answer = await cancel(paymentId)
    assert.deepEqual([answer.status, answer.code], [200, 20000])
    assert.deepEqual(answer.data, { paymentId, referOrderNo: orderNo, status: 'cancelled' })
  }
  const { data } = await query({ paymentId })
  assert.deepEqual([data.status, data.paymentStatus], ['cancelled', 'cancelled'])
})

test('a cancelled order has its row of history and no callback: the merchant asked for it', async () => {
  const { paymentId } = await newOrder()
  await cancel(paymentId)
  const history = await gateway.pool.query('select * from order_history where payment_id = $1', [paymentId])
  assert.deepEqual(history.rows, [
    {
      merchant_id: merchant.merchantId,
      payment_id: paymentId,
      from_status: 'pending',
      to_status: 'cancelled',
      changed_at: String(clock.now()),
      actor: 'merchant',
      reason: null,
    },
  ])
  const callbacks = await gateway.pool.query('select from callbacks where payment_id = $1', [paymentId])
  assert.equal(callbacks.rowCount, 0)
})

for (const [status, words] of [
  ['confirming', /wait/i],
  ['success', /refund/i],
  ['failed', /nothing to cancel/],
] as const) {
  test(`an order that is ${status} is not cancelled, and the message says what to do`, async () => {
    const { paymentId } = await newOrder()
    await gateway.pool.query(
      "update orders set status = $2, transaction_id = 'T1', wallet_id = 'W1' where payment_id = $1",
      [paymentId, status],
    )
    const answer = await cancel(paymentId)
    assert.deepEqual([answer.status, answer.code], [409, 40901])
    assert.match(answer.msg, words)
  })
}

test('an order is timed out at the very millisecond of its expiry, for query and for cancel', async () => {
  const { body, paymentId } = await newOrder()
  clock.advance(30 * minute - 1)
  assert.equal((await query({ paymentId })).data.status, 'pending')
  clock.advance(1)
  const { data } = await query({ paymentId })
  assert.equal(data.status, 'timeout')
  assert.ok(data.msg.length > 0)
  const answer = await cancel(paymentId)
  assert.deepEqual([answer.status, answer.code], [409, 40901])
  const again = await merchant.call('service.trade.create', body)
  assert.equal(again.data.status, 'timeout')
})

test('64 parallel cancels are all answered with success, and change the order once', async () => {
  const { paymentId } = await newOrder()
  const answers = await Promise.all(Array.from({ length: 64 }, () => cancel(paymentId)))
  for (const answer of answers) assert.equal(answer.code, 20000)
  const { rowCount } = await gateway.pool.query('select from order_history where payment_id = $1', [
    paymentId,
  ])
  assert.equal(rowCount, 1)
})
