// A consumer in a real Chromium pays through a rail: by redirect, by a code, by instructions; changes their mind, is
// declined, comes back, and does all of it without scripts too.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { languages } from '../../src/adapters/checkout/languages.ts'
import { creditorReference } from '../../src/finance/rails/rules/transfer-account.ts'
import { grouped } from '../../src/finance/treasury/rules/mod-97.ts'
import { actingAs } from '../support/acting.ts'
import { desktop, heading, launchBrowser, openPage, phone, screens } from '../support/browser.ts'
import { type OpenOrder, openCheckoutShop } from '../support/checkout.ts'
import { complaints, picture } from '../support/look.ts'
import { approved, TestBank } from '../support/rails.ts'

const shop = await openCheckoutShop()
const { gateway, clock } = shop
const bank = await new TestBank(clock).open()
after(() => bank.close())
const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" fill="#1f6f5c"/><path d="M6 13h20L16 6zm2 2v8h4v-8zm6 0v8h4v-8zm6 0v8h4v-8zM6 25h20v2H6z" fill="#fff"/></svg>'
const { rails } = actingAs(gateway.operations, 'test')
for (const [railId, name] of [
  ['bank', 'My bank'],
  ['other', 'Other bank'],
] as const) {
  const { secret } = await rails.addRail(
    railId,
    {
      ...noExtras,
      name,
      names: { ar: 'مصرفي' },
      url: bank.url,
      currencies: ['USD'],
      logo: railId === 'bank' ? logo : undefined,
    },
    'test',
  )
  bank.secrets.push(secret)
}
clock.advance(4_000)
const browser = await launchBrowser()

/** The bank's own page is one of ours that shows nothing of it. */
const bankPage = `${gateway.url}/docs`

async function consumer(
  options: BrowserContextOptions,
  work: (opened: { page: Page; order: OpenOrder }) => Promise<void>,
): Promise<void> {
  const order = await shop.order()
  const { page, troubles } = await openPage(browser, { ...desktop, ...options })
  try {
    await page.goto(order.url)
    await work({ page, order })
    assert.deepEqual(troubles, [])
  } finally {
    await page.context().close()
  }
}

const choose = (page: Page, name = 'My bank') => page.getByRole('button', { name }).click()
const lastId = () => [...bank.payments.keys()].at(-1) ?? ''

for (const javaScriptEnabled of [true, false])
  test(`redirect and back: paid, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
    bank.first = { status: 'pending', nextAction: { kind: 'redirect', url: bankPage } }
    await consumer({ javaScriptEnabled }, async ({ page, order }) => {
      await heading(page, 'How do you want to pay?')
      await choose(page)
      await page.waitForURL(bankPage)
      // Before anything is done there, the page says where to go on.
      await page.goto(order.url)
      await heading(page, 'Waiting for My bank')
      assert.equal(
        await page.getByRole('link', { name: 'Continue to My bank' }).getAttribute('href'),
        bankPage,
      )
      bank.payments.set(lastId(), approved)
      await page.goto(`${order.url}/rail?status=failed`)
      await heading(page, 'Payment successful')
      assert.equal(await shop.status(order), 'success')
    })
  })

test('declined, another choice, a change of mind, and a wallet in the end', async () => {
  bank.first = { status: 'declined', reason: 'No.' }
  await consumer(phone, async ({ page, order }) => {
    await choose(page)
    await page.getByText('My bank declined the payment.').waitFor()
    assert.match(
      (await page.getByRole('alert').textContent()) ?? '',
      /another payment method\. Reason: No\.$/,
    )
    bank.first = { status: 'pending', nextAction: { kind: 'qr', text: 'bank:1', caption: 'Scan it' } }
    clock.advance(1)
    await choose(page, 'Other bank')
    await heading(page, 'Waiting for Other bank')
    await page.getByText('Scan it').waitFor()
    assert.equal((await page.request.get(`${order.url}/rail-qr.svg`)).status(), 200)
    await page.reload()
    await heading(page, 'Waiting for Other bank')
    await page.getByRole('button', { name: 'Choose another payment method' }).click()
    await heading(page, 'How do you want to pay?')
    await page.getByRole('button', { name: 'Succeeds Paid immediately' }).click()
    await heading(page, 'Payment successful')
    assert.deepEqual(bank.types().slice(-2), ['payment.start', 'payment.cancel'])
  })
})

test('instructions are shown with something to copy, and the page changes when the money has come', async () => {
  const lines = [
    { label: 'Account', value: 'DE75 5121 0800 1245 1261 99' },
    { label: 'Reference', value: 'RF18 5390 0754 7034' },
  ]
  bank.first = { status: 'pending', nextAction: { kind: 'instructions', lines } }
  await consumer({}, async ({ page, order }) => {
    await choose(page)
    await page.getByText('RF18 5390 0754 7034').waitFor()
    await page.getByRole('button', { name: 'Copy: Reference' }).waitFor()
    const transactionId = lastId()
    bank.payments.set(transactionId, approved)
    const { body, headers } = bank.notification({ type: 'payment.changed', transactionId })
    const sent = await fetch(`${gateway.url}/rails/bank/notifications`, { method: 'POST', body, headers })
    assert.equal(sent.status, 204)
    await heading(page, 'Payment successful')
    assert.equal(await shop.status(order), 'success')
  })
})

test('bank transfer: account and reference in every language, without scripts, and what is left after a part', async () => {
  const account = {
    holder: 'Example GmbH',
    iban: 'DE89 3704 0044 0532 0130 00',
    bic: 'COBADEFFXXX',
    lines: [],
  }
  const names = { de: 'Überweisung' }
  const transfer = { ...noExtras, name: 'Bank transfer', names, currencies: ['USD'], account }
  await rails.addTransferRail('transfer', transfer, 'test')
  clock.advance(4_000)
  await consumer({ javaScriptEnabled: false }, async ({ page, order }) => {
    await choose(page, 'Bank transfer')
    const reference = grouped(creditorReference(order.paymentId))
    for (const { tag, words } of languages) {
      await page.goto(`${order.url}?lang=${tag}`)
      for (const text of [...Object.values({ ...words.rails.lines, received: '' }), reference, 'COBADEFFXXX'])
        assert((await page.locator('dl.instructions').innerText()).includes(text), `${tag}: ${text}`)
      await page.getByText(words.rails.transfer).waitFor()
    }
    const part = { reference, currency: 'USD', amountMinor: 100n, valueDate: '2025-01-01', reason: 'test' }
    const { transfers } = actingAs(gateway.operations, 'test')
    await transfers.confirmTransfer('transfer', { ...part, outsideReference: order.paymentId })
    await page.goto(`${order.url}?lang=en`)
    await page.getByText('Received so far').waitFor()
    await picture(page, 'rails-transfer')
    await page.getByRole('button', { name: 'Choose another payment method' }).click()
    await heading(page, 'How do you want to pay?')
    clock.advance(1)
    await choose(page, 'Bank transfer')
    const asked = await page.locator('dl.instructions').innerText()
    assert.match(asked, /Received so far\s+1\.00 USD\s+Copy\s+Amount\s+11\.50 USD/)
  })
  await consumer(phone, async ({ page, order }) => {
    await choose(page, 'Bank transfer')
    await page.goto(`${order.url}?lang=ar`)
    await picture(page, 'rails-transfer-phone')
    assert.deepEqual(await complaints(page), [])
  })
  await rails.pauseRail('transfer', 'test')
  clock.advance(4_000)
})

for (const { size, colorScheme, options } of screens)
  test(`the choice, the code and the instructions on a ${size}, ${colorScheme}`, async () => {
    for (const [state, nextAction] of [
      ['redirect', { kind: 'redirect', url: bankPage }],
      ['qr', { kind: 'qr', text: 'bank:1', caption: 'Scan it in the app of your bank.' }],
      [
        'instructions',
        { kind: 'instructions', lines: [{ label: 'Reference', value: 'RF18 5390 0754 7034' }] },
      ],
    ] as const) {
      bank.first = { status: 'pending', nextAction }
      await consumer(options, async ({ page, order }) => {
        if (state === 'redirect') {
          await picture(page, `rails-choice-${size}-${colorScheme}`)
        }
        await choose(page)
        await page.waitForURL(state === 'redirect' ? bankPage : order.url)
        await page.goto(order.url)
        await heading(page, 'Waiting for My bank')
        await picture(page, `rails-${state}-${size}-${colorScheme}`)
        assert.deepEqual(await complaints(page), [])
      })
    }
    bank.first = { status: 'pending', nextAction: { kind: 'redirect', url: bankPage } }
    await consumer(options, async ({ page }) => assert.deepEqual(await complaints(page), []))
  })
