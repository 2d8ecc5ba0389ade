// Every form with a file in a real browser, with the page's script and without: the browser sends the token before the file.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { desktop, launchBrowser, openPage } from '../support/browser.ts'
import { signIn } from '../support/console-browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { memberOf, memberPassword } from '../support/portal.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()
const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })
const { email } = await memberOf(gateway, merchantId, 'owner')
const logo = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const statement = camt053({
  iban: 'DE89370400440532013000',
  currency: 'EUR',
  version: 8,
  openingMinor: 0n,
  from: '2026-01-05',
  through: '2026-01-06',
  // Longer than what a browser sends in one piece.
  lines: Array.from({ length: 500 }, (_, at) => ({
    reference: `B${at}`,
    day: '2026-01-05',
    amountMinor: 500n,
    text: 'Bücher "%22" und Tee',
  })),
})

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with the page’s script' : 'without a script'

  test(`a statement is imported in the console ${how}`, async () => {
    const { page } = await signIn(browser, gateway, { ...desktop, javaScriptEnabled })
    await page.goto(`${gateway.adminUrl}/reconciliation/imports`)
    await page.getByText('Import a statement…').click()
    const form = page.locator('form[action="/reconciliation/import"]')
    await form
      .locator('input[type=file]')
      .setInputFiles({ name: 'naïve "name".xml', mimeType: 'text/xml', buffer: Buffer.from(statement) })
    await form.getByLabel('Account (if not in the file)').fill('bank:main')
    await form.getByLabel('Preview only').selectOption('yes')
    await form.getByRole('button', { name: 'Import', exact: true }).click()
    assert.match((await page.locator('.flash.good').textContent()) ?? '', /The file has 500 lines/)
    await page.context().close()
  })

  test(`a logo is set and removed in the portal ${how}`, async () => {
    const { page } = await openPage(browser, { ...desktop, javaScriptEnabled })
    await page.goto(`${gateway.url}/merchant/sign-in`)
    await page.locator('input[name=email]').fill(email)
    await page.locator('input[name=password]').fill(memberPassword)
    await page.locator('form button.primary').click()
    await page.waitForURL(/\/merchant$/)
    const send = async (isChosen: boolean) => {
      await page.goto(`${gateway.url}/merchant/settings/logo`)
      if (isChosen)
        await page
          .locator('input[type=file]')
          .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: logo })
      await page.locator('form button.primary').click()
      await page.waitForURL(/\/merchant\/settings$/)
      return page.locator('main img').count()
    }
    assert.equal(await send(true), 1)
    assert.equal(await send(false), 0)
    await page.context().close()
  })
}
