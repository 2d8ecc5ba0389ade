// How a page looks to whoever opens it: what axe-core objects to, what is wider than the screen and, with
// SCREENSHOTS=folder, a picture.
import assert from 'node:assert/strict'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * The rows of a table are alike, and so are tables with the same heads and closed folds of a list: a trial balance for
 * each of 165 currencies takes axe half a minute of processor time.
 */
const alikeRead = 4
const leaveOutAlike = `{
  const leaveOut = (elements, likeness) => {
    const seen = new Map()
    for (const element of elements) {
      const key = likeness(element)
      const times = seen.get(element.parentElement)?.get(key) ?? 0
      if (times >= ${alikeRead}) {
        if (element.matches('h3 + .scroll')) element.previousElementSibling.remove()
        element.remove()
        continue
      }
      if (!seen.has(element.parentElement)) seen.set(element.parentElement, new Map())
      seen.get(element.parentElement).set(key, times + 1)
    }
  }
  leaveOut([...document.querySelectorAll('.scroll:has(> table)')], (scroll) => scroll.querySelector('thead')?.textContent)
  leaveOut([...document.querySelectorAll('details.route:not([open])')], () => 'route')
  leaveOut([...document.querySelectorAll('tbody > tr')], () => 'row')
}`

const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** What differs between light and dark, and between a large screen and a small one. */
const colourRules = ['color-contrast', 'link-in-text-block', 'target-size']

export interface LookOptions {
  /** False for pages so long that the colours of every word take too long. */
  readonly judgesColours?: boolean
  /** For a page that was looked at before, in other colours. */
  readonly onlyColours?: boolean
}

/** Leaves out what is alike, so this is the last look at a page. */
export async function complaints(page: Page, options: LookOptions = {}): Promise<string[]> {
  const { judgesColours = true, onlyColours = false } = options
  await page.evaluate(leaveOutAlike)
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
