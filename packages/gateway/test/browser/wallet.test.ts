// The whole life of a wallet in a real Chromium without scripts: registered, topped up at the test bank, paid at a payment
// link, with a receipt by mail, a new PIN, a withdrawal and the end; the books are proved at each step. And its looks.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openBank } from '../../../../examples/rail/server.ts'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { languages } from '../../src/adapters/checkout/languages.ts'
import { wordsOf } from '../../src/adapters/wallet/languages.ts'
import { openMailSession } from '../../src/platform/outbound/smtp.ts'
import { actingAs } from '../support/acting.ts'
import { heading, launchBrowser, openPage, openScreens, phone } from '../support/browser.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look, overflow } from '../support/look.ts'
import { startMailServer, textOf } from '../support/mail-server.ts'
import { testOperations } from '../support/operations.ts'
import { testIban, untilPayoutsRest } from '../support/payouts.ts'
import { freePort } from '../support/test-bank.ts'
import { consumerOf } from '../support/wallet.ts'

const mail = await startMailServer()
// The test bank looks at the time itself.
const clock = new TestClock(Date.now())
const gateway = await startTestGateway({
  clock,
  environment: {
    SMTP_URL: mail.url,
    SMTP_FROM: 'Pay <no-reply@pay.test>',
    REGISTRATION: 'on',
    OPERATOR_NAME: 'Example Pay',
    WITHDRAWALS_UP_TO: '100 EUR',
  },
})
const merchant = await gateway.addMerchant()
const { pool, url, operations } = gateway
const { sendEmails } = testOperations(pool, {
  config: gateway.config,
  clock,
  openMail: () => openMailSession(mail.settings),
}).operations
const bankPort = await freePort()
const bankUrl = `http://127.0.0.1:${bankPort}`
const { secret } = await actingAs(operations, 'test').rails.addRail(
  'bank',
  { ...noExtras, name: 'My bank', url: `${bankUrl}/messages`, currencies: ['EUR'] },
  'test',
)
const bank = openBank({ url: bankUrl, secrets: [secret], journalPath: undefined }).listen(
  bankPort,
  '127.0.0.1',
)
after(() => bank.close().closeAllConnections())
clock.advance(4_000)
const browser = await launchBrowser()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

async function prove(): Promise<void> {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
}

async function lastMailTo(address: string): Promise<string> {
  await sendEmails.sendDue(new AbortController().signal)
  const last = mail.received.filter(({ to }) => to === address).at(-1)
  assert(last, `no mail to ${address}`)
  return textOf(last.raw)
}

test('registered, topped up, paid, told by mail, a new PIN, withdrawn and closed, without scripts', async () => {
  const { page, troubles } = await openPage(browser, { ...phone, javaScriptEnabled: false })
  const login = 'ann@home.example'
  await page.goto(`${url}/wallet`)
  await page.getByRole('link', { name: 'Open a wallet' }).click()
  await page.getByLabel('Email address').fill(login)
  await press(page, 'Send me a code')
  await page.getByLabel('One-time code').waitFor()
  // It is mailed after the page was sent.
  await until(async () => (await pool.query('select 1 from registrations')).rows.length === 1)
  const [code = ''] = /\b\d{8}\b/.exec(await lastMailTo(login)) ?? []
  await page.getByLabel('One-time code').fill(code)
  await page.getByLabel('Your name').fill('Ann Example')
  await page.getByLabel('Choose a PIN').fill('246810')
  await page.getByLabel('Repeat PIN').fill('246810')
  await press(page, 'Open wallet')
  await heading(page, 'Hello, Ann Example')
  await prove()

  await page.getByRole('link', { name: 'Top up' }).first().click()
  await page.getByRole('link', { name: 'EUR Euro' }).click()
  await page.getByRole('button', { name: '€10', exact: true }).waitFor()
  await page.getByLabel('Other amount').fill('50')
  await press(page, 'Continue')
  await heading(page, 'How do you want to pay?')
  assert.equal(await page.getByLabel('PIN').count(), 0, 'no wallet pays a top-up')
  await page.getByRole('button', { name: 'My bank' }).click()
  await page.waitForURL(`${bankUrl}/**`)
  await press(page, 'Approve')
  await heading(page, 'Top-up complete')
  await prove()
  await page.getByRole('link', { name: 'Back to Example Pay' }).click()
  await page.getByText('€50.00').first().waitFor()

  const body = { linkNo: 'tree', title: 'A tree for the park', currency: 'EUR', amount: 12 }
  const { data } = await merchant.call('service.link.create', body)
  const link = new URL(data.linkUrl).pathname
  assert.equal((await page.request.get(`${url}${link}/qr.svg`)).status(), 200)
  await page.goto(url + link)
  await press(page, 'Pay €12.00')
  // Signed in at /wallet: the PIN is all that is asked for.
  await page.getByText('Signed in as Ann Example').waitFor()
  await page.getByLabel('PIN').fill('246810')
  await press(page, 'Pay €12.00')
  await heading(page, 'Payment successful')
  await page.getByText('Email receipt').click()
  await page.getByLabel('Email address').fill(login)
  await press(page, 'Send receipt')
  assert.match(await lastMailTo(login), /You paid €12\.00 to Tea House/)
  await prove()

  await page.goto(`${url}/wallet/history`)
  await page.getByRole('link', { name: /Tea House Payment/ }).click()
  await heading(page, 'Receipt: Tea House')
  const facts = await page.locator('.facts').innerText()
  assert.match(facts, /Items\s+A tree for the park\s+Payment method\s+Wallet balance/)
  await page.emulateMedia({ media: 'print' })
  assert.equal(await page.getByRole('navigation', { name: 'Your wallet' }).isVisible(), false)
  await page.emulateMedia({ media: 'screen' })
  const href = await page.getByRole('link', { name: 'Download PDF' }).getAttribute('href')
  const pdf = await page.request.get(`${url}${href}`)
  assert.equal(pdf.headers()['content-type'], 'application/pdf')
  assert.match((await pdf.body()).toString('latin1'), /^%PDF-/)

  await page.goto(`${url}/wallet/settings`)
  await page.getByText('Change PIN').first().click()
  await page.getByLabel('Current PIN').fill('246810')
  await page.getByLabel('New PIN', { exact: true }).fill('135790')
  await page.getByLabel('Repeat new PIN').fill('135790')
  await press(page, 'Change PIN')
  await page.getByText('Your PIN was changed').waitFor()
  assert.match(await lastMailTo(login), /PIN of your wallet was changed/)

  await page.goto(`${url}/wallet/withdraw`)
  await page.getByLabel('Amount').fill('38')
  await page.getByLabel('IBAN').fill('DE89 3704 0044 0532 0130 00')
  await press(page, 'Continue')
  await heading(page, 'Confirm your withdrawal')
  await page.getByText('€38.00').waitFor()
  await page.getByText('DE89 3704 0044 0532 0130 00').waitFor()
  await press(page, 'Change')
  assert.equal(await page.getByLabel('Amount').inputValue(), '38.00')
  await press(page, 'Continue')
  await page.getByLabel('Your PIN').fill('135790')
  await press(page, 'Withdraw')
  await page.getByText('Withdrawal requested.').waitFor()
  await prove()
  await page.goto(`${url}/wallet/close`)
  await page.getByText('A transaction is still pending.').waitFor()
  assert.equal(await page.getByLabel('Your PIN').count(), 0)

  const wallet = await gateway.stores.wallets.findWalletByLogin(login)
  assert(wallet)
  const [payout] = await operations.withdraw.list(wallet.walletId, 1)
  assert(payout)
  clock.advance(86_400_000)
  await untilPayoutsRest({ pool, operations, clock })
  const { payoutRuns } = actingAs(operations, 'test')
  await payoutRuns.sendRun(payout.runId, 'test')
  const booking = { reference: 'bank-1', valueDate: '2026-12-01', message: undefined }
  await payoutRuns.endRun(payout.runId, { ending: 'paid', ...booking }, 'test')
  await untilPayoutsRest({ pool, operations, clock })
  assert.equal(payout.account.iban, testIban)
  await prove()

  // A day has passed, and the session with it.
  await page.goto(`${url}/wallet/withdraw`)
  await page.getByLabel('Email or phone number').fill(login)
  await page.getByLabel('PIN').fill('135790')
  await press(page, 'Sign in')
  await page.locator('.entries li', { hasText: 'Paid' }).waitFor()
  await page.goto(`${url}/wallet/close`)
  await page.getByLabel('Your PIN').fill('135790')
  await press(page, 'Close permanently')
  await heading(page, 'Your wallet is closed')
  await prove()
  await page.goto(`${url}/wallet`)
  await heading(page, 'Sign in to your wallet')
  // The browser itself remarks on the answer 422.
  assert.deepEqual(
    troubles.filter((trouble) => !/422/.test(trouble)),
    [],
  )
  await page.context().close()
})

const consumer = await consumerOf(gateway, { minor: 123_456n })

/** A day may have passed since. */
async function signIn(page: Page): Promise<void> {
  if ((await consumer.client.get('/wallet')).status === 303) await consumer.client.signIn(consumer.login)
  await page.context().addCookies([...consumer.client.cookies].map(([name, value]) => ({ name, value, url })))
}

const pages = ['', '/history', '/top-up', '/withdraw', '/settings', '/close'] as const
const doors = ['/sign-in', '/forgotten', '/new-pin', '/register', '/closed'] as const
const views = await openScreens(browser)

for (const path of [...doors, ...pages])
  test(`/wallet${path} reads well on a desktop and a phone, light and dark`, async () => {
    for (const { size, page } of views) {
      await page.context().clearCookies()
      if (!(doors as readonly string[]).includes(path)) await signIn(page)
      await page.goto(`${url}/wallet${path}`)
      assert.equal(page.url(), `${url}/wallet${path}`)
      await look(page, `wallet${path.replace('/', '-')}-${size}`)
    }
  })

test('a refused form comes back with what was typed, its field marked and the focus in it', async () => {
  for (const { size, page } of views) {
    await signIn(page)
    await page.goto(`${url}/wallet/withdraw`)
    await page.getByLabel('Amount').fill('5000')
    await page.getByLabel('IBAN').fill(testIban)
    await press(page, 'Continue')
    await page.locator('.problem').getByText('This amount exceeds your available balance.').waitFor()
    assert.equal(await page.getByRole('alert').count(), 0, 'the field alone says what is wrong')
    assert.equal(await page.getByLabel('Amount').inputValue(), '5000')
    assert.equal(await page.evaluate('document.activeElement.id'), 'amount')
    await look(page, `wallet-refused-${size}`)
  }
})

async function askToWithdraw(page: Page): Promise<void> {
  await page.locator('#amount').fill('1.234')
  await page.locator('#iban').fill('MT84MALT011000012345MTLCAST001S')
  await page.locator('main form button.primary').click()
  await page.locator('#pin').waitFor()
}

test('a withdrawal is shown as it was read, on a desktop and a phone, light and dark, also when the PIN is wrong', async () => {
  for (const { size, page } of views) {
    await signIn(page)
    await page.goto(`${url}/wallet/withdraw`)
    await askToWithdraw(page)
    await page.getByText('€1,234.00').waitFor()
    await look(page, `wallet-withdraw-confirm-${size}`)
    await page.getByLabel('Your PIN').fill('999999')
    await press(page, 'Withdraw')
    await page.locator('.problem').waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'pin')
    await page.getByText('€1,234.00').waitFor()
    await look(page, `wallet-withdraw-refused-${size}`)
  }
})

test('every language fits a small phone on every page', async () => {
  const { page } = await openPage(browser, { ...phone, viewport: { width: 320, height: 700 } })
  await signIn(page)
  for (const { tag } of languages)
    for (const path of [...doors, ...pages]) {
      await page.goto(`${url}/wallet${path}?lang=${tag}`)
      assert.equal(await page.getAttribute('html', 'lang'), tag)
      assert.equal(await overflow(page), 0, `${tag} ${path}`)
      if (path !== '/withdraw') continue
      await askToWithdraw(page)
      assert.equal(await overflow(page), 0, `${tag} ${path}, to be confirmed`)
    }
  assert.match((await page.locator('main').textContent()) ?? '', new RegExp(wordsOf.ar.close.heading))
})
