// A real Medusa with our payment provider, over its own APIs: carts are paid at the checkout in a real browser, the
// callback makes the order, and its admin API gives money back. Installed by its own lock file, where it is not there yet.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Tillgate } from '../../../sdk/src/index.ts'
import { sandboxFilePath } from '../../src/app/sandbox-file.ts'
import { desktop, launchBrowser, openPage } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { lineWith } from '../support/process.ts'
import { databaseOverTcp } from '../support/tcp-database.ts'
import { freePort } from '../support/test-bank.ts'

const folder = join(import.meta.dirname, '../../../../integrations/medusa')
const gateway = await startTestGateway()
const tillgate = Tillgate.fromFile(sandboxFilePath(gateway.config.dataDir))
const browser = await launchBrowser()
const port = await freePort()
const medusaUrl = `http://localhost:${port}`
const env = {
  ...process.env,
  DATABASE_URL: await databaseOverTcp(),
  PORT: `${port}`,
  NODE_ENV: 'production',
  TILLGATE_CREDENTIALS: sandboxFilePath(gateway.config.dataDir),
  BACKEND_URL: medusaUrl,
  // Where the consumer comes back to: any page of ours will do.
  RETURN_URL: `${gateway.url}/docs`,
  MEDUSA_DISABLE_TELEMETRY: 'true',
}
const run = (command: string, args: readonly string[], cwd: string) =>
  promisify(execFile)(command, args, { cwd, env, timeout: 600_000, maxBuffer: 1e8 }).catch((error) =>
    assert.fail(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`),
  )
const cli = join(folder, 'node_modules/@medusajs/cli/cli.js')
const medusa = (...args: string[]) => run(process.execPath, [cli, ...args], join(folder, 'shop'))

// biome-ignore lint/suspicious/noExplicitAny: whatever Medusa answers
type Answer = any
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

/** By the three numbers of digits that currencies have. */
const places = {
  eur: { country: 'fr', price: 12.5, shown: '12.50', refunds: ['5.00', '7.50'] },
  jpy: { country: 'jp', price: 1200, shown: '1,200', refunds: ['200', '1000'] },
  kwd: { country: 'kw', price: 1.234, shown: '1.234', refunds: ['0.234', '1.000'] },
} as const
const regions: Record<string, string> = {}
let variantId = ''

let server: ChildProcess | undefined
after(() => server?.kill('SIGKILL'))

before(async () => {
  if (!existsSync(cli)) await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder)
  await run(join(folder, 'node_modules/.bin/tsc'), [], folder)
  await medusa('db:migrate')
  const account = { email: 'admin@shop.example', password: 'a password for tests' }
  await medusa('user', '--email', account.email, '--password', account.password)
  const child = spawn(process.execPath, [cli, 'start', '--port', `${port}`], {
    cwd: join(folder, 'shop'),
    env,
  })
  server = child
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  await lineWith({ child, output: () => output }, 'Server is ready', 300_000)

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

/** Medusa looks at a callback when it comes to it. */
async function eventually(look: () => Promise<Answer>): Promise<Answer> {
  for (const deadline = performance.now() + 120_000; ; await pause(200)) {
    const found = await look()
    if (found) return found
    assert(performance.now() < deadline, 'it did not come to this')
  }
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
    const { page } = await openPage(browser, desktop)
    await page.goto(session.data.checkoutUrl)
    assert(
      (await page.locator('main').textContent())?.includes(shown),
      await page.locator('main').innerText(),
    )
    await page.locator('button[value=approves]').click()
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
    const { refunds: made, paymentStatus } = await tillgate.orders.query(session.data.paymentId)
    assert.equal(paymentStatus, 'success')
    assert.deepEqual(
      made.map(({ refundAmount, status }) => [Number(refundAmount), status]),
      refunds.map((amount) => [Number(amount), 'refund_success']),
    )
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
  const forged = {
    id: '01995f2d-8000-7000-8000-000000000001',
    merchantId: '100000000000000001',
    eventName: 'payment.order.success',
    timestamp: `${Date.now()}`,
    sign: 'AAAA',
    body: Buffer.from(JSON.stringify({ referOrderNo: session.id, status: 'success' })).toString('base64'),
  }
  const answered = await fetch(`${medusaUrl}/hooks/payment/tillgate_tillgate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(forged),
  })
  // Medusa answers before it looks.
  assert.equal(answered.status, 200)
  assert.equal(await orderOf(cartId), undefined)
})
