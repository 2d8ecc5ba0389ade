// How a page looks to whoever opens it: what axe-core objects to, what is wider than the screen and, with
// SCREENSHOTS=folder, a picture.
import assert from 'node:assert/strict'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** The rows of a table are alike: all 9,155 elements of the ledger take axe 12 s of processor time. */
const rowsRead = 4
const leaveOutRows = `for (const row of document.querySelectorAll('tbody > tr:nth-child(n + ${rowsRead + 1})')) row.remove()`

const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** What differs between light and dark, and between a large screen and a small one. */
const colourRules = ['color-contrast', 'link-in-text-block', 'target-size']

export interface LookOptions {
  /** False for pages so long that the colours of every word take too long. */
  readonly judgesColours?: boolean
  /** For a page that was looked at before, in other colours. */
  readonly onlyColours?: boolean
}

/** Leaves tables with their first rows only, so this is the last look at a page. */
export async function complaints(page: Page, options: LookOptions = {}): Promise<string[]> {
  const { judgesColours = true, onlyColours = false } = options
  await page.evaluate(leaveOutRows)
  // Through the debugger, so that the page's own policy needs no hole for it.
  await page.evaluate(axe.source)
  const run = {
    runOnly: onlyColours ? colourRules : levels,
    ...(!judgesColours && { rules: { 'color-contrast': { enabled: false } } }),
    resultTypes: ['violations'],
  }
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(run)})`)) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
  }
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

export async function overflow(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}

export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

/** All of it. */
export async function look(page: Page, name: string, options: LookOptions = {}): Promise<void> {
  assert.equal(await overflow(page), 0, `${name} is wider than the screen`)
  await picture(page, name)
  assert.deepEqual(await complaints(page, options), [], name)
}
