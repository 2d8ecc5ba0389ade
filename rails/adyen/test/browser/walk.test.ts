import assert from 'node:assert/strict'
import { test } from 'node:test'
import { desktop, heading, phone } from '../../../../packages/gateway/test/support/browser.ts'
import { until } from '../../../../packages/gateway/test/support/callbacks.ts'
import { openWalk, testWalk } from '../../../kit/test/walk.ts'
import { adyenRail } from '../adyen.ts'
import { openFakeAdyen } from '../fake-adyen.ts'

const walk = await openWalk(adyenRail, openFakeAdyen)
testWalk(walk)

test('a payment that is refused on Adyen’s page is paid from a wallet', async () => {
  const { fake, merchant } = walk
  const { page, troubles, paymentId } = await walk.atProvider(phone)
  await page.waitForURL(`${fake.url}/**`)
  await page.getByRole('button', { name: 'Pay with an empty card' }).click()
  await page.getByRole('button', { name: 'Pay with an empty card' }).waitFor()
  while (page.url().startsWith(fake.url)) await page.goBack()
  await page.getByRole('button', { name: 'Choose another payment method' }).click()
  await page.getByRole('button', { name: 'Succeeds Paid immediately' }).click()
  await heading(page, 'Payment successful')
  const { data } = await merchant.call('service.trade.query', { paymentId })
  assert.equal(data?.payMethod, 'wallet')
  assert.equal(fake.payments().at(-1)?.status, 'cancelled')
  assert.deepEqual(troubles, [])
})

test('a payment completed after the order ended is refunded', async () => {
  const { fake, gateway, merchant } = walk
  const { page, troubles, paymentId } = await walk.atProvider(desktop)
  await page.waitForURL(`${fake.url}/**`)
  await merchant.call('service.sandbox.advance', { paymentId, milliseconds: 31 * 60_000 })
  const key = { merchantId: merchant.merchantId, paymentId }
  const attempt = async () => (await gateway.stores.attempts.listAttempts(key))[0]
  await until(async () => (await attempt())?.status === 'cancelled')
  await page.getByRole('button', { name: 'Pay slowly' }).click()
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
