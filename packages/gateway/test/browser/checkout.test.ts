// A consumer in a real Chromium: every test wallet, signing in, double clicks, two tabs, the end of the time, no
// scripts, a phone, the keyboard alone, right-to-left, and the way back to the shop.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { desktop, heading, launchBrowser, openPage, phone } from '../support/browser.ts'
import { type OpenOrder, openCheckoutShop } from '../support/checkout.ts'

const shop = await openCheckoutShop()
const browser = await launchBrowser()
const thanks = await serveThanks()

interface Opened {
  readonly page: Page
  readonly order: OpenOrder
}

/** Opens a new order, lets the test do its part, and wants a page without a single trouble. */
async function consumer(
  options: BrowserContextOptions,
  work: (opened: Opened) => Promise<void>,
  // biome-ignore lint/suspicious/noExplicitAny: a test bends whatever it likes
  bend: (body: any) => void = () => {},
): Promise<void> {
  const order = await shop.order((body) => {
    body.redirectUrl = `${thanks}/thanks?basket=7`
    bend(body)
  })
  const { page, troubles } = await openPage(browser, { ...desktop, ...options })
  try {
    if (options.javaScriptEnabled !== false) await stopTime(page)
    await page.goto(order.url)
    await work({ page, order })
    assert.deepEqual(troubles, [])
  } finally {
    await page.context().close()
  }
}

/** The browser's own clock stands still until a test lets it run: nobody is sent anywhere meanwhile. */
async function stopTime(page: Page): Promise<void> {
  await page.context().clock.install({ time: 0 })
  await page.context().clock.pauseAt(1_000)
}

const tap = (page: Page, wallet: string) => page.getByRole('button', { name: wallet }).click()
const stay = (page: Page) => page.getByRole('button', { name: 'Stay here' }).click()

async function signIn(page: Page, { login, pin }: { login: string; pin: string }): Promise<void> {
  if (!(await page.getByLabel('PIN').isVisible())) await page.locator('summary.tile').click()
  await page.getByLabel('Email or phone number').fill(login)
  await page.getByLabel('PIN').fill(pin)
  await page.getByRole('button', { name: 'Continue' }).click()
}

test('the wallet that pays: paid, and back to the shop by itself with the signed parameters', async () => {
  await consumer({}, async ({ page, order }) => {
    await tap(page, 'Succeeds Paid immediately')
    await heading(page, 'Payment successful')
    assert.match((await page.locator('#returning').textContent()) ?? '', /in 5 seconds/)
    await page.mouse.move(0, 0)
    await page.clock.runFor(5_000)
    await page.waitForURL(`${thanks}/**`)
    const url = new URL(page.url())
    assert.equal(url.searchParams.get('basket'), '7')
    assert.equal(url.searchParams.get('paymentId'), order.paymentId)
    assert.equal(url.searchParams.get('status'), 'success')
    assert(url.searchParams.get('sign'))
    assert.equal(await page.evaluate('document.referrer'), '')
    // Who comes back by the browser's button came to look, and is not sent away again.
    await page.goBack()
    await heading(page, 'Payment successful')
    assert.equal(await page.locator('#returning').isVisible(), false)
  })
})

test('the wallet that declines: failed, the reason, no money taken', async () => {
  await consumer({}, async ({ page, order }) => {
    await tap(page, 'Fails Starts processing')
    await heading(page, 'Payment failed')
    await stay(page)
    const text = (await page.locator('main').textContent()) ?? ''
    assert.match(text, /You have not been charged\.\s*Reason: The wallet declined the payment\./)
    assert.match(text, /You will stay on this page/)
    assert.equal(await shop.status(order), 'failed')
  })
})

test('the wallet with too little money: the order stays open, and another wallet pays it', async () => {
  await consumer({}, async ({ page, order }) => {
    await tap(page, 'Insufficient funds')
    await page.getByRole('alert').waitFor()
    assert.match(
      (await page.getByRole('alert').textContent()) ?? '',
      /Insufficient balance in this wallet\. You have not been charged/,
    )
    assert.equal(await shop.status(order), 'pending')
    await tap(page, 'Succeeds Paid immediately')
    await heading(page, 'Payment successful')
  })
})

test('the wallet that takes its time: being processed, then paid, without a reload', async () => {
  await consumer({}, async ({ page, order }) => {
    await tap(page, 'Succeeds after 5 seconds')
    await heading(page, 'Your payment is being processed')
    await page.evaluate('window.stillHere = true')
    // Coming back to it shows the truth too.
    assert.equal(await shop.status(order), 'confirming')
    shop.clock.advance(5_000)
    await heading(page, 'Payment successful')
    assert.equal(await page.evaluate('window.stillHere'), true)
    assert.match(await page.title(), /Paid/)
  })
})

test('the wallet that refuses refunds pays', async () => {
  await consumer({}, async ({ page }) => {
    await tap(page, 'Succeeds, refund fails')
    await heading(page, 'Payment successful')
  })
})

test('a payment that is never decided keeps being processed, also after a reload', async () => {
  await consumer({}, async ({ page, order }) => {
    // Paid elsewhere, by the sandbox's own method: the open page learns it too.
    await shop.pay(order, 'confirming')
    await heading(page, 'Your payment is being processed')
    await page.reload()
    await heading(page, 'Your payment is being processed')
  })
})

test('signing in: a wrong PIN, the balance, another wallet, and paying, on a phone', async () => {
  const [rich, poor] = [await shop.addWallet(), await shop.addWallet({ majorUnits: 5n, name: 'Pia Purse' })]
  await consumer(phone, async ({ page, order }) => {
    await signIn(page, { ...poor, pin: '111111' })
    await page.getByRole('alert').waitFor()
    assert.equal(await page.getByLabel('Email or phone number').inputValue(), poor.login)
    assert.equal(await page.getByLabel('PIN').inputValue(), '')
    await signIn(page, poor)
    await page.getByText('Signed in as Pia Purse').waitFor()
    assert.match((await page.locator('main').textContent()) ?? '', /You need \$7\.50 more/)
    await page.getByRole('button', { name: 'Use another wallet' }).click()
    await heading(page, 'How do you want to pay?')
    await signIn(page, rich)
    await page.getByText('Signed in as Mira Consumer').waitFor()
    const button = page.getByRole('button', { name: /^Pay \$/ })
    // As wide as its tile, and in the lower half of the screen, where the thumb is.
    const box = await button.boundingBox()
    assert(box && box.width >= 320 && box.y > 844 / 2, JSON.stringify(box))
    await button.tap()
    await heading(page, 'Payment successful')
    assert.equal(await shop.status(order), 'success')
  })
})

test('a double click pays once and shows it once', async () => {
  await consumer({}, async ({ page, order }) => {
    await page.getByRole('button', { name: 'Succeeds Paid immediately' }).dblclick()
    await heading(page, 'Payment successful')
    assert.equal(await page.getByRole('alert').count(), 0)
    assert.equal(await holdsOf(order), 1)
  })
})

test('a double click without scripts pays once too', async () => {
  await consumer({ javaScriptEnabled: false }, async ({ page, order }) => {
    await page.getByRole('button', { name: 'Succeeds Paid immediately' }).dblclick({ noWaitAfter: true })
    // Either answer leads to the page, and the page to the truth.
    await heading(page, 'Payment successful')
    assert.equal(await holdsOf(order), 1)
  })
})

test('two tabs: what is paid in one shows in the other, and is not paid twice', async () => {
  await consumer({}, async ({ page, order }) => {
    const other = await page.context().newPage()
    await other.goto(order.url)
    // One tab that hears nothing, as if its connection hung, and pays all the same.
    const deaf = await page.context().newPage()
    await deaf.route(/\/(events|status)$/, () => {})
    await deaf.goto(order.url)
    await tap(other, 'Succeeds Paid immediately')
    await heading(other, 'Payment successful')
    await heading(page, 'Payment successful')
    await tap(deaf, 'Fails Starts processing')
    await heading(deaf, 'Payment successful')
    assert.match(
      (await deaf.getByRole('alert').textContent()) ?? '',
      /already been paid\. You were not charged again/,
    )
    assert.equal(await holdsOf(order), 1)
  })
})

test('the countdown follows the server’s clock, warns in the last minute, and the page turns by itself', async () => {
  await consumer(
    {},
    async ({ page, order }) => {
      assert.match((await page.getByRole('timer').textContent()) ?? '', /^5:00 left/)
      shop.clock.advance(4 * 60_000 + 1_000)
      await page.reload()
      await page.locator('.countdown.soon').waitFor()
      assert.match((await page.getByRole('timer').textContent()) ?? '', /^Only 0:59 left/)
      shop.clock.advance(60_000)
      await heading(page, 'This payment has expired')
      await stay(page)
      assert.match((await page.locator('main').textContent()) ?? '', /You have not been charged/)
      assert.equal(await shop.status(order), 'timeout')
    },
    (body) => {
      body.paymentExpiryTime = body.paymentTime + 5 * 60_000
    },
  )
})

test('the warning comes while the page is open and is said to those who do not see it', async () => {
  const order = await shop.order((body) => {
    body.paymentExpiryTime = body.paymentTime + 5 * 60_000
  })
  shop.clock.advance(3 * 60_000 + 30_000)
  const { page, troubles } = await openPage(browser, desktop)
  await stopTime(page)
  // The stream is there before the time leaps: one that says nothing is given up.
  const stream = page.waitForResponse(/\/events$/)
  await page.goto(order.url)
  await stream
  assert.match((await page.getByRole('timer').textContent()) ?? '', /^1:30 left/)
  await page.clock.runFor(31_000)
  await page.locator('.countdown.soon').waitFor()
  assert.equal(await page.locator('#live').textContent(), 'Less than one minute left to pay.')
  // At zero it asks the server, whose clock has not come so far: the order stays open, with the server's time once it is known.
  await page.clock.runFor(60_000)
  assert.match((await page.getByRole('timer').textContent()) ?? '', /^(Only 0:00|1:30) left/)
  assert.deepEqual(troubles, [])
  await page.context().close()
})

test('where streams are refused the page asks now and again', async () => {
  const order = await shop.order()
  const { page } = await openPage(browser, desktop)
  await stopTime(page)
  await page.route(/\/events$/, (route) => route.fulfill({ status: 429 }))
  await page.goto(order.url)
  await shop.cancel(order)
  const cancelled = page.getByRole('heading', { name: 'This order was cancelled' })
  for (let turns = 0; turns < 100 && !(await cancelled.isVisible()); turns++) await page.clock.runFor(500)
  await cancelled.waitFor()
  await page.context().close()
})

test('where a stream says nothing, as behind a proxy that holds it back, the page asks too', async () => {
  const order = await shop.order()
  const { page } = await openPage(browser, desktop)
  await stopTime(page)
  await page.route(/\/events$/, () => {})
  await page.goto(order.url)
  await shop.cancel(order)
  const cancelled = page.getByRole('heading', { name: 'This order was cancelled' })
  await page.clock.runFor(4_900)
  assert.equal(await cancelled.isVisible(), false)
  for (let turns = 0; turns < 100 && !(await cancelled.isVisible()); turns++) await page.clock.runFor(500)
  await cancelled.waitFor()
  await page.context().close()
})

test('without scripts: pay, see it being processed, and the page looks again by itself', async () => {
  await consumer({ javaScriptEnabled: false }, async ({ page }) => {
    assert.match((await page.getByRole('timer').textContent()) ?? '', /30 minutes left/)
    await tap(page, 'Succeeds after 5 seconds')
    await heading(page, 'Your payment is being processed')
    shop.clock.advance(5_000)
    await heading(page, 'Payment successful')
    assert.equal(await page.locator('#returning').isVisible(), false)
    await page.getByRole('link', { name: 'Back to Tea House' }).click()
    await page.waitForURL(`${thanks}/**`)
  })
})

test('with the keyboard alone: through the form, to the end', async () => {
  const { login, pin } = await shop.addWallet()
  await consumer({}, async ({ page }) => {
    const focused = () =>
      page.evaluate(
        "document.activeElement === document.body ? '' : document.activeElement.textContent.trim()",
      )
    for (let steps = 0; !/^Wallet/.test(String(await focused())); steps++) {
      assert(steps < 20, 'the wallet is never reached')
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type(login)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type(pin)
    await page.keyboard.press('Enter')
    await page.getByText('Signed in as Mira Consumer').waitFor()
    for (let steps = 0; !/^Pay \$/.test(String(await focused())); steps++) {
      assert(steps < 20, 'the button is never reached')
      await page.keyboard.press('Tab')
    }
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
    assert.equal(outline, 'solid')
    await page.keyboard.press('Space')
    await heading(page, 'Payment successful')
    // Focus within the way back holds the return: nobody is carried off while deciding.
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    for (let steps = 0; !/^Stay here/.test(String(await focused())); steps++) {
      assert(steps < 20, 'staying is never reached')
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.getByText('You will stay on this page.').first().waitFor()
  })
})

test('from right to left: the browser’s Arabic is taken, and paying works', async () => {
  await consumer({ ...phone, locale: 'ar-EG' }, async ({ page }) => {
    assert.equal(await page.evaluate('document.documentElement.dir'), 'rtl')
    // What comes first stands on the right.
    const mark = await page.locator('h1 .mark').boundingBox()
    assert(mark && mark.x > 300, JSON.stringify(mark))
    await page.getByRole('button', { name: 'تنجح دُفع فورًا' }).click()
    await heading(page, 'تم الدفع بنجاح')
  })
})

test('the switch of languages works without scripts and is remembered', async () => {
  await consumer({ javaScriptEnabled: false }, async ({ page, order }) => {
    await page.getByText('Language: English').click()
    await page.getByRole('link', { name: 'Deutsch' }).click()
    await heading(page, 'Test-Wallets')
    await page.goto(order.url)
    await heading(page, 'Test-Wallets')
  })
})

test('a result that is opened later sends nobody away', async () => {
  const order = await shop.order()
  await shop.pay(order, 'success')
  shop.clock.advance(3 * 60_000)
  const { page, troubles } = await openPage(browser, desktop)
  await page.goto(order.url)
  await heading(page, 'Payment successful')
  assert.equal(await page.locator('#returning').count(), 0)
  const time = page.locator('time')
  assert.match((await time.textContent()) ?? '', /January 15, 2027.*(UTC|GMT)/)
  await page.getByRole('button', { name: 'Print receipt' }).waitFor()
  await page.emulateMedia({ media: 'print' })
  assert.equal(await page.locator('.goods').isVisible(), true, 'the receipt lists what was bought')
  assert.equal(await page.locator('#back').isVisible(), false)
  assert.deepEqual(troubles, [])
  await page.context().close()
})

test('a wide screen has a code for the phone, folded; a phone does not even load it', async () => {
  const order = await shop.order()
  for (const [options, isThere] of [
    [desktop, true],
    [phone, false],
  ] as const) {
    const { page, troubles } = await openPage(browser, options)
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(request.url()))
    await page.goto(order.url, { waitUntil: 'networkidle' })
    const fold = page.getByText('Continue on your phone')
    assert.equal(await fold.isVisible(), isThere)
    assert.equal(loaded.includes(`${order.url}/qr.svg`), false)
    if (isThere) {
      await fold.click()
      // Ends when the image is there, and fails when it is none.
      await page.evaluate("document.querySelector('.qr').decode()")
    }
    assert.deepEqual(troubles, [])
    await page.context().close()
  }
})

test('a wrong PIN says how many tries are left, and the PIN is where to go on', async () => {
  const { login } = await shop.addWallet()
  for (const javaScriptEnabled of [true, false]) {
    await consumer({ javaScriptEnabled }, async ({ page }) => {
      await signIn(page, { login, pin: '999999' })
      await page.getByText(/\d attempts? left/).waitFor()
      assert.equal(await page.evaluate('document.activeElement.id'), 'pin')
      assert.equal(await page.getByLabel('Email or phone number').inputValue(), login)
    })
  }
})

async function holdsOf({ paymentId }: OpenOrder): Promise<number> {
  const { rows } = await shop.gateway.pool.query(
    "select 1 from transfers where payment_id = $1 and phase = 'hold'",
    [paymentId],
  )
  return rows.length
}

/** The shop's own page, to come back to. */
async function serveThanks(): Promise<string> {
  const server = createServer((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<title>Thanks</title><link rel="icon" href="data:,">')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
