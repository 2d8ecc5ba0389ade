// A whole gateway with a rail: the sandbox's method begins a payment, a signed notification over a real socket settles it, and
// the merchant hears both events and finds the rail named.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { actingAs } from '../support/acting.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { ConsoleClient } from '../support/console.ts'
import { approved, TestBank } from '../support/rails.ts'

const shop = await openCheckoutShop()
const { gateway, clock, merchant } = shop
const bank = await new TestBank(clock).open()
after(() => bank.close())
const { rails } = actingAs(gateway.operations, 'test')
const { secret } = await rails.addRail(
  'bank',
  {
    ...noExtras,
    name: 'My bank',
    names: { de: 'Meine Bank' },
    url: bank.url,
    currencies: ['USD'],
    logo: '<svg xmlns="http://www.w3.org/2000/svg"/>',
  },
  'test',
)
bank.secrets.push(secret)
// What the gateway remembers of rails is older than that.
clock.advance(4_000)

async function begin() {
  const order = await shop.order()
  const { data, msg } = await merchant.call('service.sandbox.pay', {
    paymentId: order.paymentId,
    rail: 'bank',
  })
  assert(data?.transactionId, msg)
  return { order, data, transactionId: String(data.transactionId) }
}

function notify({ body, headers }: { body: string; headers: Record<string, string> }, railId = 'bank') {
  return fetch(`${gateway.url}/rails/${railId}/notifications`, { method: 'POST', headers, body })
}

const query = async (paymentId: string) => (await merchant.call('service.trade.query', { paymentId })).data

test('the sandbox pays through a rail, and a notification settles it: both events, and the rail named', async () => {
  const { order, data, transactionId } = await begin()
  assert.deepEqual(data, {
    paymentId: order.paymentId,
    status: 'pending',
    transactionId,
    nextAction: { kind: 'redirect', url: 'https://bank.example/pay' },
  })
  assert.equal((await query(order.paymentId)).payMethod, undefined)
  bank.payments.set(transactionId, approved)
  clock.advance(1)
  const told = await notify(bank.notification({ type: 'payment.changed', transactionId }))
  assert.equal(told.status, 204)
  await shop.waitFor(order, 'success')
  const { payMethod, ...found } = await query(order.paymentId)
  assert.deepEqual([payMethod, found.transactionId, found.paymentStatus], ['bank', transactionId, 'success'])
  const { rows } = await gateway.pool.query<{ event_name: string }>(
    'select event_name from callbacks where payment_id = $1 order by created_at',
    [order.paymentId],
  )
  assert.deepEqual(
    rows.map(({ event_name }) => event_name),
    ['payment.order.confirming', 'payment.order.success'],
  )
  assert.deepEqual((await gateway.operations.verifyLedger()).findings, [])
  const console = new ConsoleClient(gateway)
  await console.signIn()
  const { text } = await console.get(`/orders/${merchant.merchantId}/${order.paymentId}`)
  assert.match(text, /Payment attempts[\s\S]*approved[\s\S]*payment\.start[\s\S]*payment\.status/)
})

test('an order that a wallet paid names the wallet', async () => {
  const order = await shop.order()
  await shop.pay(order, 'success')
  assert.equal((await query(order.paymentId)).payMethod, 'wallet')
})

test('notifications: 204 also for unknown ids, 401 for a wrong signature, an old one and a rail that is none', async () => {
  const { order, transactionId } = await begin()
  bank.payments.set(transactionId, approved)
  const unknown = await notify(bank.notification({ type: 'payment.changed', transactionId: 'T0' }))
  assert.deepEqual([unknown.status, await unknown.text()], [204, ''])
  const notification = { type: 'payment.changed', transactionId }
  const forged = await notify(bank.notification(notification, `whsec_${'A'.repeat(43)}=`))
  assert.equal(forged.status, 401)
  assert.match(await forged.text(), /not signed with a secret of this rail/)
  assert.equal((await notify(bank.notification(notification), 'nobody')).status, 401)
  assert.equal((await notify({ body: JSON.stringify(notification), headers: {} })).status, 401)
  const old = bank.notification(notification)
  clock.advance(6 * 60_000)
  assert.equal((await notify(old)).status, 401)
  assert.equal((await notify(bank.notification({ type: 'nothing' }))).status, 400)
  assert.equal((await notify({ body: 'x'.repeat(5_000), headers: {} })).status, 413)
  assert.deepEqual(bank.asked.filter(({ type }) => type === 'payment.start').length >= 2, true)
  await shop.cancel(order).catch(() => {})
})

test('the sandbox moves attempts in time: the order expires, and the rail is told', async () => {
  const { order, transactionId } = await begin()
  bank.asked.length = 0
  const milliseconds = 25 * 60 * 60_000
  const { code } = await merchant.call('service.sandbox.advance', {
    paymentId: order.paymentId,
    milliseconds,
  })
  assert.equal(code, 20000)
  await shop.waitFor(order, 'timeout')
  while (
    !bank.asked.some((asked) => asked.type === 'payment.cancel' && asked.transactionId === transactionId)
  )
    await new Promise((resolve) => setImmediate(resolve))
})

test('a rail that is not offered is refused with why', async () => {
  const { paymentId } = await shop.order()
  const { code, msg, data } = await merchant.call('service.sandbox.pay', { paymentId, rail: 'nobody' })
  assert.deepEqual([code, data.field], [40901, 'rail'])
  assert.match(msg, /rail nobody is not offered for this order/)
})

test('a logo is an image and nothing else', async () => {
  const logo = await fetch(`${gateway.url}/rails/bank/logo.svg`)
  assert.equal(logo.headers.get('content-type'), 'image/svg+xml')
  assert.match(logo.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/)
  assert.equal((await fetch(`${gateway.url}/rails/nobody/logo.svg`)).status, 404)
})
