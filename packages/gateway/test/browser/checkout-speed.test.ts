// How soon a consumer sees the checkout and a payment link on a slow phone.
import { test } from 'node:test'
import { launchBrowser } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { assertQuick } from '../support/page-speed.ts'

const shop = await openCheckoutShop()
const browser = await launchBrowser()

const link = await shop.merchant.call('service.link.create', {
  linkNo: 'speed',
  title: 'A tree',
  currency: 'EUR',
  amount: 5,
})
const pages: Record<string, () => Promise<string>> = {
  'the checkout': async () => (await shop.order()).url,
  'a payment link': async () => shop.gateway.url + new URL(link.data.linkUrl).pathname,
}

for (const [name, url] of Object.entries(pages))
  test(`${name} is painted within a second on a slow phone, with at most 15 kB of script`, () =>
    assertQuick(browser, name, { url }))
