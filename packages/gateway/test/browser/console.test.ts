// The console in a real browser, on a desktop and a phone, light and dark: nothing wider than the screen, nothing
// that axe-core objects to, nothing that the content security policy refuses; and every act by its form. With
// SCREENSHOTS=folder it also takes pictures.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { desktop, launchBrowser, openPage, phone, type WatchedPage } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { operatorPassword } from '../support/started.ts'

const shop = await openCheckoutShop()
const { gateway, merchant, clock } = shop
const browser: Browser = await launchBrowser()

for (const end of ['failed', 'none', 'cancel', 'success', 'none', 'success'] as const) {
  const order = await shop.order()
  if (end === 'cancel') await shop.cancel(order)
  else if (end !== 'none') await shop.pay(order, end)
  clock.advance(7_000)
}
const paid = await shop.order()
await shop.pay(paid, 'success')
const orderPath = `/orders/${merchant.merchantId}/${paid.paymentId}`

const { rows } = await gateway.pool.query<{ wallet_id: string }>('select wallet_id from wallets limit 1')
const walletId = rows[0]?.wallet_id

async function signedIn(options: Parameters<typeof openPage>[1] = desktop): Promise<WatchedPage> {
  const watched = await openPage(browser, options)
  await watched.page.goto(gateway.adminUrl)
  await watched.page.getByLabel('Login').fill('admin')
  await watched.page.getByLabel('Password').fill(operatorPassword)
  await watched.page.getByRole('button', { name: 'Sign in' }).click()
  await watched.page.waitForURL(`${gateway.adminUrl}/**`)
  return watched
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

async function complaints(page: Page): Promise<string[]> {
  // Through the debugger, so that the page's own policy needs no hole for it.
  await page.evaluate(axe)
  const violations = (await page.evaluate(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then((r) => r.violations)",
  )) as { id: string; nodes: { html: string; failureSummary: string }[] }[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

async function look(page: Page, name: string): Promise<void> {
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
  assert.equal(await page.evaluate(overflow), 0, `${name} is wider than the screen`)
  assert.deepEqual(await complaints(page), [], name)
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: `${folder}/console-${name}.png`, fullPage: true })
}

const pages: Record<string, { path: string; expects: RegExp }> = {
  orders: { path: '/orders', expects: /Tea House/ },
  'orders-search': { path: '/orders?q=nothing', expects: /Nothing is called/ },
  order: { path: orderPath, expects: /Ledger transfers/ },
  callbacks: { path: '/callbacks', expects: /Failing hosts/ },
  'callbacks-given-up': { path: '/callbacks?state=exhausted', expects: /No callback fits/ },
  merchants: { path: '/merchants', expects: /Tea House/ },
  merchant: { path: `/merchants/${merchant.merchantId}`, expects: /Statement/ },
  wallets: { path: '/wallets', expects: /Login/ },
  wallet: { path: `/wallets/${walletId}`, expects: /Wrong PINs in a row/ },
  ledger: { path: '/ledger', expects: /debits equal credits/ },
  audit: { path: '/audit', expects: /merchant.add/ },
  system: { path: '/system', expects: /PostgreSQL/ },
  account: { path: '/account', expects: /Where you are signed in/ },
  'not-found': { path: `/orders/${merchant.merchantId}/P00000000000000000000000000`, expects: /nothing at/ },
}

for (const [size, colorScheme, options] of [
  ['desktop', 'light', desktop],
  ['phone', 'dark', phone],
] as const) {
  test(`every page reads well (${size}, ${colorScheme})`, async () => {
    const { page: stranger } = await openPage(browser, { ...options, colorScheme })
    await stranger.goto(gateway.adminUrl)
    await look(stranger, `sign-in-${size}-${colorScheme}`)
    await stranger.context().close()
    const { page, troubles } = await signedIn({ ...options, colorScheme })
    for (const [name, { path, expects }] of Object.entries(pages)) {
      await page.goto(gateway.adminUrl + path)
      assert.match((await page.locator('main').textContent()) ?? '', expects, name)
      await look(page, `${name}-${size}-${colorScheme}`)
    }
    assert.deepEqual(
      troubles.filter((trouble) => !/404/.test(trouble)),
      [],
    )
    await page.context().close()
  })
}

test('an order is refunded by its form, without a script', async () => {
  const { page } = await signedIn({ ...desktop, javaScriptEnabled: false })
  await page.goto(gateway.adminUrl + orderPath)
  await page.getByText('Refund…').click()
  await page.getByLabel('Amount in USD').fill('3.00')
  await page.getByLabel('Reason, for the audit').first().fill('a cup broke')
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  assert.match((await page.locator('.note.good').textContent()) ?? '', /over 3 USD is under way/)
  await page.context().close()
})

test('every act can be reached and done by keyboard', async () => {
  const order = await shop.order()
  const { page } = await signedIn()
  await page.goto(`${gateway.adminUrl}/orders/${merchant.merchantId}/${order.paymentId}`)
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate('document.activeElement.textContent')) === 'Cancel…') break
  }
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.type('by keyboard')
  await page.keyboard.press('Enter')
  await page.locator('.note.good').waitFor()
  assert.equal(await shop.status(order), 'cancelled')
  await page.context().close()
})
