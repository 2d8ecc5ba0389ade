// Two people at the console in real browsers, one on a desktop in light, one on a phone in dark: a payout that one asks
// for and the other approves, the second step of signing in, tokens and the description of the admin API. Every page of
// it reads well and passes axe-core. With SCREENSHOTS=folder it also takes pictures.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { totpCode } from '../../src/identity/accounts/totp.ts'
import { actingAs } from '../support/acting.ts'
import { fromBase32 } from '../support/base32.ts'
import { desktop, launchBrowser, openPage, phone } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { type LookOptions, look } from '../support/look.ts'

const shop = await openCheckoutShop({ environment: { APPROVAL_FOR: 'payout' } })
const { gateway, clock, merchant } = shop
const browser: Browser = await launchBrowser()
const password = 'a password of the team'
const { operators } = actingAs(gateway.operations, 'test')
for (const login of ['alice', 'bob']) await operators.addOperator({ login, role: 'admin', password })
await shop.pay(await shop.order(), 'success')

interface Person {
  readonly login: string
  readonly page: Page
  readonly troubles: readonly string[]
  readonly name: (page: string) => string
  /** How the pages are looked at that the other one sees as well. */
  readonly seen: LookOptions
}

async function personAt(
  login: string,
  size: 'desktop' | 'phone',
  colorScheme: 'light' | 'dark',
): Promise<Person> {
  const options = size === 'phone' ? phone : desktop
  const { page, troubles } = await openPage(browser, { ...options, colorScheme })
  const seen = { onlyColours: size === 'phone' }
  return { login, page, troubles, seen, name: (what) => `console-${what}-${size}-${colorScheme}` }
}
const alice = await personAt('alice', 'desktop', 'light')
const bob = await personAt('bob', 'phone', 'dark')

async function signIn({ page, login }: Person): Promise<void> {
  await page.goto(`${gateway.adminUrl}/sign-in`)
  await page.getByLabel('Login').fill(login)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function goTo({ page }: Person, path: string): Promise<void> {
  await page.goto(gateway.adminUrl + path)
}

async function said({ page }: Person): Promise<string> {
  return (await page.locator('.flash').textContent()) ?? ''
}

test('one asks for a payout, the other sees it, approves it, and it is done', async () => {
  await signIn(alice)
  await signIn(bob)
  await goTo(alice, `/merchants/${merchant.merchantId}`)
  await alice.page.getByText('Pay out…').click()
  const fold = alice.page.locator('details[open]')
  await fold.getByLabel('Amount').fill('2.50')
  await fold.getByLabel('Currency').fill('USD')
  await fold.getByLabel('Reason, for the audit log').fill('the weekly one')
  await fold.getByRole('button', { name: 'Pay out' }).click()
  assert.match(await said(alice), /waits for another operator/)
  assert.equal(await alice.page.getByText('Approve…').count(), 0)
  await look(alice.page, alice.name('approvals'))

  await goTo(bob, '/callbacks')
  await bob.page.getByRole('button', { name: 'Menu' }).click()
  assert.match((await bob.page.getByRole('link', { name: /Approvals/ }).textContent()) ?? '', /1 waiting/)
  await bob.page.getByRole('link', { name: /Approvals/ }).click()
  await bob.page.getByText('Approve…').click()
  await look(bob.page, bob.name('approvals'))
  const approving = bob.page.locator('details[open]')
  await approving.getByLabel('Reason, for the audit log').fill('as agreed')
  await approving.getByLabel('Your password').fill(password)
  await bob.page.getByRole('button', { name: 'Approve and run' }).click()
  assert.match(await said(bob), /Approved\./)
  await goTo(alice, '/approvals?status=all')
  assert.match((await alice.page.locator('main').textContent()) ?? '', /Approved.*bob.*as agreed/s)
  const { rows } = await gateway.pool.query("select from transfers where kind = 'payout' and phase = 'hold'")
  assert.equal(rows.length, 1)
})

const secrets = new Map<Person, Buffer>()

for (const person of [alice, bob]) {
  test(`a second step is set up and asked for (${person.login})`, async () => {
    const { page, name, seen } = person
    await goTo(person, '/account/second-step')
    await look(page, name('second-step'), seen)
    await page.getByLabel('Your password').fill(password)
    await page.getByRole('button', { name: 'Set up' }).click()
    await look(page, name('second-step-secret'), seen)
    const uri = new URL((await page.locator('details code').textContent()) ?? '')
    const secret = fromBase32(uri.searchParams.get('secret') ?? '')
    secrets.set(person, secret)
    await page.getByLabel('Code shown in the app').fill(totpCode(secret, clock.now()))
    await page.getByRole('button', { name: 'Turn on two-step verification' }).click()
    assert.equal(await page.locator('.codes li').count(), 10)
    await look(page, name('second-step-codes'), seen)
    await page.context().clearCookies()
    clock.advance(30_000)
    await signIn(person)
    await look(page, name('sign-in-code'), seen)
    await page.getByLabel('Code from your app').fill(totpCode(secret, clock.now()))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await goTo(person, '/account')
    assert.match((await page.locator('main').textContent()) ?? '', /your password and a code from your app/)
  })

  test(`a token is made and shown once, and the API is described (${person.login})`, async () => {
    const { page, name, seen } = person
    await goTo(person, '/account/tokens')
    await page.getByText('Create a token…').click()
    await page.getByRole('textbox', { name: 'Name' }).fill('nightly')
    await page.getByLabel('orders:read').check()
    await page.getByLabel('Your password').fill(password)
    clock.advance(30_000)
    await page.getByLabel('Code from the app').fill(totpCode(secrets.get(person) ?? Buffer.of(), clock.now()))
    await look(page, name('tokens'), seen)
    await page.getByRole('button', { name: 'Create token' }).click()
    assert.match((await page.locator('.secret code').textContent()) ?? '', /^tillgate_/)
    await look(page, name('token-made'), seen)
    await page.getByRole('link', { name: 'Done' }).click()
    assert.match((await page.locator('main').textContent()) ?? '', /nightly.*orders:read/s)
    await goTo(person, '/api')
    await page.locator('[id="merchant.payout"] summary').click()
    await page.locator('[id="order.list"] summary').click()
    await look(page, name('api'), seen)
    assert.deepEqual(person.troubles, [])
  })
}
