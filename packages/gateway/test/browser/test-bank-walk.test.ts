// What a newcomer does with the sandbox's test bank, in a real Chromium: pays there and comes back; declines there and pays
// from a wallet; pays there when the order has ended, and the money goes back.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { after, afterEach, test } from 'node:test'
import { openBank } from '../../../../examples/rail/server.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { desktop, heading, launchBrowser, openPage, phone } from '../support/browser.ts'
import { until } from '../support/callbacks.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'
import { freePort } from '../support/test-bank.ts'

const port = await freePort()
const gateway = await startTestGateway({ environment: { RAIL_PORT: String(port) } })
const { secret } = JSON.parse(readFileSync(`${gateway.config.dataDir}/sandbox-rail.json`, 'utf8'))
const bankUrl = `http://127.0.0.1:${port}`
const bank = openBank({ url: bankUrl, secrets: [secret] }).listen(port, '127.0.0.1')
await once(bank, 'listening')
after(() => {
  bank.close()
  bank.closeAllConnections()
})
const merchant = await gateway.addMerchant()
const browser = await launchBrowser()

afterEach(async () => {
  assert.deepEqual((await gateway.operations.verifyLedger()).findings, [])
})

/** At the bank's page of an order that was made just now. */
async function atBank(options: typeof desktop | typeof phone, choice: string) {
  const { data } = await merchant.call('service.trade.create', createBody({ now: systemClock.now() }))
  const { page, troubles } = await openPage(browser, options)
  await page.goto(data.checkoutUrl)
  await page.getByRole('button', { name: 'Test bank', exact: true }).click()
  await page.waitForURL(`${bankUrl}/**`)
  await page.getByRole('button', { name: choice, exact: true }).click()
  await page.waitForURL(`${gateway.url}/**`)
  return { page, troubles, paymentId: String(data.paymentId) }
}

async function eventsOf(paymentId: string): Promise<string[]> {
  const { rows } = await gateway.pool.query<{ event_name: string }>(
    'select event_name from callbacks where payment_id = $1 order by created_at',
    [paymentId],
  )
  return rows.map(({ event_name }) => event_name.replace('payment.order.', ''))
}

test('approve there, come back paid, with both callbacks', async () => {
  const { page, troubles, paymentId } = await atBank(desktop, 'Approve')
  await heading(page, 'Payment successful')
  assert.deepEqual(await eventsOf(paymentId), ['confirming', 'success'])
  assert.deepEqual(troubles, [])
})

test('decline there, and pay from a wallet instead', async () => {
  const { page, troubles, paymentId } = await atBank(phone, 'Decline')
  await page.getByText('Test bank declined the payment.').waitFor()
  await page.getByRole('button', { name: 'Succeeds Paid immediately' }).click()
  await heading(page, 'Payment successful')
  const { data } = await merchant.call('service.trade.query', { paymentId })
  assert.equal(data.payMethod, 'wallet')
  assert.deepEqual(troubles, [])
})

test('paid there after the expiry: the order stays timed out, and the money goes back', async () => {
  const { page, troubles, paymentId } = await atBank(desktop, 'Approve after the order expires')
  await heading(page, /^Waiting for Test bank/)
  await merchant.call('service.sandbox.advance', { paymentId, milliseconds: 31 * 60_000 })
  await page.getByText('This payment has expired').first().waitFor()
  const key = { merchantId: merchant.merchantId, paymentId }
  await until(async () => (await gateway.stores.attempts.listAttempts(key))[0]?.status === 'returned')
  assert.deepEqual(await eventsOf(paymentId), ['timeout'])
  assert.deepEqual(troubles, [])
})
