// Personal data in orders: after its time it is found nowhere, and repetitions and books still work.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { openCheckoutShop, Visitor } from '../support/checkout.ts'
import { createBody } from '../support/order.ts'

const dayMs = 86_400_000
const shop = await openCheckoutShop({ environment: { PERSONAL_DATA_DAYS: '30' } })
const { gateway, merchant, clock } = shop
const [name, address, orderDescription, attach]: string[] = [
  'Annegret Vogelsang',
  'Lindenallee 77',
  'For the birthday',
  'basket of Annegret V.',
]
const personal = [name, address, orderDescription].map(String)

const bodyOf = (orderNo: string) => {
  const body = createBody({ now: clock.now(), orderNo })
  const shipping = { shipType: 'SHIPPING', amount: 0, name, address }
  return { ...body, attach, order: { ...body.order, orderDescription, shipping } }
}

/** Every row of every table, as text. */
async function dump(): Promise<string> {
  const { rows } = await gateway.pool.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
  )
  const tables = await Promise.all(
    rows.map(({ name: table }) =>
      gateway.pool.query<{ row: string }>(`select t::text as row from ${table} t`),
    ),
  )
  return tables.flatMap((table) => table.rows.map(({ row }) => row)).join('\n')
}

const isStored = async () => {
  const all = await dump()
  return personal.map((text) => all.includes(text))
}
const prune = () => gateway.operations.prune(new AbortController().signal)

test('what is personal in an order is erased after its time, everywhere, and nothing else', async () => {
  const bodies = ['paid', 'left', 'cancelled'].map(bodyOf)
  const made = []
  for (const body of bodies) made.push((await merchant.call('service.trade.create', body)).data)
  const [paid, , cancelled] = made.map(({ paymentId, checkoutUrl }) => ({
    paymentId,
    url: gateway.url + new URL(checkoutUrl).pathname,
  }))
  assert(paid && cancelled)
  await shop.pay(paid, 'success')
  await shop.cancel(cancelled)
  const refund = { paymentId: paid.paymentId, referRefundNo: 'r1', refundAmount: 1 }
  await merchant.call('service.trade.refund', refund)
  clock.advance(30 * dayMs)
  await gateway.operations.expireOrders()
  assert.equal((await prune()).erased, 0, 'to the millisecond')
  assert.deepEqual(await isStored(), [true, true, true])
  clock.advance(1)
  assert.equal((await prune()).erased, 3)
  assert.deepEqual(await isStored(), [false, false, false])
  const { rows } = await gateway.pool.query('select from orders where attach is not null')
  assert.equal(rows.length, 0)
  assert.equal((await prune()).erased, 0, 'again')

  const { data } = await merchant.call('service.trade.query', { paymentId: paid.paymentId })
  assert.deepEqual([data.paymentStatus, data.paymentAmount, data.orderNo], ['success', 12.5, 'paid'])
  const page = await new Visitor(paid).look()
  assert.match(page, /Green tea/)
  assert.doesNotMatch(page, /Delivered to/)
  assert.deepEqual((await gateway.stores.verifyLedger()).findings, [])

  const [first] = bodies
  assert(first)
  const repeated = await merchant.call('service.trade.create', first)
  assert.deepEqual([repeated.code, repeated.data.paymentId], [20000, paid.paymentId], repeated.msg)
  const other = structuredClone(first)
  other.order.shipping.name = 'Somebody else'
  const refused = await merchant.call('service.trade.create', other)
  assert.equal(refused.code, 40900)
  assert.doesNotMatch(refused.text, /Annegret/)
  const otherAttach = await merchant.call('service.trade.create', { ...first, attach: 'another basket' })
  assert.equal(otherAttach.code, 40900)
})

test('an order that is younger, or was never personal, stays as it is', async () => {
  const young = bodyOf('young')
  const { data } = await merchant.call('service.trade.create', young)
  await merchant.call('service.trade.cancel', { paymentId: data.paymentId })
  await shop.order((body) => {
    delete body.order.orderDescription
  })
  clock.advance(29 * dayMs)
  await prune()
  assert.deepEqual(await isStored(), [true, true, true])
  // The worker may be first; it looks when its time has come.
  clock.advance(2 * dayMs)
  await prune()
  assert.deepEqual(await isStored(), [false, false, false])
})

test('what ends after its time is erased too, also what ended so before anybody looked at live orders', async () => {
  const confirming = bodyOf('stuck')
  const passed = bodyOf('passed')
  const ids: string[] = []
  for (const body of [confirming, passed]) {
    const { data } = await merchant.call('service.trade.create', body)
    ids.push(data.paymentId)
    const pay = { paymentId: data.paymentId, outcome: 'confirming' }
    assert.equal((await merchant.call('service.sandbox.pay', pay)).code, 20000)
  }
  const [stuckId, passedId] = ids
  clock.advance(1_000)
  const later = await shop.order()
  await shop.pay(later, 'success')
  // As gateways had left it that looked at ended orders alone.
  await gateway.pool.query("update orders set status = 'success' where payment_id = $1", [passedId])
  await gateway.pool.query('delete from erasures')
  await gateway.pool.query("insert into erasures (status, done_before) values ('success', $1)", [
    `${later.paymentId}0`,
  ])
  clock.advance(31 * dayMs)
  await prune()
  await gateway.pool.query("update orders set status = 'success' where payment_id = $1", [stuckId])
  await prune()
  assert.deepEqual(await isStored(), [false, false, false])
  const repeated = await merchant.call('service.trade.create', confirming)
  assert.deepEqual([repeated.code, repeated.data.paymentId], [20000, stuckId], repeated.msg)
  await gateway.pool.query("update orders set status = 'confirming' where payment_id = any ($1)", [ids])
})

test('an operator gives a consumer all that is stored of them, and that is recorded', async () => {
  const { login, pin } = await shop.addWallet({ name: 'Mira Export' })
  const order = await shop.order()
  const visitor = new Visitor(order)
  await visitor.look()
  await visitor.post('sign-in', { login, pin })
  await visitor.look()
  await visitor.post('pay')
  await shop.waitFor(order, 'success')
  const { wallets } = actingAs(gateway.operations, 'test')
  const all = await wallets.exportWallet(login, 'a letter of May')
  assert.equal(all.wallet.name, 'Mira Export')
  assert.deepEqual(
    all.payments.map(({ paymentId, status }) => [paymentId, status]),
    [[order.paymentId, 'success']],
  )
  assert.match(all.payments[0]?.content ?? '', /Two teas/)
  assert.deepEqual(
    all.movements.map(({ kind, phase, amountMinor }) => [kind, phase, amountMinor]).toSorted(),
    [
      ['payment', 'hold', -1_250n],
      ['payment', 'post', -1_250n],
      ['top_up', 'direct', 10_000n],
    ],
  )
  assert.deepEqual(all.acts.map(({ act }) => act).toSorted(), [
    'wallet.add',
    'wallet.export',
    'wallet.top-up',
  ])
})
