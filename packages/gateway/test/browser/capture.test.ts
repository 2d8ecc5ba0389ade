// A consumer authorizes an order in a real Chromium; the shop captures a part in the portal, and an operator releases the
// rest in the console.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { heading, launchBrowser, openPage, screens } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { signIn as signInToConsole } from '../support/console-browser.ts'
import { look } from '../support/look.ts'
import { memberOf, memberPassword } from '../support/portal.ts'

const shop = await openCheckoutShop({ merchant: { name: 'Tea House' } })
const { gateway, merchant } = shop
const browser = await launchBrowser()
const { email } = await memberOf(gateway, merchant.merchantId, 'owner')

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click()
}

for (const { size, colorScheme, options } of screens) {
  const judged = (page: Page, name: string) => look(page, `capture-${name}-${size}-${colorScheme}`)

  test(`an order is authorized, captured in part and released: ${size}, ${colorScheme}`, async () => {
    const order = await shop.order((body) => {
      body.captureMode = 'manual'
    })
    const wallet = await shop.addWallet()
    const { page, troubles } = await openPage(browser, options)
    await page.goto(order.url)
    if (!(await page.getByLabel('PIN').isVisible())) await page.locator('summary.tile').click()
    await page.getByLabel('Email or phone number').fill(wallet.login)
    await page.getByLabel('PIN').fill(wallet.pin)
    await press(page, 'Continue')
    await page.getByText(/You pay when Tea House ships your order/).waitFor()
    await judged(page, 'confirm')
    await page.getByRole('button', { name: /^Authorize/ }).click()
    await heading(page, 'Payment authorized')
    await page.getByText(/\$12\.50 is reserved in your wallet/).waitFor()
    await judged(page, 'authorized')
    assert.equal(await shop.status(order), 'confirming')

    await page.goto(`${gateway.url}/wallet`)
    await page.getByLabel('Email or phone number').fill(wallet.login)
    await page.getByLabel('PIN').fill(wallet.pin)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.goto(`${gateway.url}/wallet/history`)
    await page.getByText(/Authorized: you pay when the shop ships/).waitFor()
    await judged(page, 'wallet')

    await page.goto(`${gateway.url}/merchant/sign-in`)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(memberPassword)
    await press(page, 'Sign in')
    const orderPage = `${gateway.url}/merchant/orders/${order.paymentId}`
    await page.goto(orderPage)
    await page.getByText('Authorization ends').waitFor()
    await judged(page, 'portal')
    await page.goto(orderPage)
    await page.getByRole('link', { name: 'Capture', exact: true }).click()
    assert.equal(await page.getByLabel('Amount').inputValue(), '12.50')
    await judged(page, 'portal-form')
    await page.goBack()
    await page.getByRole('link', { name: 'Capture', exact: true }).click()
    await page.getByLabel('Amount').fill('5.00')
    await press(page, 'Capture')
    await page.getByText('Captured.', { exact: true }).waitFor()
    await page.getByText('$7.50').first().waitFor()
    await page.goto(`${gateway.url}/merchant/orders`)
    await page.getByText('Authorized').first().waitFor()
    await judged(page, 'portal-list')

    const console = await signInToConsole(browser, gateway, options)
    await console.page.goto(`${gateway.adminUrl}/orders/${merchant.merchantId}/${order.paymentId}`)
    await console.page.getByText('Authorization ends').waitFor()
    await judged(console.page, 'console')
    await console.page.reload()
    await console.page.getByText('Release…').click()
    await console.page
      .locator('form', { hasText: 'can no longer be captured' })
      .getByLabel('Reason')
      .fill('sold out')
    await press(console.page, 'Release')
    await shop.waitFor(order, 'success')
    const { data } = await merchant.call('service.trade.query', { paymentId: order.paymentId })
    assert.deepEqual(
      [data.payAmount, data.authorization.authorizedAmount, data.authorization.remainingAmount],
      [5, 12.5, 0],
    )
    assert.deepEqual([...troubles, ...console.troubles], [])
    await Promise.all([page.context().close(), console.page.context().close()])
  })
}
