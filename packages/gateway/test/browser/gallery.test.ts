// The gallery of components in a real browser: every component on a desktop and a phone, light and dark, and right to left.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchBrowser, openPage, screens } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look, overflow } from '../support/look.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()

for (const { size, colorScheme, options } of screens)
  test(`every component reads well (${size}, ${colorScheme})`, async () => {
    const { page, troubles } = await openPage(browser, options)
    await page.goto(`${gateway.url}/sandbox/gallery?dir=rtl`)
    assert.equal(await overflow(page), 0)
    await page.goto(`${gateway.url}/sandbox/gallery`)
    await page.evaluate('document.fonts.ready')
    assert.equal(await page.evaluate("document.fonts.check('16px Inter')"), true)
    await look(page, `gallery-${size}-${colorScheme}`)
    assert.deepEqual(troubles, [])
  })
