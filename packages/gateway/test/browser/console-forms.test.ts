// The console's forms for money in a real browser: without a script, and with the keyboard alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { desktop, launchBrowser } from '../support/browser.ts'
import { type OpenOrder, openCheckoutShop } from '../support/checkout.ts'
import { signIn } from '../support/console-browser.ts'

const shop = await openCheckoutShop()
const { gateway, merchant } = shop
const browser = await launchBrowser()
const pathOf = ({ paymentId }: OpenOrder) => `${gateway.adminUrl}/orders/${merchant.merchantId}/${paymentId}`

test('an order is refunded by its form, without a script', async () => {
  const order = await shop.order()
  await shop.pay(order, 'success')
  const { page } = await signIn(browser, gateway, { ...desktop, javaScriptEnabled: false })
  await page.goto(pathOf(order))
  await page.getByText('Refund…').click()
  await page.getByLabel('Amount').fill('3.00')
  await page.getByLabel('Reason (optional)').fill('a cup broke')
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  assert.match((await page.locator('.flash.good').textContent()) ?? '', /of 3\.00 is pending/)
  await page.context().close()
})

test('every act can be reached and done by keyboard', async () => {
  const order = await shop.order()
  const { page } = await signIn(browser, gateway)
  await page.goto(pathOf(order))
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate('document.activeElement.textContent')) === 'Cancel…') break
  }
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.type('by keyboard')
  await page.keyboard.press('Enter')
  await page.locator('.flash.good').waitFor()
  assert.equal(await shop.status(order), 'cancelled')
  await page.context().close()
})
