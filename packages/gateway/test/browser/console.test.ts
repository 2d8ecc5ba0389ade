// The console in a real browser, on a desktop and a phone, light and dark: nothing that the content security policy
// refuses, and nothing that a critic objects to.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { actingAs } from '../support/acting.ts'
import { launchBrowser, openPage, screens } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { signIn } from '../support/console-browser.ts'
import { look } from '../support/look.ts'

const shop = await openCheckoutShop()
const { gateway, merchant, clock } = shop
const browser: Browser = await launchBrowser()

for (const end of ['failed', 'none', 'cancel', 'success', 'none', 'success'] as const) {
  const order = await shop.order()
  if (end === 'cancel') await shop.cancel(order)
  else if (end !== 'none') await shop.pay(order, end)
  clock.advance(7_000)
}
const { endpoint } = await actingAs(gateway.operations, 'test').endpoints.addEndpoint(
  merchant.merchantId,
  { url: 'http://127.0.0.1:9/warehouse/events', format: 'standard', events: undefined },
  'test',
)
const paid = await shop.order()
await shop.pay(paid, 'success')
const orderPath = `/orders/${merchant.merchantId}/${paid.paymentId}`

const { rows } = await gateway.pool.query<{ wallet_id: string }>('select wallet_id from wallets limit 1')
const walletId = rows[0]?.wallet_id

const signedIn = (options?: Parameters<typeof openPage>[1]) => signIn(browser, gateway, options)

const pages: Record<string, { path: string; expects: RegExp }> = {
  orders: { path: '/orders', expects: /Tea House/ },
  'orders-search': { path: '/find?q=nothing', expects: /No results for/ },
  order: { path: orderPath, expects: /Ledger transfers/ },
  callbacks: { path: '/callbacks', expects: /Unreachable hosts/ },
  'callbacks-given-up': { path: '/callbacks?state=exhausted', expects: /No matching callback/ },
  merchants: { path: '/merchants', expects: /Tea House/ },
  merchant: { path: `/merchants/${merchant.merchantId}`, expects: /Members/ },
  endpoint: {
    path: `/merchants/${merchant.merchantId}/endpoints/${endpoint.endpointId}`,
    expects: /Recent deliveries/,
  },
  'merchant-money': { path: `/merchants/${merchant.merchantId}/money`, expects: /Statement/ },
  money: { path: '/money', expects: /Bank accounts/ },
  fees: { path: '/money/fees', expects: /Fees/ },
  corrections: { path: '/money/corrections', expects: /Corrections/ },
  wallets: { path: '/wallets', expects: /Login/ },
  wallet: { path: `/wallets/${walletId}`, expects: /Consecutive wrong PINs/ },
  ledger: { path: '/ledger', expects: /Debits equal credits/ },
  audit: { path: '/audit', expects: /Onboarded a merchant/ },
  system: { path: '/system', expects: /PostgreSQL/ },
  account: { path: '/account', expects: /Active sessions/ },
  'not-found': {
    path: `/orders/${merchant.merchantId}/P00000000000000000000000000`,
    expects: /No page exists at/,
  },
}

for (const { size, colorScheme, options } of screens) {
  test(`every page reads well (${size}, ${colorScheme})`, async () => {
    const { page: stranger } = await openPage(browser, options)
    await stranger.goto(gateway.adminUrl)
    await look(stranger, `console-sign-in-${size}-${colorScheme}`)
    await stranger.context().close()
    const { page, troubles } = await signedIn(options)
    for (const [name, { path, expects }] of Object.entries(pages)) {
      await page.goto(gateway.adminUrl + path)
      assert.match((await page.locator('main').textContent()) ?? '', expects, name)
      await look(page, `console-${name}-${size}-${colorScheme}`, { onlyColours: size === 'phone' })
    }
    assert.deepEqual(
      troubles.filter((trouble) => !/404/.test(trouble)),
      [],
    )
    await page.context().close()
  })
}
