import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { desktop, heading, launchBrowser, openPage, screens } from '../support/browser.ts'
import { sandboxEnvironment } from '../support/gateway.ts'
import { look } from '../support/look.ts'
import { lineWith, startProcess } from '../support/process.ts'

/** The program as `npm start` runs it, with the shop beside it. */
const shopPort = await freePort()
const gateway = await startProcess({ ...(await sandboxEnvironment()), SHOP_PORT: String(shopPort) })
const { shopUrl } = JSON.parse(await lineWith(gateway, 'the demo shop is open'))
after(async () => {
  gateway.child.kill('SIGTERM')
  await gateway.exited()
})
const browser = await launchBrowser()

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function putIntoCart(page: Page): Promise<void> {
  await page.goto(shopUrl)
  await page.getByRole('button', { name: 'Add to cart: Sencha' }).click()
  await page.getByRole('button', { name: 'Add to cart: Cup' }).click()
  await page.getByRole('button', { name: 'One Sencha more' }).click()
  assert.equal(await page.locator('.total').textContent(), '€34.50')
}

for (const { size, colorScheme, options } of screens) {
  test(`buy, pay with a test wallet, and the shop shows the callback that it received (${size}, ${colorScheme})`, async () => {
    const { page, troubles } = await openPage(browser, options)
    await putIntoCart(page)
    await look(page, `shop-${size}-${colorScheme}`)
    await page.getByRole('button', { name: 'Buy', exact: true }).click()
    await page.waitForURL(`${gateway.publicUrl}/checkout/**`)
    assert.match((await page.locator('main').textContent()) ?? '', /34\.50/)
    await page.locator('button[value=approves]').click()
    // The processing page offers the way back, too, with another status; the page of a success returns automatically.
    await heading(page, 'Payment successful')
    await page.waitForURL(`${shopUrl}/orders/**`)
    await page.locator('.badge.good').waitFor()
    assert.equal(await page.locator('.badge').textContent(), 'Paid')
    const said = JSON.parse((await page.locator('pre').textContent()) ?? '')
    assert.equal(said.status, 'success')
    assert.equal(said.paymentAmount, 34.5)
    assert.match(
      (await page.locator('.steps').textContent()) ?? '',
      /Callback received payment.order.success/,
    )
    assert.match((await page.locator('.steps').textContent()) ?? '', /signed status=success/)
    await look(page, `shop-paid-${size}-${colorScheme}`)

    await page.getByRole('button', { name: 'Refund this order' }).click()
    await page.getByText('Your money was refunded').waitFor()
    const refund = JSON.parse((await page.locator('pre').textContent()) ?? '')
    assert.deepEqual([refund.status, refund.refundAmount], ['refund_success', 34.5])
    assert.match((await page.locator('.steps').textContent()) ?? '', /payment.refund.success/)
    await look(page, `shop-refunded-${size}-${colorScheme}`)
    assert.deepEqual(troubles, [])
  })
}

test('a payment that failed is said to have failed, with the callback that says why', async () => {
  const { page } = await openPage(browser, desktop)
  await putIntoCart(page)
  await page.getByRole('button', { name: 'Buy', exact: true }).click()
  await page.locator('button[value=declines]').click()
  await page.getByRole('link', { name: 'Back to Leaf & Cup' }).click()
  await page.locator('.badge.bad').waitFor()
  assert.match((await page.locator('h1').textContent()) ?? '', /failed. You have not been charged/)
  assert.equal(JSON.parse((await page.locator('pre').textContent()) ?? '').status, 'failed')
  await look(page, 'shop-failed')
})

test('the home page of the sandbox leads to the shop', async () => {
  const { page } = await openPage(browser, desktop)
  await page.goto(gateway.publicUrl)
  await page.getByRole('link', { name: 'the demo shop' }).click()
  await page.waitForURL(`${shopUrl}/`)
  assert.equal(await page.title(), 'Leaf & Cup')
})

test('the shop is less than 200 lines without its page templates', () => {
  const folder = join(import.meta.dirname, '../../../../examples/shop')
  const lines = ['main.ts', 'cart.ts', 'shop.ts'].map(
    (name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').length,
  )
  assert(lines.reduce((sum, count) => sum + count) < 200, `${lines}`)
})
