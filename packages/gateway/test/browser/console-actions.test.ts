// One admin's round through the console in a real browser: each action by its form, as a person does it, what the page
// says after it, and at the end the audit, which knows all of them.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { signIn } from '../support/console-browser.ts'
import { operatorPassword } from '../support/started.ts'

const shop = await openCheckoutShop()
const { gateway, merchant, clock } = shop
const { page, troubles } = await signIn(await launchBrowser(), gateway)

const goTo = (path: string) => page.goto(gateway.adminUrl + path)
const said = async (): Promise<string> => (await page.locator('main').innerText()).replaceAll(/\s+/g, ' ')
const note = async (): Promise<string> => (await page.locator('.flash').textContent()) ?? ''

interface Act {
  readonly fold: string
  readonly button: string
  readonly fields?: Readonly<Record<string, string>>
  /** Where there are several of this name. */
  readonly within?: Locator | Page
  readonly wantsReason?: boolean
}

const proof = { 'Your password': operatorPassword }

/** Opens the fold, reads what will happen, fills in, and does it. */
async function act({ fold, button, fields = {}, within = page, wantsReason = true }: Act): Promise<void> {
  const details = within.locator('details.act', {
    has: page.getByText(fold, { exact: true }),
  })
  await details.locator('summary').click()
  assert.notEqual(await details.locator('form p').first().innerText(), '', `${fold} says what will happen`)
  for (const [label, value] of Object.entries(fields)) {
    const field = details.locator('form').getByLabel(label)
    if ((await details.locator('select').and(field).count()) > 0) await field.selectOption(value)
    else await field.fill(value)
  }
  if (wantsReason) await details.getByLabel('Reason, for the audit log').fill(`because of ${fold}`)
  clock.advance(1_000)
  await details.getByRole('button', { name: button }).click()
}

/** Delivery goes on meanwhile, to an address that refuses: what is under way or due cannot be sent again. */
async function untilDeliveryRests(): Promise<void> {
  for (let tries = 0; tries < 5_000; tries++) {
    const { rowCount } = await gateway.pool.query(
      'select from callback_queue where claim_id is not null or is_resend or due_at <= $1',
      [clock.now()],
    )
    if (rowCount === 0) return
  }
  assert.fail('callbacks are still under way')
}

test('before anything has happened the overview says so, in words', async () => {
  await goTo('/overview')
  const text = await said()
  for (const words of [/no ended orders/, /no payments/, /no callbacks/, /none late/])
    assert.match(text, words)
  assert.doesNotMatch(text, /— ?,|within —/)
})

test('a host is paused and resumed, and callbacks are sent again, one and several', async () => {
  const host = '127.0.0.1:9'
  await shop.pay(await shop.order(), 'success')
  await untilDeliveryRests()
  await goTo('/callbacks')
  await act({ fold: 'Pause a host…', button: 'Pause host', fields: { Host: host } })
  assert.equal(await note(), `No callback is sent to ${host} until the pause ends. Callbacks wait.`)
  const row = page.getByRole('row').filter({ hasText: host }).first()
  assert.match(await row.innerText(), /127\.0\.0\.1:9.*paused/s)
  await act({ fold: 'Resume…', button: `Resume ${host}`, within: row })
  assert.equal(await note(), `Waiting callbacks to ${host} are sent now.`)

  await untilDeliveryRests()
  const ticks = page.getByRole('checkbox')
  assert.equal(await ticks.count(), 2)
  for (const tick of await ticks.all()) await tick.check()
  await act({ fold: 'Resend selected…', button: 'Resend selected' })
  assert.equal(await note(), '2 of 2 callbacks will be resent.')
  await untilDeliveryRests()
  await page.getByRole('link', { name: 'payment.order.success' }).click()
  await act({ fold: 'Resend…', button: 'Resend' })
  assert.match(await note(), /will be resent now/)
})

test('a merchant is suspended and resumed, and its keys are exchanged', async () => {
  await goTo('/merchants')
  await page.getByRole('link', { name: 'Tea House' }).click()
  await act({ fold: 'Suspend…', button: 'Suspend merchant' })
  assert.match(await said(), /suspended/)
  clock.advance(10_000)
  assert.equal((await merchant.call('service.trade.query', { orderNo: 'x' })).code, 40300)
  await act({ fold: 'Resume…', button: 'Resume merchant' })
  assert.match(await said(), /active/)
  clock.advance(10_000)
  assert.equal((await merchant.call('service.trade.query', { orderNo: 'x' })).code, 40400)

  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  await act({
    fold: 'New RSA public key…',
    button: 'Add the key',
    fields: { 'Public key': pem, ...proof },
  })
  assert.match(await note(), /^Key .* is active/)
  await act({ fold: 'New AES key…', button: 'Generate the key', fields: proof })
  assert.match(await page.locator('.secret code').last().innerText(), /^[A-Za-z0-9+/]{43}=$/)
  await page.getByRole('link', { name: 'Done' }).click()
  const keys = page.getByRole('table', { name: 'Keys' }).getByRole('row')
  const live = keys.filter({ hasText: 'Active' })
  assert.equal(await live.count(), 4)
  await act({ fold: 'Revoke…', button: 'Revoke the key', within: live.filter({ hasText: 'RSA' }).last() })
  assert.match(await note(), /is revoked: the gateway rejects it within 5 seconds/)
  assert.equal(await keys.locator('.pill', { hasText: 'Revoked' }).count(), 1)
})

test('a wallet is added, topped up, locked and unlocked, and the ledger is proved', async () => {
  await goTo('/wallets')
  await act({
    fold: 'Create a wallet…',
    button: 'Create wallet',
    fields: { Login: 'mira@wallet.example', Name: 'Mira' },
  })
  assert.match(await page.locator('.secret code').innerText(), /^\d{6}$/)
  // The form for money bears the id of its action, and the audit is in the order of ids.
  clock.advance(1_000)
  await page.getByRole('link', { name: 'Done' }).click()
  await act({ fold: 'Top up…', button: 'Top up', fields: { Amount: '25.50', Currency: 'EUR' } })
  assert.equal(await note(), '25.50 EUR were added to the wallet.')
  assert.match(await said(), /EUR 25\.50 EUR/)
  await act({ fold: 'Lock…', button: 'Lock wallet' })
  assert.equal(await note(), 'The wallet is locked.')
  await act({ fold: 'Unlock…', button: 'Unlock wallet' })
  assert.equal(await note(), 'The wallet is active.')

  await goTo('/ledger')
  await act({ fold: 'Verify now…', button: 'Verify the ledger', wantsReason: false })
  await page.getByRole('heading', { name: 'The ledger is clean' }).waitFor()
  assert.match(await note(), /All rules hold/)
})

test('an operator is added and disabled, and one’s own password is changed', async () => {
  await goTo('/account')
  await act({
    fold: 'Add an operator…',
    button: 'Add operator',
    fields: { Login: 'vera', Role: 'viewer', ...proof },
    wantsReason: false,
  })
  assert.match(await page.locator('.secret code').innerText(), /^\S{12,}$/)
  await page.getByRole('link', { name: 'Done' }).click()
  const vera = page.getByRole('row').filter({ hasText: 'vera' })
  await act({ fold: 'Disable…', button: 'Disable vera', within: vera })
  assert.equal(await note(), 'Operator vera is disabled.')
  await act({ fold: 'Enable…', button: 'Enable vera', fields: proof, within: vera })
  assert.equal(await note(), 'Operator vera is enabled.')

  const password = 'another password for tests'
  clock.advance(1_000)
  await page.getByLabel('Current password').fill(operatorPassword)
  await page.getByLabel('New password, at least').fill(password)
  await page.getByLabel('Repeat new password').fill(password)
  await page.getByRole('button', { name: 'Change password' }).click()
  assert.match(await page.locator('body').innerText(), /Password changed\. Sign in with the new password\./)
  clock.advance(1_000)
  await page.getByLabel('Login').fill('admin')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
})

test('the audit knows every act of the round, who did it and why', async () => {
  await goTo('/audit')
  const entries = await page.locator('tbody tr').evaluateAll((all) =>
    all.map((row) => ({
      text: [...row.querySelectorAll('td')].map((cell) => cell.textContent).join('\n'),
      act: row.querySelector('td:nth-child(3) span')?.getAttribute('title'),
    })),
  )
  const own = entries.filter(({ text }) => /admin\s*console · 127\.0\.0\.1/.test(text)).toReversed()
  const rows = own.map(({ text }) => text)
  const acts = own.map(({ act }) => act)
  assert.deepEqual(acts, [
    'operator.sign-in',
    'callback-host.pause',
    'callback-host.resume',
    'callback.resend',
    'callback.resend',
    'callback.resend',
    'merchant.suspend',
    'merchant.resume',
    'key.add',
    'key.add',
    'key.revoke',
    'wallet.add',
    'wallet.top-up',
    'wallet.lock',
    'wallet.unlock',
    'operator.add',
    'operator.disable',
    'operator.enable',
    'operator.change-password',
    'operator.sign-in',
  ])
  for (const why of ['Pause a host…', 'Suspend…', 'Revoke…', 'Top up…', 'Disable…'])
    assert(
      rows.some((row) => row.includes(`because of ${why}`)),
      why,
    )
  assert.deepEqual(troubles, [])
})

test('the description of the admin API shows the address under which it was asked for', async () => {
  await goTo('/api')
  const shown = await page.getByLabel('Example').innerText()
  assert(shown.includes(`${gateway.adminUrl}/`), shown)
})
