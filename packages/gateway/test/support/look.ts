// A look at a page as people see it: nothing wider than the screen, and nothing that axe-core objects to. With
// SCREENSHOTS=folder it also takes a picture.
import assert from 'node:assert/strict'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

export async function look(page: Page, name: string, { judgesColours = true } = {}): Promise<void> {
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
  assert.equal(await page.evaluate(overflow), 0, `${name} is wider than the screen`)
  if (process.env['SCREENSHOTS'])
    await page.screenshot({ path: `${process.env['SCREENSHOTS']}/${name}.png`, fullPage: true })
  // The page's own policy allows no script: this comes in from outside of it.
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate(
    judgesColours ? 'axe.run()' : 'axe.run({ rules: { "color-contrast": { enabled: false } } })',
  )) as {
    violations: { id: string; nodes: { html: string }[] }[]
  }
  assert.deepEqual(
    violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
    [],
  )
}
