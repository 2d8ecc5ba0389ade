// Disputes in a real browser: the shop sees them, sends evidence with a file and accepts one; the operator sees all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchBrowser, openPage, screens } from '../support/browser.ts'
import { signIn } from '../support/console-browser.ts'
import { giveDispute } from '../support/disputes.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look } from '../support/look.ts'
import { memberOf, memberPassword } from '../support/portal.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()
const shop = await gateway.addMerchant({ name: 'Tea House' })
const { merchantId } = shop
const { email } = await memberOf(gateway, merchantId, 'owner')
await gateway.pool.query(
  `insert into rails (rail_id, name, names, url, currencies, least, most, position, created_at)
   values ('card', 'Cards', '{}', 'http://127.0.0.1:9/', '{USD}', '{}', '{}', 1, 1)`,
)
const dispute = async (respondByMs?: number) =>
  giveDispute(gateway.pool, { merchantId, paymentId: await shop.paidOrder(), respondByMs })
const disputes = new Map<string, string>()
const soon = Date.now() + 2 * 86_400_000
for (const name of ['open', ...screens.map(({ size, colorScheme }) => `${size}-${colorScheme}`)])
  disputes.set(name, await dispute(soon))

for (const { size, colorScheme, options } of screens) {
  const name = `${size}-${colorScheme}`
  test(`a shop responds to a dispute (${name})`, async () => {
    const { page, troubles } = await openPage(browser, options)
    await page.goto(`${gateway.url}/merchant`)
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(memberPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${gateway.url}/merchant`)
    assert.match((await page.locator('main').textContent()) ?? '', /A dispute of \$1\.00 needs your response/)
    await look(page, `disputes-home-${name}`, { onlyColours: true })
    await page.goto(`${gateway.url}/merchant/disputes`)
    await look(page, `disputes-list-${name}`)
    await page.goto(`${gateway.url}/merchant/disputes/${disputes.get(name)}`)
    await look(page, `disputes-open-${name}`)
    await page.getByRole('link', { name: 'Send evidence' }).click()
    await look(page, `disputes-evidence-${name}`)
    await page.getByLabel('Your statement').fill('The parcel was delivered on Monday.')
    const file = { name: 'proof.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7\nproof') }
    await page.getByLabel(/Document/).setInputFiles({ ...file, buffer: Buffer.from('text') })
    await page.getByRole('button', { name: 'Send evidence' }).click()
    assert.match((await page.locator('main').textContent()) ?? '', /must be a PDF, JPEG or PNG/)
    await page.getByLabel(/Document/).setInputFiles(file)
    await page.getByRole('button', { name: 'Send evidence' }).click()
    await page.waitForURL(`${gateway.url}/merchant/disputes/${disputes.get(name)}`)
    assert.match((await page.locator('main').textContent()) ?? '', /Monday.*evidence\.pdf.*Being sent/s)
    await look(page, `disputes-sent-${name}`)
    await page.goto(`${gateway.url}/merchant/disputes?lang=ar`)
    await look(page, `disputes-arabic-${name}`, { onlyColours: true })
    assert.deepEqual(
      troubles.filter((each) => !/40\d|422/.test(String(each))),
      [],
    )
  })

  test(`the operator sees disputes, and what nears its deadline (${name})`, async () => {
    const { page } = await signIn(browser, gateway, options)
    await page.goto(gateway.adminUrl)
    assert.match((await page.locator('main').textContent()) ?? '', /Disputes to answer within 3 days/)
    await page.goto(`${gateway.adminUrl}/disputes`)
    assert.match((await page.locator('main').textContent()) ?? '', /Not received/)
    await look(page, `console-disputes-${name}`)
  })
}

test('an accepted dispute is passed on, and is not answered again', async () => {
  const { page } = await openPage(browser)
  await page.goto(`${gateway.url}/merchant`)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(memberPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${gateway.url}/merchant`)
  const path = `${gateway.url}/merchant/disputes/${disputes.get('open')}`
  await page.goto(path)
  await page.getByRole('link', { name: 'Accept dispute' }).click()
  await page.getByRole('button', { name: 'Accept dispute' }).click()
  await page.waitForURL(path)
  assert.match((await page.locator('main').textContent()) ?? '', /Dispute accepted|Accepted/)
  assert.equal(await page.getByRole('link', { name: 'Send evidence' }).count(), 0)
})
