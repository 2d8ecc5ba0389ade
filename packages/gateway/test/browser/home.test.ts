import assert from 'node:assert/strict'
import { test } from 'node:test'
import { desktop, launchBrowser, openPage, phone } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()

for (const [size, options] of Object.entries({ desktop, phone })) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`the home page says that the gateway is ready (${size}, ${colorScheme})`, async () => {
      const { page, troubles } = await openPage(browser, { ...options, colorScheme })
      await page.goto(gateway.url)
      assert.equal(await page.title(), 'Tillgate sandbox')
      assert.equal(await page.locator('.badge').textContent(), 'Ready')
      assert.match((await page.locator('main').textContent()) ?? '', /no real money moves/)
      // Nothing is wider than the screen.
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      assert.equal(overflow, 0)
      const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      assert.equal(background, colorScheme === 'light' ? 'rgb(251, 251, 249)' : 'rgb(19, 21, 20)')
      if (process.env['SCREENSHOTS']) {
        await page.screenshot({ path: `${process.env['SCREENSHOTS']}/home-${size}-${colorScheme}.png` })
      }
      assert.deepEqual(troubles, [])
    })
  }
}

test('a page may run no script and load nothing from elsewhere', async () => {
  const response = await fetch(gateway.url)
  const policy = response.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.doesNotMatch(policy, /unsafe|script-src|https?:/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(response.headers.get('cache-control'), 'no-store')
})
