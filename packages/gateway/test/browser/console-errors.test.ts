// A browser follows the links of every surface and listens to its console: no page runs into the content security policy,
// a script error, or a file that is not there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { actingAs } from '../support/acting.ts'
import { desktop, launchBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { signIn } from '../support/console-browser.ts'
import { memberOf, memberPassword } from '../support/portal.ts'

const shop = await openCheckoutShop()
const { gateway, merchant } = shop
const browser = await launchBrowser()
const consumer = await shop.addWallet()
const paid = await shop.order()
await shop.pay(paid, 'success')
const { links } = actingAs(gateway.operations, 'test')
const { link } = await links.createLink(
  merchant.merchantId,
  { linkNo: 'cups', title: 'Six cups', currency: 'USD', uses: 'many', paymentMinutes: 30, goods: [] },
  'test',
)

/** Of pages that differ only in an id or a query, this many are opened. */
const perPattern = 2
const mostPages = 60

async function walk(
  { page, troubles }: WatchedPage,
  origin: string,
  starts: readonly string[],
): Promise<number> {
  const queue = [...starts]
  const seen = new Map<string, number>()
  let opened = 0
  for (const path of queue) {
    const { pathname } = new URL(path, origin)
    const pattern = pathname.replace(/\/[^/]*\d[^/]*/g, '/:id').replace(/^\/docs\/.*/, '/docs/:page')
    const times = seen.get(pattern) ?? 0
    if (times >= perPattern || opened >= mostPages) continue
    seen.set(pattern, times + 1)
    opened++
    await page.goto(new URL(path, origin).href, { waitUntil: 'load' })
    queue.push(...(await linksOf(page, origin)))
    assert.deepEqual(troubles, [], path)
  }
  return opened
}

async function linksOf(page: Page, origin: string): Promise<string[]> {
  const found: string[] = await page.evaluate(
    `[...document.querySelectorAll('a[href]:not([download])')].map((each) => each.href)`,
  )
  return found
    .filter(
      (href) =>
        href.startsWith(`${origin}/`) &&
        !/\.(csv|json|txt|md|pdf|xml|svg|png|tgz|zip|ts)\b|\/return$/.test(href),
    )
    .map((href) => href.slice(origin.length))
}

test('home, docs, sandbox, and the checkout in each of its states', async () => {
  const watched = await openPage(browser, desktop)
  const orders = [await shop.order(), await shop.order(), await shop.order()]
  await shop.pay(orders[1] ?? assert.fail(), 'failed')
  await shop.pay(orders[2] ?? assert.fail(), 'confirming')
  const starts = [...orders, paid].map(({ url }) => new URL(url).pathname)
  for (const start of starts) await walk(watched, gateway.url, [start])
  assert(
    (await walk(watched, gateway.url, [
      '/',
      '/docs',
      '/sandbox',
      '/sandbox/playground',
      `/l/${link.linkId}`,
    ])) > 5,
  )
  await watched.page.context().close()
})

test('the wallet, signed in and at the door', async () => {
  const watched = await openPage(browser, desktop)
  await walk(watched, gateway.url, ['/wallet/sign-in'])
  const { page } = watched
  await page.goto(`${gateway.url}/wallet/sign-in`)
  await page.locator('#login').fill(consumer.login)
  await page.locator('#pin').fill(consumer.pin)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(`${gateway.url}/wallet`)
  assert(
    (await walk(watched, gateway.url, [
      '/wallet',
      '/wallet/close',
      new URL((await shop.order()).url).pathname,
    ])) > 5,
  )
  await page.context().close()
})

test('the portal', async () => {
  const { email } = await memberOf(gateway, merchant.merchantId, 'owner')
  const watched = await openPage(browser, desktop)
  const { page } = watched
  await page.goto(`${gateway.url}/merchant`)
  await page.locator('input[name=email], input[name=login]').fill(email)
  await page.locator('input[name=password]').fill(memberPassword)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(/\/merchant$/)
  assert((await walk(watched, gateway.url, ['/merchant'])) > 10)
  await page.context().close()
})

test('the console', async () => {
  const watched = await signIn(browser, gateway)
  assert((await walk(watched, gateway.adminUrl, ['/overview', '/orders'])) > 10)
  await watched.page.context().close()
})
