import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchBrowser, openPage, screens } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look } from '../support/look.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()

for (const { size, colorScheme, options } of screens) {
  test(`the home page says that the gateway is ready (${size}, ${colorScheme})`, async () => {
    const { page, troubles } = await openPage(browser, options)
    await page.goto(gateway.url)
    assert.equal(await page.title(), 'Tillgate sandbox')
    assert.equal(await page.locator('#health').textContent(), 'Ready')
    assert.match((await page.locator('main').textContent()) ?? '', /no real money moves/)
    // Nothing is wider than the screen.
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    assert.equal(overflow, 0)
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    assert.equal(background, colorScheme === 'light' ? 'rgb(246, 248, 248)' : 'rgb(14, 19, 18)')
    if (process.env['SCREENSHOTS']) {
      await page.screenshot({ path: `${process.env['SCREENSHOTS']}/home-${size}-${colorScheme}.png` })
    }
    assert.deepEqual(troubles, [])
  })
}

for (const { size, colorScheme, options } of screens) {
  test(`where nothing is, a browser gets a page that leads on (${size}, ${colorScheme})`, async () => {
    const { page } = await openPage(browser, options)
    const response = await page.goto(`${gateway.url}/nothing/here`)
    assert.equal(response?.status(), 404)
    await look(page, `missing-${size}-${colorScheme}`)
    await page.getByRole('link', { name: 'Go to the home page' }).click()
    await page.waitForURL(`${gateway.url}/`)
  })
}

test('where nothing is, a program gets JSON', async () => {
  for (const init of [{}, { headers: { accept: 'application/json' } }, { method: 'POST' }]) {
    const response = await fetch(`${gateway.url}/nothing/here`, init)
    const { code, data } = (await response.json()) as { code: number; data: { requestId: string } }
    assert.deepEqual([response.status, code], [404, 40401])
    assert(data.requestId)
  }
})

test('a page may run no script and load nothing from elsewhere', async () => {
  const response = await fetch(gateway.url)
  const policy = response.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.doesNotMatch(policy, /unsafe|script-src|https?:/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(response.headers.get('cache-control'), 'no-store')
})
