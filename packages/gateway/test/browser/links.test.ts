// Payment links in a real Chromium: paid without scripts, on a phone and on a desktop, in every state and language.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languages } from '../../src/adapters/checkout/languages.ts'
import { actingAs } from '../support/acting.ts'
import { launchBrowser, openPage, openScreens, phone } from '../support/browser.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { look, overflow } from '../support/look.ts'

const shop = await openCheckoutShop()
const { gateway, merchant, clock } = shop
const browser = await launchBrowser()
const { links } = actingAs(gateway.operations, 'test')
let numbers = 0

async function create(given: object = {}) {
  const body = { linkNo: `link-${++numbers}`, title: 'A tree for the park', currency: 'EUR', ...given }
  const { data, msg } = await merchant.call('service.link.create', body)
  assert(data.linkUrl, msg)
  const { linkId } = data
  return {
    url: gateway.url + new URL(data.linkUrl).pathname,
    key: { merchantId: merchant.merchantId, linkId },
  }
}

test('a link with an open amount is paid without scripts, and a wrong amount comes back as it was typed', async () => {
  const { url, key } = await create({ leastAmount: 5, mostAmount: 500 })
  const { page, troubles } = await openPage(browser, { ...phone, javaScriptEnabled: false })
  await page.goto(url)
  const amount = page.getByRole('textbox', { name: 'Amount' })
  await amount.fill('4')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').waitFor()
  assert.equal(await amount.inputValue(), '4')
  assert.equal(await page.evaluate('document.activeElement.id'), 'amount')
  await amount.fill('25,50')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'How do you want to pay?' }).waitFor()
  assert.match((await page.locator('.total').textContent()) ?? '', /€25\.50/)
  await page.getByRole('button', { name: 'Succeeds Paid immediately' }).click()
  await page.getByRole('heading', { name: 'Payment successful' }).waitFor()
  assert.deepEqual((await links.showLink(key)).totals.paidMinor, 2_550n)
  // The browser itself remarks on the answer 422.
  assert.deepEqual(
    troubles.filter((trouble) => !/422/.test(trouble)),
    [],
  )
  await page.context().close()
})

const views = await openScreens(browser)
const goods = [{ referenceGoodsId: 'oak', goodsName: 'Oak', goodsDesc: 'Two metres', goodsQuantity: 2 }]
const states: Record<string, () => Promise<string>> = {
  fixed: async () => (await create({ amount: 120, goods, linkExpiryTime: clock.now() + 86_400_000 })).url,
  open: async () => (await create({ leastAmount: 5, mostAmount: 500 })).url,
  paused: () => changed('pause'),
  closed: () => changed('close'),
}

async function changed(verb: 'pause' | 'close'): Promise<string> {
  const { url, key } = await create({ amount: 5 })
  await links.changeLink(verb, key, 'test')
  return url
}

for (const [name, url] of Object.entries(states)) {
  test(`the page of a link that is ${name} reads well on a desktop and a phone, light and dark`, async () => {
    const address = await url()
    await Promise.all(
      views.map(async ({ size, page }) => {
        await page.goto(address)
        await look(page, `link-${name}-${size}`)
      }),
    )
  })
}

test('every language fits a small phone', async () => {
  const { url } = await create({ leastAmount: 5, mostAmount: 500 })
  const { page, troubles } = await openPage(browser, { ...phone, viewport: { width: 320, height: 700 } })
  for (const { tag, words } of languages) {
    await page.goto(`${url}?lang=${tag}`)
    assert.match((await page.locator('main').textContent()) ?? '', new RegExp(words.link.submit))
    assert.equal(await overflow(page), 0, tag)
  }
  assert.deepEqual(troubles, [])
})
