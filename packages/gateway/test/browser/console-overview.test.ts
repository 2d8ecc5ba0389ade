// The overview in a real browser over two weeks of trade: walked by tabs and tables, brought up to date by the script,
// readable light and dark, on a desktop and on a phone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { hourMs, keptMs, startOf } from '../../src/finance/overview/rules/overview.ts'
import { makeOverviewHours } from '../../src/finance/overview/store/overview-hours.ts'
import { desktop, launchBrowser, phone, screens } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { signIn } from '../support/console-browser.ts'
import { look, overflow, picture } from '../support/look.ts'
import { insertPastOrders, type PastOrder } from '../support/past-orders.ts'

const shop = await openCheckoutShop()
const { gateway, merchant, clock } = shop
const startMs = clock.now() + 37 * 60_000
await insertPastOrders(gateway.pool, weeksOfTrade(startMs))
clock.advance(startMs - clock.now())
const hours = makeOverviewHours(gateway.pool)
// Every hour at once: the gateway's own worker rests ever longer on a busy machine, and leaves an hour whose count failed
// for ten minutes, which do not pass while the test's clock stands still.
const lastHourMs = startOf(startMs, hourMs)
await hours.count(
  Array.from({ length: keptMs / hourMs }, (_, index) => lastHourMs - keptMs + (index + 1) * hourMs),
  { nowMs: startMs, timeoutMs: 60_000 },
)
const paid = await shop.order()
await shop.pay(paid, 'success')
clock.advance(10_000)
const browser: Browser = await launchBrowser()

/** More by day than by night, a bad hour two days ago, three currencies. */
function weeksOfTrade(nowMs: number): PastOrder[] {
  const orders: PastOrder[] = []
  // Always the same numbers, so that a picture changes only when the page does.
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  for (let hour = 14 * 24 + 6; hour > 0; hour--) {
    const atMs = nowMs - hour * hourMs
    const wave = 1 + Math.sin(((atMs % (24 * hourMs)) / (24 * hourMs)) * 2 * Math.PI - Math.PI / 2)
    const isBad = hour > 50 && hour < 56
    for (let left = Math.round(4 + 9 * wave + 3 * random()); left > 0; left--) {
      const draw = random()
      const isPaid = draw < (isBad ? 0.4 : 0.86)
      const status = isPaid ? 'success' : draw < 0.9 ? 'failed' : draw < 0.93 ? 'cancelled' : 'timeout'
      const place = random()
      orders.push({
        merchantId: merchant.merchantId,
        createdAtMs: Math.floor(atMs + random() * hourMs * 0.999),
        status,
        currency: place < 0.6 ? 'USD' : place < 0.9 ? 'EUR' : 'JPY',
        amountMinor: BigInt(500 + Math.floor(random() * 9_000)),
        tookMs: Math.floor(8_000 + 90_000 * random() ** 3),
        ...(status !== 'cancelled' && {
          callback: {
            eventName: isPaid ? 'payment.order.success' : 'payment.order.failed',
            ...(isBad && random() < 0.1
              ? { isExhausted: true }
              : { deliveredAfterMs: Math.floor(40 + 400 * random() ** 4 + (isBad ? 30_000 * random() : 0)) }),
          },
        }),
      })
    }
  }
  return orders.filter(({ createdAtMs }) => createdAtMs < nowMs)
}

for (const { size, colorScheme, options } of screens) {
  test(`the overview reads well (${size}, ${colorScheme})`, async () => {
    const { page, troubles } = await signIn(browser, gateway, options)
    assert.equal(new URL(page.url()).pathname, '/overview')
    assert.equal(await page.locator('.chart svg').count(), 4)
    await look(page, `console-overview-${size}-${colorScheme}`, { onlyColours: size === 'phone' })
    assert.deepEqual(troubles, [])
    await page.context().close()
  })
}

test('the windows are walked and a table is folded out, without a script', async () => {
  const { page } = await signIn(browser, gateway, { ...desktop, javaScriptEnabled: false })
  for (const [name, points] of [
    ['Last hour', 12],
    ['Last week', 28],
    ['Last day', 24],
  ] as const) {
    await page.getByRole('link', { name }).click()
    assert.equal(await page.locator('.segments [aria-current]').last().textContent(), name)
    const table = page.locator('#chart-orders')
    assert.equal(await table.locator('tbody tr').first().isVisible(), false)
    await table.locator('summary').click()
    assert.equal(await table.locator('tbody tr').first().isVisible(), true)
    assert.equal(await table.locator('tbody tr').count(), points)
  }
  await page.context().close()
})

test('a point tells its figures to a pointer and to the keyboard, and money has a tab for each currency', async () => {
  const { page } = await signIn(browser, gateway, { ...desktop, javaScriptEnabled: false })
  const points = page.locator('.chart').first().locator('li')
  const tip = points.nth(3).locator('.tip')
  assert.equal(await tip.isVisible(), false)
  await points.nth(3).hover()
  await tip.waitFor()
  await picture(page, 'console-overview-tip')
  await points.nth(2).focus()
  await page.keyboard.press('Tab')
  await page.mouse.move(0, 0)
  await tip.waitFor()
  assert.match(await tip.innerText(), /\d\d:00\s+created \d+\s+paid \d+\s+created, the day before \d+/)
  const inEuro = page
    .locator('.chart')
    .nth(1)
    .filter({ hasText: /^\s*Paid, in EUR/ })
  await page.getByRole('link', { name: 'EUR', exact: true }).click()
  await inEuro.waitFor()
  await page.getByRole('link', { name: 'Last week' }).click()
  await page.waitForURL(/last=week/)
  await inEuro.waitFor()
  await page.context().close()
})

test('on a phone the figures of every point stay within the screen', async () => {
  const { page } = await signIn(browser, gateway, phone)
  const points = page.locator('.chart').nth(1).locator('li')
  for (const index of [0, 11, 12, 23]) {
    await points.nth(index).focus()
    assert.equal(await overflow(page), 0, `point ${index}`)
    const { x = -1, width = 0 } = (await points.nth(index).locator('.tip').boundingBox()) ?? {}
    assert.ok(x >= 0 && x + width <= phone.viewport.width, `point ${index}: ${x} to ${x + width}`)
  }
  await page.context().close()
})

test('the script brings in what happened since, and leaves an open table open', async () => {
  const watched = await signIn(browser, gateway)
  await watched.page.clock.install()
  await watched.page.goto(`${gateway.adminUrl}/overview?last=hour`)
  const orders = watched.page.locator('.figures dd').first()
  const before = Number.parseInt((await orders.textContent()) ?? '', 10)
  await watched.page.locator('#chart-orders summary').click()
  await shop.order()
  clock.advance(4_000)
  await watched.page.clock.runFor(5_000)
  await orders.getByText(new RegExp(`^${before + 1}`)).waitFor()
  assert.equal(await watched.page.locator('#chart-orders').getAttribute('open'), '')
  assert.equal(await watched.page.evaluate('document.activeElement.parentElement.id'), 'chart-orders')
  await watched.page.context().close()
})
