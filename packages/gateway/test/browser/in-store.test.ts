// Paying in a store in a real Chromium: a phone shows its code, and a till charges it over the API, also when the response
// to the first request is lost. Then the consumer confirms a larger amount, and pastes the code of a store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { desktop, heading, launchBrowser, openPage, phone } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { look } from '../support/look.ts'

const shop = await openCheckoutShop({ merchant: { name: 'Tea House' } })
const { gateway, merchant } = shop
const { url } = gateway
const browser = await launchBrowser()

interface Scanned {
  readonly orderNo: string
  readonly amount: string
}

const scan = (code: string, { orderNo, amount }: Scanned) =>
  merchant.call('service.order.scan', { code, orderNo, amount, currency: 'USD' })

const digitsOn = (page: Page) => page.locator('#pay-code .digits').innerText()

async function signIn(page: Page): Promise<void> {
  const wallet = await shop.addWallet()
  await page.goto(`${url}/wallet`)
  await page.getByLabel('Email or phone number').fill(wallet.login)
  await page.getByLabel('PIN').fill(wallet.pin)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Pay in store' }).click()
  await page.locator('#pay-code svg').waitFor()
}

for (const colorScheme of ['light', 'dark'] as const)
  test(`a phone shows its code, and a till charges it once although a response is lost: ${colorScheme}`, async () => {
    const { page, troubles } = await openPage(browser, { ...phone, colorScheme })
    await signIn(page)
    const first = await digitsOn(page)
    assert.match(first, /^(?:\d{4} ){3}\d{4}$/)

    const small = { orderNo: `small-${colorScheme}`, amount: '4.20' }
    // The till never sees the response to its first request, and asks again.
    await scan(first, small)
    const again = await scan(first, small)
    assert.equal(again.code, 20000, again.msg)
    await page.locator('#payments').getByText('$4.20').waitFor()
    await page.locator('#payments').getByText('Paid').waitFor()
    // The used code makes way for a new one by itself.
    await page.locator('#pay-code .digits').filter({ hasNotText: first }).waitFor()
    assert.equal((await scan(first, { ...small, orderNo: `screenshot-${colorScheme}` })).code, 40403)

    const large = { orderNo: `large-${colorScheme}`, amount: '60.00' }
    const { data } = await scan(await digitsOn(page), large)
    assert.equal(data.status, 'pending')
    const confirm = page.getByRole('link', { name: 'Confirm $60.00' })
    await confirm.waitFor()
    await look(page, `in-store-code-phone-${colorScheme}`)
    await page.goto(`${url}/wallet/in-store`)
    await confirm.click()
    await page.getByLabel('PIN').fill('246810')
    await page.getByRole('button', { name: 'Pay $60.00' }).click()
    await heading(page, 'Payment successful')
    await shop.waitFor({ url: '', paymentId: data.paymentId }, 'success')
    const { data: queried } = await merchant.call('service.trade.query', { orderNo: small.orderNo })
    assert.equal(queried.paymentStatus, 'success')
    await page.goto(`${url}/wallet`)
    await page.getByText('$35.80').first().waitFor()
    assert.deepEqual(troubles, [])
  })

test('the wallet opens what a store shows: its address and its EMV code, and nothing of another gateway', async () => {
  const { page, troubles } = await openPage(browser, { ...phone, colorScheme: 'light' })
  await signIn(page)
  const order = await shop.order()
  const path = new URL(order.url).pathname
  await page.getByRole('link', { name: 'Scan a payment code' }).click()
  await page.getByLabel('Content of the code').fill('https://evil.example/checkout/1/P1/x')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.locator('#problem-content').waitFor()
  await look(page, 'in-store-scan-phone-light')
  await page.goto(`${url}/wallet/scan`)
  const { publicUrl } = gateway.operations
  await page.getByLabel('Content of the code').fill(`${publicUrl}${path}`)
  await page.getByRole('button', { name: 'Continue' }).click()
  await heading(page, 'Tea House')
  assert.equal(new URL(page.url()).pathname, path)
  assert.deepEqual(
    troubles.filter((trouble) => !trouble.includes('422')),
    [],
  )
})

test('the checkout shows the EMV code beside the plain one', async () => {
  const { page, troubles } = await openPage(browser, { ...desktop, colorScheme: 'light' })
  const order = await shop.order()
  await page.goto(order.url)
  await page.getByText('Continue on your phone').click()
  await page.getByText('EMV code for payment apps').click()
  await page.getByRole('img', { name: 'EMV code for payment apps' }).waitFor()
  assert.equal((await page.request.get(`${order.url}/emv.svg`)).status(), 200)
  await look(page, 'in-store-emv-desktop-light')
  assert.deepEqual(troubles, [])
})

test('without scripts, the code and the payments are there', async () => {
  const { page } = await openPage(browser, { ...phone, javaScriptEnabled: false })
  await signIn(page)
  const code = await digitsOn(page)
  assert.equal((await scan(code, { orderNo: 'without-scripts', amount: '1.00' })).code, 20000)
  await page.getByRole('link', { name: 'New code' }).click()
  await page.locator('#payments').getByText('$1.00').waitFor()
  assert.notEqual(await digitsOn(page), code)
})
