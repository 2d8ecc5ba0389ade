import assert from 'node:assert/strict'
import { test } from 'node:test'
import { desktop, launchBrowser, openPage, phone } from '../support/browser.ts'
import { look } from '../support/look.ts'
import { openTestBank, startMessage } from '../support/test-bank.ts'

const browser = await launchBrowser()

for (const [size, colorScheme, options] of [
  ['desktop', 'light', desktop],
  ['phone', 'dark', phone],
  ['phone', 'light', phone],
  ['desktop', 'dark', desktop],
] as const) {
  test(`approve after 5 seconds, look at the bank’s front page, and approve there what was never settled (${size}, ${colorScheme})`, async () => {
    const bank = await openTestBank()
    const { page, troubles } = await openPage(browser, { ...options, colorScheme })
    const [slow, never] = [1, 2].map(() => startMessage({ returnUrl: `${bank.url}/` }))
    assert(slow && never)
    for (const start of [slow, never]) await bank.send(start)

    await page.goto(`${bank.url}/pay/${slow.transactionId}`)
    await look(page, `test-bank-pay-${size}-${colorScheme}`)
    await page.goto(`${bank.url}/pay/${slow.transactionId}`)
    await page.getByRole('button', { name: 'Approve after 5 seconds' }).click()
    await page.waitForURL(`${bank.url}/`)
    await bank.choose(never.transactionId, 'never')
    const refund = { type: 'refund.start', transactionId: slow.transactionId, currency: 'EUR' }
    await bank.send({ ...refund, refundId: 'R1', amount: '1.00', amountMinor: '100' })
    await page.goto(`${bank.url}/`)
    await look(page, `test-bank-front-${size}-${colorScheme}`)
    await page.goto(`${bank.url}/`)
    await page.locator('.rows li').first().getByRole('button', { name: 'Approve' }).click()
    assert.match((await page.locator('.rows li').first().textContent()) ?? '', /approved/)
    await page.getByRole('button', { name: 'Declined' }).click()
    assert.equal(await page.getByRole('button', { name: 'Declined' }).getAttribute('aria-pressed'), 'true')
    await page.goto(`${bank.url}/pay/${never.transactionId}`)
    await look(page, `test-bank-paid-${size}-${colorScheme}`)
    assert.deepEqual(troubles, [])
  })
}
