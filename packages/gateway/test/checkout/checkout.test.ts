// The checkout over HTTP, without a browser: links, forms, sessions, the way back, and what is refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePublicKey, verifyRedirect } from '@tillgate/protocol'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { actingAs } from '../support/acting.ts'
import { openCheckoutShop, Visitor } from '../support/checkout.ts'

const shop = await openCheckoutShop()
const wallet = await shop.addWallet({ majorUnits: 10_000n })

async function signedIn(consumer = wallet) {
  const order = await shop.order()
  const visitor = new Visitor(order)
  await visitor.look()
  await visitor.post('sign-in', consumer)
  assert.match(await visitor.look(), /Signed in as <bdi>Mira Consumer/)
  return { order, visitor }
}

test('a link that is wrong in any part is answered the same to the letter', async () => {
  const { url } = await shop.order()
  const { origin, pathname } = new URL(url)
  const [, , merchantId = '', paymentId = '', token = ''] = pathname.split('/')
  const other = new URL((await shop.order()).url).pathname.split('/')
  const links = [
    `/checkout/100000000000000009/${paymentId}/${token}`,
    `/checkout/${merchantId}/P01K00000000000000000000000/${token}`,
    `/checkout/${merchantId}/${paymentId}/${token.slice(0, -1)}`,
    `/checkout/${merchantId}/${paymentId}/${token}A`,
    `/checkout/${merchantId}/${paymentId}/${other[4]}`,
    `/checkout/${merchantId}/${paymentId.toLowerCase()}/${token}`,
    `/checkout/${merchantId}/${paymentId}/${token}/nothing`,
    `/checkout/${merchantId}/${paymentId}/%zz`,
    `/checkout/${merchantId}/%ff/${token}`,
    `/checkout/${merchantId}/${paymentId}/${'a'.repeat(3_000)}`,
    `/checkout/${merchantId}/${paymentId}/`,
    `/checkout/x/y/z?lang=xx`,
    '/checkout/',
    '/checkout',
    '/checkout/1/2/3/events',
    '/checkout/1/2/3/return',
  ]
  const answers = await Promise.all(
    links.map(async (link) => {
      const response = await fetch(origin + link, { redirect: 'manual' })
      const headers = [...response.headers].filter(([name]) => !['x-request-id', 'date'].includes(name))
      return JSON.stringify([response.status, headers, await response.text()])
    }),
  )
  for (const [index, answer] of answers.entries()) assert.equal(answer, answers[0], links[index])
  assert.match(answers[0] ?? '', /^\[404,.*This payment page does not exist/s)
  assert.doesNotMatch(answers[0] ?? '', /set-cookie/)
})

test('a page may run our script alone, be framed by nobody, be kept by nobody, and names nobody where it came from', async () => {
  const visitor = new Visitor(await shop.order())
  const first = await visitor.get()
  const policy = first.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /script-src 'nonce-[\w-]{22}'/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.match(policy, /form-action 'self'/)
  assert.match(policy, /base-uri 'none'/)
  assert.doesNotMatch(policy, /unsafe|eval|https?:|\*/)
  assert.equal(first.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(first.headers.get('cache-control'), 'no-store')
  assert.equal(first.headers.get('x-content-type-options'), 'nosniff')
  const second = await visitor.get()
  assert.notEqual(second.headers.get('content-security-policy'), policy)
  const [cookie = ''] = first.headers.getSetCookie()
  assert.match(cookie, /^checkout=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=86400$/)
  assert.deepEqual(second.headers.getSetCookie(), [])
})

test('an English page has only characters of Latin-1, because another one makes encoding it five times as slow', async () => {
  const page = await new Visitor(await shop.order()).look()
  assert.deepEqual(page.match(/.{0,20}[^\0-\xff].{0,20}/gu) ?? [], [])
})

test('a page holds no more of the order than the consumer may see', async () => {
  const { visitor } = await signedIn()
  const page = await visitor.look()
  const { rows } = await shop.gateway.pool.query<{ wallet_id: string }>('select wallet_id from wallets')
  for (const { wallet_id } of rows) assert(!page.includes(wallet_id))
  assert(!page.includes(shop.gateway.config.masterKey?.toString('base64') ?? '?'))
  assert.doesNotMatch(page, /127\.0\.0\.1:9\/callbacks/)
})

test('signing in gives a session with an id of its own; paying ends it', async () => {
  const { order, visitor } = await signedIn()
  const name = `checkout-${order.paymentId}`
  const before = visitor.cookies.get(name) ?? ''
  assert.match(before, /^[\w-]{100,}$/)
  const tokenSignedIn = visitor.token
  await visitor.post('sign-in', wallet)
  assert.notEqual(visitor.cookies.get(name), before)
  await visitor.look()
  assert.notEqual(visitor.token, tokenSignedIn)
  await visitor.post('pay')
  assert.equal(visitor.cookies.has(name), false)
  await shop.waitFor(order, 'success')
  assert.match(await visitor.look(), /You paid/)
})

test('a session belongs to one order and to fifteen minutes', async () => {
  const { order, visitor } = await signedIn()
  const another = await shop.order()
  const stranger = new Visitor(another)
  await stranger.look()
  stranger.cookies.set(
    `checkout-${another.paymentId}`,
    visitor.cookies.get(`checkout-${order.paymentId}`) ?? '',
  )
  assert.doesNotMatch(await stranger.look(), /Signed in as/)

  shop.clock.advance(15 * 60_000 - 1)
  assert.match(await visitor.look(), /Signed in as/)
  shop.clock.advance(1)
  const late = await visitor.post('pay')
  assert.equal(late.status, 303)
  const page = await visitor.look()
  assert.match(page, /You were signed out/)
  assert.doesNotMatch(page, /Signed in as/)
  assert.equal(await shop.status(order), 'pending')
})

test('a session that was changed by one bit is none', async () => {
  const { order, visitor } = await signedIn()
  const name = `checkout-${order.paymentId}`
  const sealed = Buffer.from(visitor.cookies.get(name) ?? '', 'base64url')
  sealed[20] = (sealed[20] ?? 0) ^ 1
  for (const bad of [sealed.toString('base64url'), '', 'x', 'a'.repeat(300)]) {
    visitor.cookies.set(name, bad)
    assert.doesNotMatch(await visitor.look(), /Signed in as/)
  }
})

test('a form that is not from our page pays nothing', async () => {
  const { order, visitor } = await signedIn()
  const ours = { 'sec-fetch-site': 'same-origin' }
  const tries: [string, Record<string, string>, Record<string, string>][] = [
    ['without a token', { token: '' }, ours],
    ['with a made-up token', { token: 'A'.repeat(43) }, ours],
    ['from another site', {}, { 'sec-fetch-site': 'cross-site' }],
    ['from a sibling of this host', {}, { 'sec-fetch-site': 'same-site' }],
    ['typed into the address bar', {}, { 'sec-fetch-site': 'none' }],
    ['from another origin, by an older browser', {}, { origin: 'https://evil.example' }],
    ['from another port', {}, { origin: 'http://127.0.0.1:1' }],
  ]
  for (const [how, fields, headers] of tries) {
    const response = await visitor.post('pay', fields, headers)
    assert.equal(response.status, 303, how)
    assert.match(await visitor.look(), /You have not been charged\. Try again/, how)
    assert.equal(await shop.status(order), 'pending', how)
  }
  const stranger = new Visitor(order)
  await stranger.look()
  const response = await visitor.post('pay', { token: stranger.token })
  assert.equal(response.status, 303)
  assert.equal(await shop.status(order), 'pending', 'with the token of another visitor')
  // Origin is "null" for a page that sends no referrer, as ours.
  await visitor.look()
  await visitor.post('pay', {}, { origin: 'null' })
  await shop.waitFor(order, 'success')
})

test('a note is shown once and to nobody else', async () => {
  const order = await shop.order()
  const visitor = new Visitor(order)
  await visitor.look()
  await visitor.post('pay-with-test-wallet', { wallet: 'too_little_money' })
  assert.match(await visitor.look(), /Insufficient balance in this wallet/)
  assert.doesNotMatch(await visitor.look(), /Insufficient balance in this wallet/)
  await visitor.post('pay-with-test-wallet', { wallet: 'too_little_money' })
  const elsewhere = new Visitor(await shop.order())
  elsewhere.cookies.set('checkout-note', visitor.cookies.get('checkout-note') ?? '')
  assert.doesNotMatch(await elsewhere.look(), /role="alert"/)
})

test('a wallet that does not exist, or a form without one, pays nothing', async () => {
  const order = await shop.order()
  const visitor = new Visitor(order)
  await visitor.look()
  for (const name of ['nobody', '__proto__', '']) {
    await visitor.post('pay-with-test-wallet', { wallet: name })
    assert.match(await visitor.look(), /Try again/)
  }
  assert.equal(await shop.status(order), 'pending')
})

test('twenty clicks at once pay once, and each is answered with the page', async () => {
  const { order, visitor } = await signedIn()
  const answers = await Promise.all(Array.from({ length: 20 }, () => visitor.post('pay')))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([303]))
  await shop.waitFor(order, 'success')
  const { rows } = await shop.gateway.pool.query(
    "select 1 from transfers where payment_id = $1 and phase = 'hold'",
    [order.paymentId],
  )
  assert.equal(rows.length, 1)
})

test('wrong PINs are counted, the fifth locks, and the page says until when', async () => {
  const consumer = await shop.addWallet()
  const visitor = new Visitor(await shop.order())
  await visitor.look()
  for (let tries = 1; tries <= 5; tries++) {
    await visitor.post('sign-in', { ...consumer, pin: '000000' })
    const page = await visitor.look()
    const left = tries === 4 ? '1 attempt left' : `${5 - tries} attempts left`
    if (tries < 5) assert.match(page, new RegExp(`Incorrect login or PIN.*${left}`))
    else assert.match(page, /Try again in 30 seconds/)
    assert.match(page, new RegExp(`value="${consumer.login}"`))
    assert.doesNotMatch(page, /000000/)
  }
  await visitor.post('sign-in', consumer)
  assert.match(
    await visitor.look(),
    /Too many failed attempts\. You have not been charged\. Try again in 30 seconds/,
  )
  await visitor.post('sign-in', { login: 'nobody@wallet.example', pin: '123456' })
  assert.match(await visitor.look(), /Incorrect login or PIN/)
})

test('a device that signed in before is not locked out by the tries of others', async () => {
  const consumer = await shop.addWallet()
  const owner = new Visitor(await shop.order())
  await owner.look()
  await owner.post('sign-in', consumer)
  assert.match(await owner.look(), /Signed in as/)
  const known = [...owner.cookies].find(([name]) => name.startsWith('wallet-')) ?? assert.fail()
  assert.ok(!known[0].includes(consumer.login))

  const stranger = new Visitor(await shop.order())
  await stranger.look()
  for (let tries = 1; tries <= 5; tries++) await stranger.post('sign-in', { ...consumer, pin: '000000' })
  await stranger.post('sign-in', consumer)
  assert.match(await stranger.look(), /Too many failed attempts/)

  const later = new Visitor(await shop.order())
  later.cookies.set(...known)
  await later.look()
  await later.post('sign-in', consumer)
  assert.match(await later.look(), /Signed in as/)

  const other = new Visitor(await shop.order())
  const changed = Buffer.from(known[1], 'base64url')
  changed[20] = (changed[20] ?? 0) ^ 1
  other.cookies.set(known[0], changed.toString('base64url'))
  await other.look()
  await other.post('sign-in', consumer)
  assert.match(await other.look(), /Too many failed attempts/, 'a cookie that we did not make')

  shop.clock.advance(180 * 86_400_000)
  const fresh = new Visitor(await shop.order())
  await fresh.look()
  for (let tries = 1; tries <= 5; tries++) await fresh.post('sign-in', { ...consumer, pin: '000000' })
  const old = new Visitor(await shop.order())
  old.cookies.set(...known)
  await old.look()
  await old.post('sign-in', consumer)
  assert.match(await old.look(), /Too many failed attempts/, 'it was known until its end')
})

test('a wallet that an operator locks meanwhile does not pay', async () => {
  const { order, visitor } = await signedIn()
  await shop.gateway.pool.query("update wallets set status = 'locked' where login = $1", [wallet.login])
  await visitor.post('pay')
  assert.match(await visitor.look(), /This wallet is locked\. You have not been charged/)
  await visitor.post('sign-in', wallet)
  assert.match(await visitor.look(), /This wallet is locked/)
  await shop.gateway.pool.query("update wallets set status = 'active' where login = $1", [wallet.login])
  assert.equal(await shop.status(order), 'pending')
})

test('a session ends with all access to its wallet: a PIN set anew or changed, signing out everywhere, a lock', async () => {
  const { operations, stores } = shop.gateway
  const { wallets: manage } = actingAs(operations, 'test')
  const address = '192.0.2.7'
  const walletOf = async (login: string) =>
    (await stores.wallets.findWalletByLogin(login)) ?? assert.fail(login)
  const ways: Readonly<Record<string, (login: string, pin: string) => Promise<unknown>>> = {
    async reset(login, pin) {
      const { code = '' } = await manage.resetPin(login, 'test')
      return operations.resetPin({ login, code, pin, address })
    },
    async change(login, pin) {
      const proof = { wallet: await walletOf(login), pin, address, device: undefined }
      return operations.changePin(proof, { newPin: pin, tokenHash: Buffer.alloc(32) })
    },
    signOutEverywhere: async (login) =>
      operations.walletSessions.endAll((await walletOf(login)).walletId, 'consumer'),
    async lock(login) {
      await manage.lockWallet(login, 'test')
      await manage.unlockWallet(login, 'test')
    },
  }
  for (const [name, end] of Object.entries(ways)) {
    const consumer = await shop.addWallet()
    const { order, visitor } = await signedIn(consumer)
    await end(consumer.login, consumer.pin)
    await visitor.post('pay')
    const page = await visitor.look()
    assert.match(page, /You were signed out/, name)
    assert.equal(await shop.status(order), 'pending', name)
    await visitor.post('sign-in', consumer)
    await end(consumer.login, consumer.pin)
    assert.doesNotMatch(await visitor.look(), /Signed in as/, name)
    const stranger = new Visitor(await shop.order())
    await stranger.look()
    for (let tries = 1; tries <= 5; tries++) await stranger.post('sign-in', { ...consumer, pin: '000000' })
    await visitor.post('sign-in', consumer)
    assert.match(await visitor.look(), /Too many failed attempts/, `${name}: its mark is none any more`)
    // So many tries from one address are too many at once.
    shop.clock.advance(30 * 60_000)
  }
})

test('an order that is over meanwhile takes no money and says so', async () => {
  const cancelled = await signedIn()
  await shop.cancel(cancelled.order)
  await cancelled.visitor.post('pay')
  assert.match(await cancelled.visitor.look(), /can no longer be paid.*was cancelled/s)

  const late = await signedIn()
  shop.clock.advance(10 * 60_000)
  await late.visitor.post('sign-in', wallet)
  await late.visitor.look()
  shop.clock.advance(20 * 60_000)
  await late.visitor.post('pay')
  assert.match(await late.visitor.look(), /This payment has expired/)
  await shop.waitFor(late.order, 'timeout')
})

test('an order that is over does not say that no money was taken where a rail took some too late', async () => {
  const order = await shop.order()
  await actingAs(shop.gateway.operations, 'test').rails.addRail(
    'late',
    {
      ...noExtras,
      name: 'Late Bank',
      names: { de: 'Späte Bank' },
      url: 'http://127.0.0.1:1/messages',
      currencies: ['XAF'],
      position: 100,
    },
    'test',
  )
  // A gateway reads its rails every few seconds.
  shop.clock.advance(60_000)
  await shop.cancel(order)
  assert.match(await new Visitor(order).look(), /was cancelled.*You have not been charged/s)
  await shop.gateway.pool.query(
    `insert into rail_attempts (merchant_id, transaction_id, payment_id, rail_id, status, amount_minor, currency,
                                locale, return_id, started_at, ended_at)
     values ($1, 'T-late', $2, 'late', 'returning', 1, 'EUR', 'en', 'R-late', 1, 1)`,
    [shop.merchant.merchantId, order.paymentId],
  )
  const become = (status: string) =>
    shop.gateway.pool.query(
      `update rail_attempts set status = $2, ended_at = case when $2 <> 'submitted' then 1 end
        where merchant_id = $1 and transaction_id = 'T-late'`,
      [...[shop.merchant.merchantId, status]],
    )
  const said: Record<string, RegExp> = {
    submitted: /http-equiv="refresh".*Late Bank.* has not yet confirmed whether you paid/s,
    returning: /Late Bank.* arrived too late .* refund is on its way/s,
    returned: /Late Bank.* was refunded/s,
    held: /Late Bank.* money is safe/s,
  }
  for (const [status, words] of Object.entries(said)) {
    await become(status)
    const text = await new Visitor(order).look()
    assert.match(text, words)
    assert.doesNotMatch(text, /You have not been charged/)
  }
  assert.match(await new Visitor(order).look('?lang=de'), /Späte Bank/)
})

test('a suspended merchant takes no payment', async () => {
  const order = await shop.order()
  const visitor = new Visitor(order)
  await visitor.look()
  const { token } = visitor
  await shop.gateway.merchants.suspendMerchant(shop.merchant.merchantId, 'test')
  shop.clock.advance(4_000)
  const page = await visitor.look()
  assert.match(page, /cannot accept payments right now/)
  assert.doesNotMatch(page, /<form/)
  await visitor.post('pay-with-test-wallet', { token, wallet: 'approves' })
  await shop.gateway.merchants.resumeMerchant(shop.merchant.merchantId, 'test')
  shop.clock.advance(4_000)
  assert.equal(await shop.status(order), 'pending')
})

test('a test wallet that somebody emptied is full again for whoever signs in to it', async () => {
  const greedy = await shop.order((body) => {
    body.paymentAmount = '1000000000'
  })
  await shop.pay(greedy, 'success')
  const visitor = new Visitor(await shop.order())
  await visitor.look()
  await visitor.post('sign-in', { login: 'approves@sandbox.test', pin: '123456' })
  assert.match(await visitor.look(), /action="[^"]+\/pay"/)
})

test('the way back keeps the shop’s own parameters and bears what became of the order, signed', async () => {
  const order = await shop.order((body) => {
    body.redirectUrl = 'http://127.0.0.1:9/thanks?basket=7&status=fake&q=a%20b#top'
  })
  const visitor = new Visitor(order)
  await shop.pay(order, 'failed')
  const response = await visitor.get('/return')
  assert.equal(response.status, 303)
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
  const back = new URL(response.headers.get('location') ?? '')
  assert.equal(back.searchParams.get('basket'), '7')
  assert.equal(back.searchParams.get('q'), 'a b')
  assert.equal(back.hash, '#top')
  assert.deepEqual(back.searchParams.getAll('status'), ['failed'])
  const { keys } = (await (await fetch(`${shop.gateway.url}/platform-keys`)).json()) as {
    keys: { publicKey: string }[]
  }
  const verified = await verifyRedirect(Object.fromEntries(back.searchParams), {
    publicKeys: keys.map(({ publicKey }) => parsePublicKey(publicKey)),
    merchantId: shop.merchant.merchantId,
    nowMs: shop.clock.now(),
  })
  assert.equal(verified?.paymentId, order.paymentId)
  assert.equal(verified?.timestamp, String(shop.clock.now()))
})

test('who leaves a pending order goes to cancelUrl, or to redirectUrl with the status pending', async () => {
  const addresses = { cancelUrl: 'http://127.0.0.1:9/basket', redirectUrl: 'http://127.0.0.1:9/thanks' }
  const { cancelUrl: _cancelUrl, ...withoutCancelUrl } = addresses
  for (const [given, path] of [
    [addresses, '/basket'],
    [withoutCancelUrl, '/thanks'],
  ] as const) {
    const order = await shop.order((body) => Object.assign(body, given))
    const visitor = new Visitor(order)
    assert.match(await visitor.look(), /href="[^"]+\/return"[^>]*><span>Back to/)
    const back = new URL((await visitor.get('/return')).headers.get('location') ?? '')
    assert.deepEqual([back.pathname, back.searchParams.get('status')], [path, 'pending'])
    assert.equal(await shop.status(order), 'pending')
    await shop.pay(order, 'success')
    const after = new URL((await visitor.get('/return')).headers.get('location') ?? '')
    assert.deepEqual([after.pathname, after.searchParams.get('status')], ['/thanks', 'success'])
  }
})

test('a payment that is processed says who has the money, and offers the way back to the shop', async () => {
  const order = await shop.order()
  await shop.pay(order, 'confirming')
  const visitor = new Visitor(order)
  assert.match(await visitor.look(), /\$12\.50<\/bdi> is reserved in your wallet\. You can close this page\./)
  const back = new URL((await visitor.get('/return')).headers.get('location') ?? '')
  assert.deepEqual([back.pathname, back.searchParams.get('status')], ['/thanks', 'confirming'])
})

test('an app is returned to by its own scheme, with the signed parameters', async () => {
  const order = await shop.order((body) => {
    body.channel = 'APP'
    body.redirectUrl = 'com.shop.example:/thanks?basket=7'
  })
  await shop.pay(order, 'success')
  const location = (await new Visitor(order).get('/return')).headers.get('location') ?? ''
  assert.match(location, /^com\.shop\.example:\/thanks\?basket=7&merchantId=\d{18}&paymentId=P\w+&/)
})

test('an order without redirectUrl has no way back', async () => {
  const order = await shop.order((body) => {
    delete body.redirectUrl
  })
  await shop.pay(order, 'success')
  const visitor = new Visitor(order)
  const page = await visitor.look()
  assert.match(page, /You can close this page/)
  assert.doesNotMatch(page, /\/return/)
  assert.equal((await visitor.get('/return')).headers.get('location'), new URL(order.url).pathname)
})

test('a refund shows on the page of the paid order', async () => {
  const order = await shop.order()
  await shop.pay(order, 'success')
  const { code = '' } = await shop.merchant.call('service.trade.refund', {
    paymentId: order.paymentId,
    referRefundNo: `refund-${order.paymentId}`,
    refundAmount: '2.50',
  })
  assert.equal(code, 20000)
  assert.match(await new Visitor(order).look(), /\$2\.50<\/bdi> (refunded|in progress)/)
})

test('without scripts the page looks again by itself: soon while a payment is under way, else at the expiry', async () => {
  const order = await shop.order()
  const visitor = new Visitor(order)
  assert.match(await visitor.look(), /<noscript><meta http-equiv="refresh" content="1801"><\/noscript>/)
  await shop.pay(order, 'confirming')
  assert.match(await visitor.look(), /<noscript><meta http-equiv="refresh" content="3"><\/noscript>/)
})

test('the details name every part of the order, in the digits of its currency', async () => {
  const order = await shop.order((body) => {
    body.currency = 'TND'
    body.paymentAmount = '71.250'
    Object.assign(body.order, {
      orderAmount: '60.125',
      tips: '1.001',
      totalTax: '2.002',
      discount: '3.003',
      insurance: '4.004',
      handlingFee: '5.005',
      shippingDiscount: '0.500',
      shipping: { shipType: 'PICKUP_IN_STORE', amount: '6.006', name: 'Mira', address: 'Rue du Port 1' },
      goods: [
        {
          referenceGoodsId: 'a',
          goodsName: 'Lamp',
          goodsDesc: 'Brass',
          goodsAmount: '30.000',
          goodsQuantity: 2,
        },
        { referenceGoodsId: 'b', goodsName: 'Wick', goodsAmount: '0.125' },
      ],
    })
  })
  const page = (await new Visitor(order).look()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
  for (const text of [
    'TND 71.250 Two teas',
    'Lamp TND 60.000',
    'Brass 2 × TND 30.000',
    'Wick TND 0.125',
    '3 items',
    'Subtotal TND 60.125',
    'Tip TND 1.001',
    'Tax TND 2.002',
    'Shipping TND 6.006',
    'Shipping discount &#8722;TND 0.500',
    'Discount &#8722;TND 3.003',
    'Insurance TND 4.004',
    'Handling fee TND 5.005',
    'Total TND 71.250',
    'Store pickup Mira Rue du Port 1',
    'Order number order-',
  ])
    assert(page.includes(text), text)
})

test('a form of more than 4 KiB is refused before it is read', async () => {
  const visitor = new Visitor(await shop.order())
  await visitor.look()
  const response = await visitor.post('sign-in', { login: 'x'.repeat(5_000), pin: '1' })
  assert.equal(response.status, 413)
  assert.match(await response.text(), /Something went wrong/)
})

test('a forgotten PIN: the page says what to do, the code sets a new one, and the order goes on from there', async () => {
  const { login } = await shop.addWallet()
  const { code = '' } = await actingAs(shop.gateway.operations, 'test').wallets.resetPin(login, 'asked')
  const visitor = new Visitor(await shop.order())
  assert.match(await visitor.look(), /href="[^"]+\/pin">Forgot your PIN\?/)
  assert.match(await visitor.look('/pin'), /Ask your wallet provider for a one-time code/)
  const wrong = await visitor.post('pin', { login, code: '00000000', pin: '135790', again: '135790' })
  assert.match(wrong.headers.get('location') ?? '', /\/pin$/)
  assert.match(await visitor.look('/pin'), /Incorrect login or code/)
  await visitor.post('pin', { login, code, pin: '135790', again: '135791' })
  const unfit = await visitor.look('/pin')
  assert.match(unfit, /must have 6 to 12 digits, and both entries must match/)
  assert.match(unfit, new RegExp(`value="${login}"`))
  await visitor.post('pin', { login, code, pin: '135790', again: '135790' })
  const back = await visitor.get('/pin')
  assert.equal(back.status, 303)
  const page = await visitor.look()
  assert.match(page, /Your PIN was changed and you are signed in/)
  assert.match(page, /Signed in as <bdi>Mira Consumer/)
})

test('the page for a new PIN is for orders that can be paid, and its form for our own pages', async () => {
  const order = await shop.order()
  await shop.pay(order, 'success')
  const visitor = new Visitor(order)
  assert.equal((await visitor.get('/pin')).status, 303)
  const { login } = await shop.addWallet()
  const { code = '' } = await actingAs(shop.gateway.operations, 'test').wallets.resetPin(login, 'asked')
  const stranger = new Visitor(await shop.order())
  await stranger.look('/pin')
  const fields = { login, code, pin: '135790', again: '135790' }
  await stranger.post('pin', fields, { 'sec-fetch-site': 'cross-site' })
  await stranger.post('pin', { ...fields, token: 'x' })
  const { rows } = await shop.gateway.pool.query('select tries from pin_resets')
  assert.ok(rows.every(({ tries }) => tries === 0))
})
