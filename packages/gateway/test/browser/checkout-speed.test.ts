// How soon a consumer sees the checkout on a slow phone: Chromium as Lighthouse holds it for "slow 4G" and a processor four
// times slower, from the click to the largest paint.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchBrowser, openPage, phone } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'

const shop = await openCheckoutShop()
const browser = await launchBrowser()
const mostMs = 1_000
const slow4g = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1024 * 1024) / 8,
  uploadThroughput: (750 * 1024) / 8,
}
/** Of several, because other work on this machine makes one slower and none quicker. */
const runs = 5

const largestPaint = `new Promise((resolve) => {
  let last = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) last = entry.startTime
  }).observe({ type: 'largest-contentful-paint', buffered: true })
  setTimeout(() => resolve(last), 1500)
})`

const link = await shop.merchant.call('service.link.create', {
  ...{ linkNo: 'speed', title: 'A tree', currency: 'EUR', amount: 5 },
})
const pages: Record<string, () => Promise<string>> = {
  'the checkout': async () => (await shop.order()).url,
  'a payment link': async () => shop.gateway.url + new URL(link.data.linkUrl).pathname,
}

for (const [name, url] of Object.entries(pages)) {
  test(`${name} is painted within a second on a slow phone, with nothing of it in the browser’s memory`, async () => {
    const times: number[] = []
    for (let run = 0; run < runs; run++) {
      const { page } = await openPage(browser, phone)
      const session = await page.context().newCDPSession(page)
      await session.send('Network.enable')
      await session.send('Network.emulateNetworkConditions', slow4g)
      await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
      await page.goto(await url())
      times.push(Number(await page.evaluate(largestPaint)))
      await page.context().close()
      if (Math.min(...times) < mostMs) break
    }
    process.stdout.write(`${name}: ${times.map((ms) => Math.round(ms)).join(', ')} ms\n`)
    assert(Math.min(...times) > 0 && Math.min(...times) < mostMs, times.join(', '))
  })
}

test('its script is at most 15 kB', async () => {
  const { page } = await openPage(browser, phone)
  await page.goto((await shop.order()).url)
  const source = await page.locator('script[src]').getAttribute('src')
  const script = await (await fetch(shop.gateway.url + source)).text()
  assert(script.length <= 15_000, `${script.length}`)
  await page.context().close()
})
