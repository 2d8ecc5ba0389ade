import assert from 'node:assert/strict'
import { test } from 'node:test'
import { desktop } from '../../../../packages/gateway/test/support/browser.ts'
import { until } from '../../../../packages/gateway/test/support/callbacks.ts'
import { openWalk, testWalk } from '../../../kit/test/walk.ts'
import { alipayRail } from '../alipay.ts'
import { openFakeAlipay } from '../fake-alipay.ts'

const walk = await openWalk(alipayRail, openFakeAlipay, 'CNY')
testWalk(walk)

test('a payment completed after the order ended, without a trade to close, is refunded', async () => {
  const { fake, gateway, merchant } = walk
  fake.tradeBegins = 'when the buyer signs in'
  const { page, troubles, paymentId } = await walk.atProvider(desktop)
  await page.waitForURL(`${fake.url}/**`)
  await merchant.call('service.sandbox.advance', { paymentId, milliseconds: 31 * 60_000 })
  const key = { merchantId: merchant.merchantId, paymentId }
  const attempt = async () => (await gateway.stores.attempts.listAttempts(key))[0]
  await until(async () => (await attempt())?.status === 'cancelled')
  await page.getByRole('button', { name: 'Pay', exact: true }).click()
  await until(async () => (await attempt())?.status === 'returned')
  assert.deepEqual(await walk.eventsOf(paymentId), ['timeout'])
  const { transactionId } = (await attempt()) ?? {}
  const late = fake.payments().find((payment) => payment.transactionId === transactionId)
  assert.deepEqual(
    late?.refunds.map(({ amount }) => amount),
    [late?.amount],
  )
  assert.deepEqual(troubles, [])
})
