// Every state of the checkout, on a desktop and a phone, light and dark: nothing wider than the screen, nothing that
// axe-core objects to, nothing that the content security policy refuses. With SCREENSHOTS=folder it also takes pictures.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { languages } from '../../src/adapters/checkout/languages.ts'
import { launchBrowser, openPage, openScreens, phone } from '../support/browser.ts'
import { type OpenOrder, openCheckoutShop } from '../support/checkout.ts'
import { complaints, look, overflow, picture } from '../support/look.ts'

const shop = await openCheckoutShop({
  environment: {
    OPERATOR_NAME: 'Harbour Wallet',
    OPERATOR_HELP_URL: 'https://wallet.example/help',
    OPERATOR_PRIVACY_URL: 'https://wallet.example/privacy',
    OPERATOR_IMPRINT_URL: 'https://wallet.example/imprint',
  },
})
const browser = await launchBrowser()
const rich = await shop.addWallet()
const poor = await shop.addWallet({ majorUnits: 3n, name: 'Pia Purse' })

interface State {
  readonly order?: () => Promise<OpenOrder>
  readonly act?: (page: Page) => Promise<void>
  readonly expects: RegExp
}

const order = () => shop.order(fullOrder)

const states: Record<string, State> = {
  pay: { order, expects: /minutes left|\d left/ },
  'sign-in': {
    order,
    act: (page) => signIn(page, { ...rich, pin: '999999' }),
    expects: /Incorrect login or PIN/,
  },
  confirm: { order, act: (page) => signIn(page, rich), expects: /Signed in as Mira Consumer/ },
  'too-little': { order, act: (page) => signIn(page, poor), expects: /You need \$65\.40 more/ },
  confirming: { order: () => paid('confirming'), expects: /being processed/ },
  success: { order: () => paid('success'), act: hold, expects: /You paid Tea House/ },
  failed: { order: () => paid('failed'), act: hold, expects: /Payment failed.*You have not been charged/s },
  timeout: { order: timedOut, act: hold, expects: /This payment has expired/ },
  cancelled: { order: cancelled, act: hold, expects: /was cancelled/ },
  compact: {
    order: () =>
      shop.order((body) => {
        fullOrder(body)
        body.channel = 'APP'
      }),
    expects: /minutes left|\d left/,
  },
  suspended: { order: suspended, expects: /cannot accept payments right now.*You have not been charged/s },
  'not-found': { expects: /This payment page does not exist/ },
}

const views = await openScreens(browser)

for (const [name, { order, act, expects }] of Object.entries(states)) {
  test(`the state ${name} reads well on a desktop and a phone, light and dark`, async () => {
    const url = order ? (await order()).url : `${shop.gateway.url}/checkout/1/2/3`
    await Promise.all(
      views.map(async ({ size, page }) => {
        await page.goto(url)
        await act?.(page)
        assert.match((await page.locator('main').textContent()) ?? '', expects)
        await look(page, `checkout-${name}-${size}`)
      }),
    )
  })
}

test('none of it made a script fail or was refused by the content security policy', () => {
  const troubles = views.flatMap((view) => view.troubles)
  // The browser itself remarks on the page that is not there.
  assert.deepEqual(
    troubles.filter((trouble) => !/status of 404/.test(trouble)),
    [],
  )
})

test('a merchant that is let go on takes payments again', async () => {
  await shop.gateway.merchants.resumeMerchant(shop.merchant.merchantId, 'test')
  shop.clock.advance(4_000)
  const { page } = views[0] ?? assert.fail()
  await page.goto((await shop.order(fullOrder)).url)
  await page.getByRole('heading', { name: 'How do you want to pay?' }).waitFor()
})

test('every language fits a phone, and Arabic runs from right to left', async () => {
  const { url } = await shop.order(fullOrder)
  const { page, troubles } = await openPage(browser, phone)
  for (const { tag, direction, words } of languages) {
    await page.goto(`${url}?lang=${tag}`)
    await picture(page, `checkout-language-${tag}`)
    await page.locator('details.summary > summary').click()
    assert.equal(await page.evaluate('document.documentElement.lang'), tag)
    assert.equal(await page.evaluate('getComputedStyle(document.body).direction'), direction)
    assert.match((await page.locator('main').textContent()) ?? '', new RegExp(words.testWallets.heading))
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 844 })
      assert.equal(await overflow(page), 0, `${tag} at ${width}`)
    }
  }
  assert.deepEqual(await complaints(page), [])
  // The last choice is kept without the parameter.
  await page.goto(url)
  assert.equal(await page.evaluate('document.documentElement.dir'), 'rtl')
  assert.deepEqual(troubles, [])
  await page.context().close()
})

/** Nobody is sent back to the shop while the mouse is on the way there. */
async function hold(page: Page): Promise<void> {
  await page.locator('#back').hover()
}

async function signIn(page: Page, { login, pin }: { login: string; pin: string }): Promise<void> {
  if (!(await page.getByLabel('PIN').isVisible())) await page.locator('summary.tile').click()
  await page.getByLabel('Email or phone number').fill(login)
  await page.getByLabel('PIN').fill(pin)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForLoadState()
}

async function paid(outcome: 'success' | 'failed' | 'confirming'): Promise<OpenOrder> {
  const order = await shop.order(fullOrder)
  await shop.pay(order, outcome)
  return order
}

async function timedOut(): Promise<OpenOrder> {
  const order = await shop.order(fullOrder)
  shop.clock.advance(30 * 60_000)
  return order
}

/** Of a merchant that takes no payments any more; the others are as they were. */
async function suspended(): Promise<OpenOrder> {
  const order = await shop.order(fullOrder)
  const { merchants } = shop.gateway
  await merchants.suspendMerchant(shop.merchant.merchantId, 'test')
  shop.clock.advance(4_000)
  return order
}

async function cancelled(): Promise<OpenOrder> {
  const order = await shop.order(fullOrder)
  await shop.cancel(order)
  return order
}

// biome-ignore lint/suspicious/noExplicitAny: a test bends whatever it likes
function fullOrder(body: any): void {
  Object.assign(body, { paymentAmount: '68.40' })
  Object.assign(body.order, {
    orderAmount: '62.50',
    orderDescription: 'Spring harvest, gift wrapped',
    totalTax: '5.00',
    tips: '2.00',
    discount: '6.10',
    insurance: '1.00',
    handlingFee: '1.50',
    shippingDiscount: '1.00',
    shipping: {
      shipType: 'SHIPPING',
      amount: '3.50',
      name: 'Mira Consumer',
      address: '12 Harbour Lane, Porthaven',
    },
    goods: [
      {
        referenceGoodsId: 'a',
        goodsName: 'Sencha, first flush',
        goodsDesc: '100 g tin',
        goodsAmount: '18.50',
        tax: '1.50',
        goodsQuantity: 2,
      },
      { referenceGoodsId: 'b', goodsName: 'Cast-iron pot', goodsAmount: '25.50', tax: '2.00' },
    ],
  })
}
