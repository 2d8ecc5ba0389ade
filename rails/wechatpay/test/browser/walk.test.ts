import assert from 'node:assert/strict'
import { test } from 'node:test'
import { desktop, heading, phone } from '../../../../packages/gateway/test/support/browser.ts'
import { until } from '../../../../packages/gateway/test/support/callbacks.ts'
import { openWalk, testWalk } from '../../../kit/test/walk.ts'
import { openFakeWechatpay } from '../fake-wechatpay.ts'
import { wechatpayRail } from '../wechatpay.ts'

const walk = await openWalk(wechatpayRail, openFakeWechatpay, 'CNY', 'APP')
testWalk(walk)

test('a desktop shows a QR code, and a payment by phone leads to the success page', async () => {
  const { fake } = walk
  const { page, troubles, paymentId } = await walk.atProvider(desktop, undefined, 'WEB')
  await page.getByText('Scan with WeChat').waitFor()
  await page.locator('.rail-qr img').waitFor()
  const { transactionId } = fake.payments().findLast(({ status }) => status === 'open') ?? {}
  assert(transactionId)
  await fake.consumer(transactionId, 'pays')
  await heading(page, 'Payment successful')
  assert.deepEqual(await walk.eventsOf(paymentId), ['confirming', 'success'])
  assert.deepEqual(troubles, [])
})

test('a payment completed after the order ended is refunded', async () => {
  const { fake, gateway, merchant } = walk
  const { page, troubles, paymentId } = await walk.atProvider(phone)
  await page.waitForURL(`${fake.url}/**`)
  const key = { merchantId: merchant.merchantId, paymentId }
  const attempt = async () => (await gateway.stores.attempts.listAttempts(key))[0]
  // The consumer confirms at the moment the order ends.
  const { transactionId = '' } = (await attempt()) ?? {}
  fake.closesLate = true
  await merchant.call('service.sandbox.advance', { paymentId, milliseconds: 31 * 60_000 })
  await until(async () => (await attempt())?.status === 'cancelled')
  await page.getByRole('button', { name: 'Pay', exact: true }).click()
  await until(async () => (await attempt())?.status === 'returned')
  assert.deepEqual(await walk.eventsOf(paymentId), ['timeout'])
  const late = fake.payments().find((payment) => payment.transactionId === transactionId)
  assert.deepEqual(
    late?.refunds.map(({ amount }) => amount),
    [late?.amount],
  )
  assert.deepEqual(troubles, [])
})
