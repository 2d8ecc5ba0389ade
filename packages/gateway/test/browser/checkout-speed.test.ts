// How soon a consumer sees the checkout and a payment link on a slow phone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchBrowser, openPage, phone } from '../support/browser.ts'
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

test('the first view of the checkout takes at most 60 kB, with the typeface', async () => {
  const { page } = await openPage(browser, phone)
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.goto((await shop.order()).url, { waitUntil: 'networkidle' })
  assert.equal(await page.evaluate("document.fonts.check('16px Inter')"), true)
  process.stdout.write(`the first view: ${bytes} bytes\n`)
  assert(bytes > 10_000 && bytes <= 60_000, `${bytes} bytes`)
})

for (const [name, url] of Object.entries(pages))
  test(`${name} is painted within a second on a slow phone, with at most 15 kB of script`, () =>
    assertQuick(browser, name, { url }))
