// The portal in a real browser: sandbox access, a password by the link, a key pair that never leaves the page, and every
// page on a desktop and a phone, light and dark, without a fault that axe finds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { launchBrowser, openPage, phone, screens } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look } from '../support/look.ts'
import { createBody } from '../support/order.ts'
import { giveBankAccount, planFor, testIban } from '../support/payouts.ts'
import { memberOf, memberPassword } from '../support/portal.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()
const shop = await gateway.addMerchant({ name: 'Tea House' })
const { merchantId } = shop
const { email } = await memberOf(gateway, merchantId, 'owner')
const { endpoint } = await actingAs(gateway.operations, 'test').endpoints.addEndpoint(
  merchantId,
  { url: 'http://127.0.0.1:9/warehouse/events', format: 'standard', events: ['payment.order.success'] },
  'test',
)
const paymentId = await shop.paidOrder()
await shop.call('service.trade.create', createBody({ now: Date.now() }))
const { rows } = await gateway.pool.query<{ callback_id: string }>(
  'select callback_id from callbacks where merchant_id = $1 limit 1',
  [merchantId],
)
await actingAs(gateway.operations, 'test').members.inviteMember({
  merchantId,
  email: 'somebody.with.a.long.name@shop.example',
  role: 'finance',
})
await gateway.merchants.setLogo(
  merchantId,
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
)

const { links, bankAccounts, prices, payoutPlans, payouts } = actingAs(gateway.operations, 'test')
const { link } = await links.createLink(
  merchantId,
  {
    linkNo: 'cups',
    title: 'A set of six cups',
    currency: 'USD',
    amountMinor: 4_800n,
    uses: 'many',
    paymentMinutes: 30,
    goods: [],
  },
  'test',
)
await giveBankAccount(gateway.pool, merchantId)
await payouts.requestPayout(
  { merchantId, currency: 'USD', amountMinor: 500n, bankName: 'main' },
  { reason: 'test' },
)
const account = {
  currency: 'EUR',
  holder: 'Tea House GmbH',
  iban: testIban,
  lines: undefined,
  bic: undefined,
}
await bankAccounts.setBankAccount(merchantId, account, { reason: 'test' })
await payoutPlans.setPlan(planFor(merchantId, { schedule: 'daily' }), 'test')
await prices.setPrice(
  {
    merchantId,
    railId: undefined,
    currency: 'USD',
    fromMs: undefined,
    terms: { fixedMinor: 30n, basisPoints: 290, leastMinor: 35n, mostMinor: undefined, returnsFee: true },
  },
  'test',
)
const { payoutId } = (await gateway.stores.payouts.listPayouts({ merchantId }, { limit: 1 }))[0] ?? {}
// As of yesterday, because a day is billed when it is over.
await gateway.pool.query(
  "update transfers set made_at = made_at - 86400000 where merchant_id = $1 and phase in ('post', 'direct')",
  [merchantId],
)
await gateway.pool.query("update bill_turns set next_day = '1970-01-01'")
await gateway.pool.query(
  'update prices set valid_from = created_at - 60000, created_at = created_at - 120000',
)
await gateway.operations.makeBills()

const pages: Readonly<Record<string, { readonly path: string; readonly expects: RegExp }>> = {
  home: { path: '', expects: /Balance/ },
  orders: { path: '/orders', expects: /order-/ },
  order: { path: `/orders/${paymentId}`, expects: /Timeline/ },
  refund: { path: `/orders/${paymentId}/refund`, expects: /The money goes back/ },
  money: { path: '/money', expects: /Statement/ },
  bills: { path: '/bills', expects: /Closing balance/ },
  payouts: { path: '/payouts', expects: /Daily/ },
  payout: { path: `/payouts/${payoutId}`, expects: /end-to-end ID/ },
  bank: { path: '/bank', expects: /Tea House GmbH/ },
  'bank-change': { path: '/bank/change', expects: /Account holder/ },
  fees: { path: '/fees', expects: /Agreed with your shop/ },
  links: { path: '/links', expects: /A set of six cups/ },
  link: { path: `/links/${link.linkId}`, expects: /Results/ },
  'new-link': { path: '/links/new', expects: /Number of payments/ },
  keys: { path: '/keys', expects: /Gateway public key/ },
  'new-rsa-key': { path: '/keys/rsa', expects: /generated in this browser/ },
  callbacks: { path: '/callbacks', expects: /service\.|PAYMENT|payment/i },
  callback: { path: `/callbacks/${rows[0]?.callback_id}`, expects: /Body/ },
  endpoints: { path: '/endpoints', expects: /warehouse\/events/ },
  'new-endpoint': { path: '/endpoints/new', expects: /Standard Webhooks/ },
  endpoint: { path: `/endpoints/${endpoint.endpointId}`, expects: /Active secrets/ },
  requests: { path: '/requests', expects: /Rejected and slow/ },
  settings: { path: '/settings', expects: new RegExp(merchantId) },
  'settings-change': { path: '/settings/change', expects: /within 5 seconds/ },
  logo: { path: '/settings/logo', expects: /next to your name/ },
  members: { path: '/members', expects: /somebody\.with/ },
  invite: { path: '/members/invite', expects: /link to send to the new member/ },
  account: { path: '/account', expects: /Active sessions/ },
  'not-found': { path: '/orders/P00000000000000000000000000', expects: /Page not found/ },
}

for (const { size, colorScheme, options } of screens)
  test(`every page reads well (${size}, ${colorScheme})`, async () => {
    const { page, troubles } = await openPage(browser, options)
    await page.goto(`${gateway.url}/merchant`)
    await look(page, `portal-sign-in-${size}-${colorScheme}`)
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(memberPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${gateway.url}/merchant`)
    for (const [name, { path, expects }] of Object.entries(pages)) {
      await page.goto(`${gateway.url}/merchant${path}`)
      assert.match((await page.locator('main').textContent()) ?? '', expects, name)
      await look(page, `portal-${name}-${size}-${colorScheme}`, { onlyColours: size === 'phone' })
    }
    await page.goto(`${gateway.url}/merchant?lang=ar`)
    await look(page, `portal-arabic-${size}-${colorScheme}`, { onlyColours: true })
    await page.goto(`${gateway.url}/merchant/keys?lang=de`)
    await look(page, `portal-german-${size}-${colorScheme}`, { onlyColours: true })
    // What is not there is not there: the browser notes it.
    assert.deepEqual(
      troubles.filter((each) => !/404/.test(each)),
      [],
    )
  })

test('a newcomer comes in by the sandbox’s page and makes a key that never leaves the browser', async () => {
  const { page } = await openPage(browser, phone)
  const sent: string[] = []
  page.on('request', (request) => sent.push(request.postData() ?? ''))
  await page.goto(`${gateway.url}/sandbox`)
  await page.getByLabel('Name of your shop').fill('New Shop')
  await page.getByLabel(/Your e-mail address/).fill('new@shop.example')
  await page.getByRole('button', { name: 'Get access' }).click()
  const link = await page.getByRole('link', { name: 'Open the portal' }).getAttribute('href')
  await page.goto(link ?? '')
  await page.getByLabel('Password', { exact: true }).fill(memberPassword)
  await page.getByLabel('Confirm password').fill(memberPassword)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByText('Get your first payment').waitFor()
  await page.goto(`${gateway.url}/merchant/keys/rsa`)
  await page.getByRole('button', { name: 'Generate a key pair in this browser' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Save the private key' }).click()
  assert.equal((await download).suggestedFilename(), 'private.pem')
  await page.getByLabel('Your password').fill(memberPassword)
  await page.getByRole('button', { name: 'New RSA key' }).click()
  await page.getByText('New RSA key active.').waitFor()
  const [{ merchantId: own } = { merchantId: '' }] =
    await gateway.stores.members.listMemberships('new@shop.example')
  assert.equal(
    (await gateway.merchants.showMerchant(own)).keys.filter(({ kind }) => kind === 'rsa').length,
    2,
  )
  assert.ok(!sent.some((body) => decodeURIComponent(body).includes('PRIVATE KEY')))
})

test('a payment link shows what customers will see while a member types it', async () => {
  const { page } = await openPage(browser)
  await page.goto(`${gateway.url}/merchant`)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(memberPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${gateway.url}/merchant`)
  await page.goto(`${gateway.url}/merchant/links/new`)
  const preview = page.locator('#link-preview')
  await preview.getByText('Customer chooses').waitFor()
  await page.getByLabel('Title').fill('Tea tasting')
  await page.getByLabel('Amount', { exact: true }).fill('25')
  await page.getByLabel('Currency').selectOption('JPY')
  await preview.getByText('¥25').waitFor()
  assert.match((await preview.textContent()) ?? '', /Tea House.*Tea tasting/)
})
