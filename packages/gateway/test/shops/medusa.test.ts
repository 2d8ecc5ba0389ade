// A real Medusa with our payment provider, over its own APIs: carts are paid at the checkout in a real browser, the
// callback makes the order, and its admin API gives money back. Installed by its own lock file, where it is not there yet.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { giveBankAccount, payOutWholly } from '../support/payouts.ts'
import {
  type Answer,
  assertRefunded,
  eventually,
  places,
  postForgedCallback,
  prepareShopSystem,
} from '../support/shop-system.ts'

const shop = await prepareShopSystem('medusa')
const { folder, tillgate, url: medusaUrl } = shop
const cli = join(folder, 'node_modules/@medusajs/cli/cli.js')
const medusa = (...args: string[]) => shop.run(process.execPath, [cli, ...args], join(folder, 'shop'))

let headers: Record<string, string> = {}

async function ask(path: string, body?: object): Promise<Answer> {
  const answered = await fetch(`${medusaUrl}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answered.text()
  assert(answered.ok, `${path}: ${answered.status} ${text}`)
  return JSON.parse(text)
}

const regions: Record<string, string> = {}
let variantId = ''

before(async () => {
  await shop.install()
  await medusa('db:migrate')
  const account = { email: 'admin@shop.example', password: 'a password for tests' }
  await medusa('user', '--email', account.email, '--password', account.password)
  await shop.start([cli, 'start', '--port', `${shop.port}`], 'Server is ready')

  const { token } = await ask('/auth/user/emailpass', account)
  headers = { authorization: `Bearer ${token}` }
  const { sales_channel } = await ask('/admin/sales-channels', { name: 'Web' })
  const { api_key } = await ask('/admin/api-keys', { title: 'Storefront', type: 'publishable' })
  await ask(`/admin/api-keys/${api_key.id}/sales-channels`, { add: [sales_channel.id] })
  headers['x-publishable-api-key'] = api_key.token
  const { stores } = await ask('/admin/stores')
  const currencies = Object.keys(places).map((code, at) => ({ currency_code: code, is_default: at === 0 }))
  await ask(`/admin/stores/${stores[0].id}`, { supported_currencies: currencies })
  for (const [currency_code, { country }] of Object.entries(places)) {
    const { region } = await ask('/admin/regions', {
      name: country,
      currency_code,
      countries: [country],
      payment_providers: ['pp_tillgate_tillgate'],
    })
    regions[currency_code] = region.id
  }
  const prices = Object.entries(places).map(([currency_code, { price }]) => ({
    currency_code,
    amount: price,
  }))
  const { product } = await ask('/admin/products', {
    title: 'Green tea',
    status: 'published',
    options: [{ title: 'Size', values: ['100 g'] }],
    variants: [{ title: '100 g', options: { Size: '100 g' }, manage_inventory: false, prices }],
    sales_channels: [{ id: sales_channel.id }],
  })
  variantId = product.variants[0].id
})

async function fillCart(
  currency: string,
): Promise<{ cartId: string; collectionId: string; session: Answer }> {
  const email = 'zoe@consumer.example'
  const { cart } = await ask('/store/carts', { region_id: regions[currency], email })
  await ask(`/store/carts/${cart.id}/line-items`, { variant_id: variantId, quantity: 1 })
  const { payment_collection } = await ask('/store/payment-collections', { cart_id: cart.id })
  const session = await startSession(payment_collection.id)
  return { cartId: cart.id, collectionId: payment_collection.id, session }
}

async function startSession(collectionId: string): Promise<Answer> {
  const { payment_collection } = await ask(`/store/payment-collections/${collectionId}/payment-sessions`, {
    provider_id: 'pp_tillgate_tillgate',
    // What a storefront sends along must not decide what is paid.
    data: { paymentId: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W', amount: '0.01', status: 'success' },
  })
  return payment_collection.payment_sessions.at(-1)
}

async function orderOf(cartId: string): Promise<Answer> {
  const answered = await fetch(`${medusaUrl}/store/carts/${cartId}/complete`, { method: 'POST', headers })
  const { order } = (await answered.json()) as Answer
  return order
}

for (const [currency, { price, shown, refunds }] of Object.entries(places)) {
  test(`an order in ${currency} is paid at the checkout in a browser, and given back in two parts by the admin`, async () => {
    const { cartId, session } = await fillCart(currency)
    assert.equal(session.status, 'pending')
    assert.equal(Number(session.amount), price)
    const page = await shop.pay(session.data.checkoutUrl, shown)
    // The callback alone makes the order: nobody completes the cart.
    const orders = async () =>
      (await ask('/admin/orders?fields=id,total,currency_code,payment_status,*payment_collections.payments'))
        .orders
    const find = async () => (await orders()).find((each: Answer) => each.currency_code === currency)
    const order = await eventually(async () => {
      const found = await find()
      return found?.payment_status === 'captured' ? found : undefined
    })
    assert.equal(Number(order.total), price)
    assert.equal((await orderOf(cartId)).id, order.id)

    const [payment] = order.payment_collections[0].payments
    for (const amount of refunds)
      await ask(`/admin/payments/${payment.id}/refund`, { amount: Number(amount) })
    await assertRefunded(tillgate, session.data.paymentId, refunds)
    await assert.rejects(ask(`/admin/payments/${payment.id}/refund`, { amount: Number(refunds[0]) }))
    await page.close()
  })
}

test('a cart that is not paid makes no order; a cart that grows gets a payment of the new amount, and the old one is cancelled', async () => {
  const { cartId, collectionId, session } = await fillCart('eur')
  assert.equal(await orderOf(cartId), undefined)
  await ask(`/store/carts/${cartId}/line-items`, { variant_id: variantId, quantity: 2 })
  const again = await startSession(collectionId)
  assert.equal(again.data.amount, '37.50')
  assert.equal((await tillgate.orders.query(session.data.paymentId)).paymentStatus, 'cancelled')
  assert.equal((await tillgate.orders.query(again.data.paymentId)).paymentStatus, 'pending')
})

test('a forged callback makes no order', async () => {
  const { cartId, session } = await fillCart('eur')
  const answered = await postForgedCallback(`${medusaUrl}/hooks/payment/tillgate_tillgate`, session.id)
  // Medusa answers before it looks.
  assert.equal(answered.status, 200)
  assert.equal(await orderOf(cartId), undefined)
})

/** Our provider without Medusa around it, which would have to lose an answer at the right moment. */
async function openProvider(): Promise<Answer> {
  const { TillgateProvider } = await import(join(folder, 'dist/provider.js'))
  const options = { credentials: shop.credentials, backendUrl: medusaUrl, returnUrl: `${medusaUrl}/thanks` }
  return new TillgateProvider({ logger: console }, options)
}

test('an update whose answer was lost is repeated, with the same amount and with another', async () => {
  const provider = await openProvider()
  const begin = { currency_code: 'eur', data: { session_id: 'payses_lost' } }
  const { data: first } = await provider.initiatePayment({ ...begin, amount: 10 })
  const { data: lost } = await provider.updatePayment({ currency_code: 'eur', amount: 20, data: first })
  for (const amount of [20, 30]) {
    const { data: again } = await provider.updatePayment({ currency_code: 'eur', amount, data: first })
    const { paymentStatus, paymentAmount } = await tillgate.orders.query(again.paymentId)
    assert.deepEqual([paymentStatus, Number(paymentAmount)], ['pending', amount])
  }
  assert.equal((await tillgate.orders.query(lost.paymentId)).paymentStatus, 'cancelled')
})

test('a cancellation whose refund failed is repeated once there is money for it', async () => {
  const provider = await openProvider()
  const sell = async (session_id: string) => {
    const { data } = await provider.initiatePayment({
      currency_code: 'usd',
      amount: 10,
      data: { session_id },
    })
    await tillgate.sandbox.pay({ paymentId: data.paymentId, outcome: 'success' })
    await tillgate.orders.waitUntilFinal(data.paymentId)
    return data
  }
  const data = await sell('payses_poor')
  const { merchantId } = tillgate
  await giveBankAccount(shop.gateway.pool, merchantId)
  await payOutWholly(shop.gateway, { merchantId, amountMinor: 1_000n })
  await assert.rejects(provider.cancelPayment({ data }), /The refund failed/)
  await sell('payses_rich')
  await provider.cancelPayment({ data })
  await provider.cancelPayment({ data })
  const { refunds } = await tillgate.orders.query(data.paymentId)
  assert.deepEqual(
    refunds.map(({ referRefundNo, status }) => [referRefundNo, status]),
    [
      ['payses_poor-cancel', 'refund_failed'],
      ['payses_poor-cancel.2', 'refund_success'],
    ],
  )
})
