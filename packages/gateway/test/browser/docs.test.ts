// The documentation in a real browser: light and dark, wide and narrow, with and without a script.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLibrary, pathOf } from '../../src/http/docs/library.ts'
import { desktop, launchBrowser, openPage, phone } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look } from '../support/look.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()
const { papers } = openLibrary(join(import.meta.dirname, '../../../..'))
// Records of decisions are all of one kind: one of them stands for the others.
const looked = papers.filter(({ slug }) => !slug.startsWith('decisions/') || slug.includes('0009'))

// Pages are looked at in turns, one on a desktop in the light, the next on a phone in the dark; with SCREENSHOTS, each in
// both. Colours are judged where the page is short: they are the same on all, and judging them takes a second a page.
const views = [
  {
    size: 'desktop',
    colorScheme: 'light',
    ...(await openPage(browser, { ...desktop, colorScheme: 'light' })),
  },
  { size: 'phone', colorScheme: 'dark', ...(await openPage(browser, { ...phone, colorScheme: 'dark' })) },
]
const longPageLength = 9_000

for (const [turn, { size, colorScheme, page, troubles }] of views.entries()) {
  test(`pages read well (${size}, ${colorScheme})`, async () => {
    const mine = looked.filter((_, index) => process.env['SCREENSHOTS'] || index % views.length === turn)
    assert(mine.length > 5)
    for (const paper of mine) {
      await page.goto(`${gateway.url}${pathOf(paper)}`)
      const name = `docs-${paper.slug.replaceAll('/', '-')}-${size}-${colorScheme}`
      await look(page, name, { judgesColours: paper.markdown.length < longPageLength })
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
  assert.match((await page.evaluate('navigator.clipboard.readText()')) as string, /^npx till create/)
})

test('on a phone without a script the menu opens, leads on, and the search works', async () => {
  const { page } = await openPage(browser, { ...phone, javaScriptEnabled: false })
  await page.goto(`${gateway.url}/docs`)
  assert.equal(await page.getByRole('link', { name: 'Concepts' }).first().isVisible(), true)
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
