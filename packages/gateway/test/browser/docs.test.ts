// The documentation in a real browser: light and dark, wide and narrow, with and without a script.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathOf } from '../../src/adapters/docs/contents.ts'
import { openLibrary } from '../../src/adapters/docs/library.ts'
import { desktop, launchBrowser, openPage, openScreens, phone } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look } from '../support/look.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()
const { papers } = openLibrary({
  root: join(import.meta.dirname, '../../../..'),
  mode: 'sandbox',
  own: { publicUrl: 'http://localhost:8080' },
})
const isThorough = Boolean(process.env['SCREENSHOTS'])
// These hold every kind of thing that a page can hold; axe-core takes a second or more for each. With SCREENSHOTS=folder
// every page is looked at, in both ways.
const typical = ['overview', 'api/create', 'sdk', 'going-live', 'decisions/0009-dependencies']
const looked = papers.filter(({ slug }) => isThorough || typical.includes(slug))

const views = await openScreens(browser)

for (const [turn, { size, colorScheme, page, troubles }] of views.entries()) {
  test(`pages read well (${size}, ${colorScheme})`, async () => {
    const mine = looked.filter((_, index) => isThorough || index % views.length === turn)
    assert(mine.length >= 2)
    for (const paper of mine) {
      await page.goto(`${gateway.url}${pathOf(paper)}`)
      await look(page, `docs-${paper.slug.replaceAll('/', '-')}-${size}-${colorScheme}`)
    }
    await page.goto(`${gateway.url}/docs/search?q=callback`)
    await look(page, `docs-search-${size}-${colorScheme}`)
    assert.deepEqual(troubles, [])
  })
}

test('the search answers while one types, and the slash leads to it', async () => {
  const { page } = await openPage(browser, desktop)
  await page.goto(`${gateway.url}/docs`)
  await page.keyboard.press('/')
  await page.keyboard.type('refund')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Search' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('nonce bytes')
  await page.getByRole('link', { name: '7. Encrypting the body' }).click()
  await page.waitForURL(/\/docs\/protocol#7-encrypting-the-body$/)
})

test('code is copied by one tap', async () => {
  const { page } = await openPage(browser, { ...desktop, permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${gateway.url}/docs/quickstart`)
  await page.locator('.code').first().hover()
  await page.getByRole('button', { name: 'Copy' }).first().click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  assert.match((await page.evaluate('navigator.clipboard.readText()')) as string, /^npm init/)
})

test('copy buttons cover no code, and no line of code is broken', async () => {
  for (const options of [desktop, phone]) {
    const { page } = await openPage(browser, options)
    await page.goto(`${gateway.url}/docs/sdk`)
    await page.getByRole('button', { name: 'Copy' }).first().waitFor()
    const troubles = await page.evaluate(`[...document.querySelectorAll('.code')].flatMap((block) => {
      const [button, pre, code] = ['button', 'pre', 'code'].map((name) => block.querySelector(name))
      const [a, b] = [button, pre].map((each) => each.getBoundingClientRect())
      const isApart = a.left >= b.right || a.bottom <= b.top + parseFloat(getComputedStyle(pre).paddingTop)
      const lines = code.textContent.trimEnd().split('\\n').length
      const isWhole = code.dataset.language === 'text' || code.getBoundingClientRect().height < (lines + 0.5) * parseFloat(getComputedStyle(pre).lineHeight)
      return isApart && isWhole ? [] : [code.textContent.slice(0, 40), lines]
    })`)
    assert.deepEqual(troubles, [])
  }
})

test('on a phone without a script the menu opens, leads on, and the search works', async () => {
  const { page } = await openPage(browser, { ...phone, javaScriptEnabled: false })
  await page.goto(`${gateway.url}/docs`)
  assert.equal(await page.getByRole('link', { name: 'Quickstart' }).first().isVisible(), true)
  assert.equal(await page.getByRole('navigation', { name: 'Documentation' }).isVisible(), false)
  await page.getByRole('button', { name: 'Menu' }).tap()
  await page
    .getByRole('navigation', { name: 'Documentation' })
    .getByRole('link', { name: 'The sandbox' })
    .tap()
  await page.waitForURL(/\/docs\/sandbox$/)
  await page.getByRole('searchbox').fill('test wallets')
  await page.getByRole('searchbox').press('Enter')
  assert.match((await page.locator('#results').textContent()) ?? '', /Test wallets/)
})
