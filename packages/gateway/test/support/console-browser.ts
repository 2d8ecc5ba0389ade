// The console in a real browser: signing in, and looking at a page as a critic would. Nothing wider than the screen,
// nothing that axe-core objects to. With SCREENSHOTS=folder each look is also a picture.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { desktop, openPage, type WatchedPage } from './browser.ts'
import type { TestGateway } from './gateway.ts'
import { operatorPassword } from './started.ts'

export async function signIn(
  browser: Browser,
  { adminUrl }: Pick<TestGateway, 'adminUrl'>,
  options: Parameters<typeof openPage>[1] = desktop,
): Promise<WatchedPage> {
  const watched = await openPage(browser, options)
  await watched.page.goto(adminUrl)
  await watched.page.getByLabel('Login').fill('admin')
  await watched.page.getByLabel('Password').fill(operatorPassword)
  await watched.page.getByRole('button', { name: 'Sign in' }).click()
  await watched.page.waitForURL(`${adminUrl}/**`)
  return watched
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const allRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** What differs between light and dark. */
const colourRules = ['color-contrast', 'link-in-text-block']

async function complaints(page: Page, rules: readonly string[]): Promise<string[]> {
  // Through the debugger, so that the page's own policy needs no hole for it.
  await page.evaluate(axe)
  const violations = (await page.evaluate(
    `axe.run({ runOnly: ${JSON.stringify(rules)} }).then((r) => r.violations)`,
  )) as { id: string; nodes: { html: string; failureSummary: string }[] }[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

export async function look(
  page: Page,
  name: string,
  { onlyColours = false }: { onlyColours?: boolean } = {},
): Promise<void> {
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
  assert.equal(await page.evaluate(overflow), 0, `${name} is wider than the screen`)
  assert.deepEqual(await complaints(page, onlyColours ? colourRules : allRules), [], name)
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: `${folder}/console-${name}.png`, fullPage: true })
}
