import assert from 'node:assert/strict'
import { test } from 'node:test'
import { desktop, heading } from '../../../../packages/gateway/test/support/browser.ts'
import { openWalk, testWalk } from '../../../kit/test/walk.ts'
import { openFakeStripe } from '../fake-stripe.ts'
import { stripeRail } from '../stripe.ts'

const walk = await openWalk(stripeRail, openFakeStripe)
testWalk(walk)

test('an amount below the minimum is declined at the checkout, and another method pays', async () => {
  const { page, troubles, paymentId } = await walk.atProvider(desktop, 0.49)
  await page.getByText('Card and more declined the payment.').waitFor()
  const key = { merchantId: walk.merchant.merchantId, paymentId }
  const [attempt] = await walk.gateway.stores.attempts.listAttempts(key)
  assert.match(attempt?.reason ?? '', /^0\.49 USD is less than 0\.50 USD, the minimum/)
  await page.getByRole('button', { name: 'Succeeds Paid immediately' }).click()
  await heading(page, 'Payment successful')
  assert.deepEqual(
    walk.fake.payments().filter(({ amount }) => amount === '49'),
    [],
  )
  assert.deepEqual(troubles, [])
})
