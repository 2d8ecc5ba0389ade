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
