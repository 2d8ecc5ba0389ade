// Errors lead to the fix: each ends with the page of its code, and mistakes that do no harm are taken.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestStringToSign, signText } from '@tillgate/protocol'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'

const gateway = await startTestGateway()
const merchant = await gateway.addMerchant()

test('every error ends with the address of its code’s documentation, which is there', async () => {
  const stranger = {
    ...(await merchant.seal('service.trade.query', { paymentId: 'P1' })),
    merchantId: '0'.repeat(18),
  }
  const page = await (await fetch(`${gateway.url}/docs/errors`)).text()
  for (const { code, text } of [
    await merchant.call('service.trade.create', {}),
    await gateway.post('/api/v1/gateway', '{}'),
    await gateway.post('/api/v1/gateway', JSON.stringify(stranger)),
    await gateway.post('/payment/api/v1/payment-orders', '{}'),
    await merchant.call('service.trade.query', { paymentId: 'P1' }),
  ]) {
    const { msg } = JSON.parse(text)
    assert.ok(msg.endsWith(` See ${gateway.url}/docs/errors#${code}`), msg)
    assert.ok(page.includes(`id="${code}"`), `${code}`)
  }
})

test('an envelope that does not open names the command that finds out why', async () => {
  const envelope = await merchant.seal('service.trade.query', { paymentId: 'P1' })
  const { code, msg } = await gateway.post(
    '/api/v1/gateway',
    JSON.stringify({ ...envelope, merchantId: '0'.repeat(18) }),
  )
  assert.equal(code, 40100)
  assert.match(msg, /till debug-signature/)
})

test('a merchant’s request to the operator’s address is sent to the right one', async () => {
  const path = '/payment/api/v1/payment-order'
  const response = await fetch(`${gateway.adminUrl}${path}`, { method: 'POST', body: '{}' })
  const { code, msg } = JSON.parse(await response.text())
  assert.equal(code, 40401)
  assert.ok(msg.includes(`send merchants’ requests to ${gateway.url}${path}.`), msg)
})

test('charset is taken in any case, signed as it is sent, and in no other way', async () => {
  const body = JSON.stringify(createBody({ now: Date.now() }))
  const { merchantId, privateKey } = merchant
  const envelope = await merchant.seal('service.trade.create', body)
  const { method, timestamp } = envelope as { method: string; timestamp: number }
  const toSign = { merchantId, method, timestamp: String(timestamp) }
  const signed = async (charset: string) =>
    signText(requestStringToSign({ ...toSign, charset }, body), privateKey)
  const send = (changed: object) =>
    gateway.post('/api/v1/gateway', JSON.stringify({ ...envelope, ...changed }))
  assert.equal((await send({ charset: 'UTF-8', sign: await signed('UTF-8') })).code, 20000)
  assert.equal((await send({ charset: 'UTF-8' })).code, 40100)
  const other = await send({ charset: 'latin1', sign: await signed('latin1') })
  assert.deepEqual([other.code, other.data.field], [40000, 'charset'])
})

test('a number in the wrong field is answered with the number to send', async () => {
  const paymentId = await merchant.paidOrder({})
  const { orderNo } = (await merchant.call('service.trade.query', { paymentId })).data
  const asked = { paymentId, referRefundNo: `${orderNo}-r`, refundAmount: '1' }
  const { refundId } = (await merchant.call('service.trade.refund', asked)).data
  const referRefundNo = asked.referRefundNo
  for (const [method, field, number, answer] of [
    ['query', 'paymentId', refundId, `is a refundId. Send paymentId ${paymentId}`],
    ['query', 'paymentId', orderNo, `is your orderNo. Send paymentId ${paymentId}`],
    ['query', 'orderNo', paymentId, `is a paymentId. Send paymentId ${paymentId}`],
    ['query', 'orderNo', referRefundNo, `is your referRefundNo. Send paymentId ${paymentId}`],
    ['query', 'refundId', paymentId, `is a paymentId. Send paymentId ${paymentId}`],
    ['query', 'refundId', referRefundNo, `is your referRefundNo. Send refundId ${refundId}`],
    ['cancel', 'paymentId', orderNo, `is your orderNo. Send paymentId ${paymentId}`],
    ['refund', 'paymentId', refundId, `is a refundId. Send paymentId ${paymentId}`],
    ['refund', 'paymentId', orderNo, `is your orderNo. Send paymentId ${paymentId}`],
    ['callback', 'paymentId', orderNo, `is your orderNo. Send paymentId ${paymentId}`],
    ['query', 'paymentId', 'A-1', 'A paymentId is P and 26 more characters'],
    ['query', 'orderNo', 'A-1', 'You have no payment order with the orderNo A-1.'],
  ] as const) {
    const body = { ...(method === 'refund' && { ...asked, referRefundNo: 'new' }), [field]: number }
    const { code, msg, data } = await merchant.call(`service.trade.${method}`, body)
    assert.deepEqual([code, data.field], [40400, field], msg)
    assert.ok(msg.startsWith(`${field} ${number} ${answer}`) || msg.includes(answer), msg)
  }
  for (const method of ['service.sandbox.pay', 'service.sandbox.advance']) {
    const { msg } = await merchant.call(method, { paymentId: orderNo, outcome: 'success', milliseconds: 1 })
    assert.ok(msg.includes(`is your orderNo. Send paymentId ${paymentId}`), msg)
  }
})

test('another merchant’s numbers are as unknown as those that never existed', async () => {
  const paymentId = await merchant.paidOrder({})
  const { orderNo } = (await merchant.call('service.trade.query', { paymentId })).data
  const other = await gateway.addMerchant()
  const msgOf = async (body: object) => (await other.call('service.trade.query', body)).msg
  assert.equal(await msgOf({ paymentId }), await msgOf({ paymentId: `P0${'1'.repeat(25)}` }))
  assert.doesNotMatch(await msgOf({ paymentId: orderNo }), /is your orderNo/)
  assert.doesNotMatch(await msgOf({ orderNo: paymentId }), /is a paymentId/)
})

test('a payment in cents beside an order in euros is accepted with a warning', async () => {
  const body = createBody({ now: Date.now() })
  const cents = { ...body, paymentAmount: Number(body.order.orderAmount) * 100 }
  const { warnings } = (await merchant.call('service.trade.create', cents)).data
  assert.deepEqual(
    warnings.map(({ field }: { field: string }) => field),
    ['paymentAmount'],
  )
  assert.match(warnings[0].msg, /in units of the currency, such as 12\.50/)
})

test('an order without any callback address says so, and so does a resend', async () => {
  const body = createBody({ now: Date.now() })
  const { callbackUrl, ...silent } = body
  const made = await merchant.call('service.trade.create', { ...silent, notifyUrl: callbackUrl })
  assert.deepEqual(
    made.data.warnings.map(({ field }: { field: string }) => field),
    ['callbackUrl'],
  )
  assert.deepEqual(made.data.ignoredFields, [{ field: 'notifyUrl', nearest: 'callbackUrl' }])
  const resent = async (paymentId: string) =>
    (await merchant.call('service.trade.callback', { paymentId })).data
  const { queued, warnings } = await resent(made.data.paymentId)
  assert.equal(queued, 0)
  assert.match(warnings[0].msg, /nothing to send: the order has no callbackUrl/)
  const pending = await merchant.call('service.trade.create', createBody({ now: Date.now() }))
  assert.equal(pending.data.warnings, undefined)
  assert.match((await resent(pending.data.paymentId)).warnings[0].msg, /the order is pending/)
})
