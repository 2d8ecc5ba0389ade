// The pages of payouts in a real browser, on a desktop in light and on a phone in dark: a plan and a bank account are set,
// a run is looked through, sent and paid, and one payout comes back.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { launchBrowser, phone } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { signIn } from '../support/console-browser.ts'
import { look } from '../support/look.ts'
import { addManyMerchants, untilPayoutsRest } from '../support/payouts.ts'
import { operatorPassword } from '../support/started.ts'

const shop = await openCheckoutShop()
const { gateway, merchant, clock } = shop
const { operations, pool } = gateway
const { merchantId } = merchant
const dayMs = 86_400_000
const browser = await launchBrowser()
let { page, troubles } = await signIn(browser, gateway)

await shop.pay(await shop.order(), 'success')
await addManyMerchants(pool, { count: 60, day: new Date(clock.now() + dayMs).toISOString().slice(0, 10) })

const note = async (): Promise<string> => (await page.locator('.flash').textContent()) ?? ''
const workOff = () => untilPayoutsRest({ pool, operations, clock })

async function act(fold: string, button: string, fields: Record<string, string> = {}): Promise<string> {
  const details = page.locator('details.act', { has: page.getByText(fold, { exact: true }) }).first()
  await details.locator('summary').click()
  for (const [name, value] of Object.entries(fields)) {
    const field = details.locator(`[name="${name}"]`)
    if ((await details.locator('select').and(field).count()) > 0) await field.selectOption(value)
    else await field.fill(value)
  }
  await details.getByLabel('Reason, for the audit log').fill('because')
  clock.advance(1_000)
  await details.getByRole('button', { name: button }).click()
  return note()
}

test('a merchant gets a bank account and a plan, and its page says so', async () => {
  await page.goto(`${gateway.adminUrl}/merchants/${merchantId}`)
  await page.getByRole('link', { name: 'Payouts', exact: true }).click()
  const account = {
    currency: 'USD',
    holder: 'Tea House Ltd',
    iban: 'GB82 WEST 1234 5698 7654 32',
    password: operatorPassword,
  }
  assert.match(await act('Set bank account…', 'Set bank account', account), /go there from/)
  const plan = { currency: 'USD', schedule: 'weekly', onDay: '9', least: '5', reserve: '2.50' }
  await act('Set schedule…', 'Set schedule', plan)
  assert.match((await page.locator('main').textContent()) ?? '', /from 1 to 7/)
  await page.locator('[name="onDay"]').fill('1')
  await page.getByRole('button', { name: 'Set schedule' }).click()
  assert.match(await note(), /next payout of USD is on \d{4}-\d{2}-\d{2}/)
  await look(page, 'payouts-merchant-desktop')
})

test('a run is looked through, sent and paid, and one payout comes back', async () => {
  clock.advance(8 * dayMs)
  await workOff()
  // The session is over by then.
  ;({ page, troubles } = await signIn(browser, gateway))
  await page.goto(`${gateway.adminUrl}/money`)
  await page.getByRole('navigation', { name: 'Money' }).getByRole('link', { name: 'Payouts' }).click()
  await look(page, 'payouts-runs-desktop')
  await page.goto(`${gateway.adminUrl}/payouts`)
  await page
    .locator('tbody a')
    .filter({ hasText: /^\d{4}-\d{2}-\d{2}$/ })
    .first()
    .click()
  assert.match(await act('Send…', 'Send run'), /Download its file/)
  const booking = { reference: 'B-2026-1', valueDate: '2026-11-16' }
  const run = page.url()
  await page.locator('td a .money').first().click()
  assert.match(await act('Mark as returned…', 'Mark as returned', booking), /is returned/)
  await look(page, 'payout-desktop')
  await page.goto(run)
  assert.match(await act('Mark as paid…', 'Mark run as paid', booking), /Payouts update/)
  await workOff()
  await page.goto(run)
  await look(page, 'payouts-run-desktop')
  assert.deepEqual(troubles, [])
})

test('all of it on a phone in dark', async () => {
  const small = await signIn(browser, gateway, { ...phone, colorScheme: 'dark' })
  const runs = await actingAs(operations, 'test').payoutRuns.listRuns({ limit: 1 })
  const [payout] = await actingAs(operations, 'test').payouts.listPayouts(
    { runId: runs[0]?.runId },
    { limit: 1 },
  )
  const pages = {
    'payouts-merchant-phone': `/merchants/${merchantId}/payouts`,
    'payouts-runs-phone': '/payouts',
    'payouts-run-phone': `/payouts/${runs[0]?.runId}`,
    'payout-phone': `/merchants/${payout?.merchantId}/payouts/${payout?.payoutId}`,
  }
  for (const [name, path] of Object.entries(pages)) {
    await small.page.goto(gateway.adminUrl + path)
    await look(small.page, name)
  }
  assert.deepEqual(small.troubles, [])
})
