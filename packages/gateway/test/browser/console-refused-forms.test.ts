// Acts ask in a dialog, and a form that is refused comes back open in it, filled in, with the errors at their fields and
// the first of them in focus; on a desktop and a phone, light and dark. Without scripts the same form folds out in its place.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchBrowser, phone, screens } from '../support/browser.ts'
import { signIn } from '../support/console-browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look } from '../support/look.ts'
import { operatorPassword } from '../support/started.ts'

const gateway = await startTestGateway()
const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })
const browser = await launchBrowser()

for (const { size, colorScheme, options } of screens)
  test(`a refused form comes back with every error at its field (${size}, ${colorScheme})`, async () => {
    const { page } = await signIn(browser, gateway, options)
    await page.goto(`${gateway.adminUrl}/merchants/${merchantId}`)
    await page.getByText('Change…', { exact: true }).click()
    const form = page.getByRole('dialog', { name: 'Change' })
    await look(page, `console-dialog-${size}-${colorScheme}`)
    await form.getByLabel('Requests per second').fill('many')
    await form.getByLabel('Accent colour').fill('greenish')
    await form.getByLabel('Callback hosts').fill('shop.example, pay.example')
    await form.getByLabel('Reason, for the audit log').fill('brand')
    await form.locator('input[name=password]').fill(operatorPassword)
    await form.getByRole('button', { name: 'Change' }).click()
    const wrong = form.getByLabel('Requests per second')
    await wrong.waitFor()
    assert.equal(await wrong.inputValue(), 'many')
    assert.equal(await form.getByLabel('Callback hosts').inputValue(), 'shop.example, pay.example')
    assert.equal(await form.getByLabel('Reason, for the audit log').inputValue(), 'brand')
    assert.equal(await form.locator('[aria-invalid=true]').count(), 2)
    assert.equal(await form.locator('.error').count(), 2)
    assert.equal(await page.locator('[autofocus]').getAttribute('name'), 'requestsPerSecond')
    assert.equal(await form.getByRole('alert').getByRole('link').count(), 2)
    assert.equal(await form.locator(':focus').getAttribute('name'), 'requestsPerSecond')
    await look(page, `console-refused-${size}-${colorScheme}`)
    await form.getByRole('button', { name: 'Cancel' }).click()
    await form.waitFor({ state: 'hidden' })
    assert.equal(await page.locator('.act[open]').count(), 0)
    await page.context().close()
  })

test('without scripts the form folds out in its place, and comes back open', async () => {
  const { page } = await signIn(browser, gateway, { ...phone, javaScriptEnabled: false })
  await page.goto(`${gateway.adminUrl}/merchants/${merchantId}`)
  const fold = page.locator('.act', { has: page.getByText('Change…', { exact: true }) })
  await fold.locator('summary').click()
  await fold.getByLabel('Requests per second').fill('many')
  await fold.locator('input[name=password]').fill(operatorPassword)
  await fold.getByRole('button', { name: 'Change' }).click()
  assert.equal(await fold.getByLabel('Requests per second').inputValue(), 'many')
  assert.equal(await fold.getByRole('button', { name: 'Cancel' }).count(), 0)
  await page.context().close()
})
