// Orders in the console: lists, filters, search, the file of all that fit, an order's page, and the actions on it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OpenOrder, openCheckoutShop } from '../support/checkout.ts'
import { ConsoleClient, signedInAs } from '../support/console.ts'
import { createBody } from '../support/order.ts'
import { insertPastOrders } from '../support/past-orders.ts'

const shop = await openCheckoutShop()
const { gateway, clock, merchant } = shop
const { pool } = gateway
const other = await gateway.addMerchant()
const admin = new ConsoleClient(gateway)
await admin.signIn()
const viewer = await signedInAs(gateway, 'viewer')

const pathOf = ({ paymentId }: OpenOrder) => `/orders/${merchant.merchantId}/${paymentId}`

/** The paymentIds on a page, in its order. */
function listed(text: string): string[] {
  return [...text.matchAll(/<code>(P[0-9A-Z]{26})<\/code>/g)].map(([, id = '']) => id)
}

async function list(query = '', path = '/orders'): Promise<string[]> {
  const { status, text } = await admin.get(`${path}${query}`)
  assert.equal(status, 200)
  return listed(text)
}

async function acts(subject: string): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(
    "select act || ' by ' || actor || ': ' || reason as what from audit where subject = $1 order by audit_id",
    [subject],
  )
  return rows.map(({ what }) => what)
}

test('the list shows the newest first, and every filter alone and together', async () => {
  const made: OpenOrder[] = []
  for (const end of ['none', 'success', 'failed', 'cancel', 'none'] as const) {
    const order = await shop.order()
    if (end === 'cancel') await shop.cancel(order)
    else if (end !== 'none') await shop.pay(order, end)
    made.push(order)
    clock.advance(1_000)
  }
  const ids = made.map(({ paymentId }) => paymentId)
  assert.deepEqual(await list(), ids.toReversed())
  assert.deepEqual(await list('?status=success'), [ids[1]])
  assert.deepEqual(await list('?status=pending'), [ids[4], ids[0]])
  assert.deepEqual(await list(`?merchant=${merchant.merchantId}`), ids.toReversed())
  assert.deepEqual(await list(`?merchant=${merchant.merchantId}&status=failed`), [ids[2]])
  assert.deepEqual(await list(`?merchant=${other.merchantId}`), [])
  // By name too; where several have it, they are offered.
  await gateway.merchants.changeMerchant(other.merchantId, { name: 'Tea Room' }, { reason: 'test' })
  assert.deepEqual(await list('?merchant=tea+house&status=failed'), [ids[2]])
  assert.deepEqual(await list('?merchant=room'), [])
  const { text: several } = await admin.get('/orders?merchant=tea')
  for (const { merchantId } of [merchant, other])
    assert.match(several, new RegExp(`<option value="${merchantId}">Tea`))
  assert.deepEqual(await list('?merchant=nobody'), [])
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  const tomorrow = new Date(clock.now() + 86_400_000).toISOString().slice(0, 10)
  assert.equal((await list(`?from=${today}&to=${today}`)).length, 5)
  assert.deepEqual(await list(`?from=${tomorrow}`), [])
  assert.deepEqual(await list(`?to=2020-01-01`), [])
  // What is not a filter is no filter, and never a mistake of ours.
  assert.equal((await list("?status='&before=x&from=never")).length, 5)
})

test('a currency that few orders are in is found, a stretch of orders at a time', async () => {
  const { merchantId } = await gateway.addMerchant({ name: 'Many & Few' })
  const nowMs = clock.now() - 1_000_000
  const [rare] = await insertPastOrders(pool, [
    { merchantId, status: 'timeout', currency: 'TND', createdAtMs: nowMs - 10_000 },
    ...Array.from({ length: 5_050 }, (_, index) => ({
      merchantId,
      status: 'cancelled' as const,
      createdAtMs: nowMs - 5_050 + index,
    })),
  ])
  const next = async (query: string): Promise<string> => {
    const { text } = await admin.get(`/orders${query}`)
    assert.deepEqual(listed(text), [])
    assert.match(text, /Searched orders back to \d{4}-/)
    return (/rel="next" href="\/orders([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&')
  }
  for (const query of ['?currency=tnd', `?merchant=${merchantId}&status=timeout`])
    assert.deepEqual(await list(await next(query)), [rare], query)
  assert.deepEqual(await list(`?currency=TND&status=timeout`), [rare])
  assert.deepEqual(await list('?currency=TND&status=success'), [])
  assert.equal((await list('?currency=USD')).length, 50)
  assert.deepEqual(await list("?currency='; --"), await list("?currency='; --&merchant=1"))
  const { text } = await admin.get('/orders.csv?currency=TND')
  assert.equal(text.trimEnd().split('\r\n').length, 2)
})

test('orders are found by amount in any currency, by payment method, and by how attach begins', async () => {
  const { merchantId, call } = await gateway.addMerchant({ name: 'Filters' })
  const nowMs = clock.now()
  const ids = await insertPastOrders(pool, [
    { merchantId, status: 'timeout', currency: 'JPY', amountMinor: 20n, createdAtMs: nowMs - 3_000 },
    { merchantId, status: 'timeout', currency: 'USD', amountMinor: 2_000n, createdAtMs: nowMs - 2_000 },
    { merchantId, status: 'timeout', currency: 'TND', amountMinor: 20_001n, createdAtMs: nowMs - 1_000 },
  ])
  const [yen, dollars, dinars] = ids
  const of = (query: string) => list(`?merchant=${merchantId}&${query}`)
  assert.deepEqual(await of('least=20'), [dinars, dollars, yen])
  assert.deepEqual(await of('most=20.00'), [dollars, yen])
  assert.deepEqual(await of('least=20.001'), [dinars])
  assert.deepEqual(await of('least=20&currency=JPY'), [yen])
  assert.equal((await of('least=much')).length, 3)
  const { data } = await call('service.trade.create', {
    ...createBody({ now: clock.now() }),
    attach: 'cart-7 of Ann',
  })
  assert.deepEqual(await of('attach=cart-7'), [data.paymentId])
  assert.deepEqual(await of('attach=7'), [])
  assert.deepEqual(await of('method=wallet'), [])
  assert.deepEqual(await of('method=other'), [])
})

test('a filter is saved under a name, chosen again, and removed', async () => {
  const saved = await admin.post(
    '/views?list=/orders',
    { name: 'Paid <tea>', query: 'status=success&currency=USD' },
    { on: '/orders?status=success&currency=USD' },
  )
  assert.equal(saved.location, '/orders?status=success&currency=USD')
  const { text } = await admin.get('/orders')
  assert.match(text, /<a href="\/orders\?status=success&amp;currency=USD"[^>]*><bdi>Paid &lt;tea&gt;<\/bdi>/)
  assert.doesNotMatch((await admin.get('/callbacks')).text, /Paid &lt;tea&gt;/)
  await admin.post('/views?list=/orders', { remove: 'Paid <tea>' }, { on: '/orders' })
  assert.doesNotMatch((await admin.get('/orders')).text, /Paid &lt;tea&gt;/)
  const elsewhere = { name: 'Away', query: 'x=https://elsewhere.example/' }
  assert.equal((await admin.post('/views?list=/orders', elsewhere, { on: '/orders' })).status, 422)
  assert.equal(
    (await admin.post('/views?list=//elsewhere.example', elsewhere, { on: '/orders' })).status,
    422,
  )
})

test('pages follow one another without a gap and without an order twice', async () => {
  for (let i = 0; i < 60; i++) await shop.order()
  const { text } = await admin.get('/orders')
  const first = listed(text)
  assert.equal(first.length, 50)
  const [, next = ''] = /rel="next" href="([^"]+)"/.exec(text) ?? []
  const second = await list(next.replace('/orders', '').replaceAll('&amp;', '&'))
  const { rows } = await pool.query<{ payment_id: string }>(
    'select payment_id from orders order by payment_id desc',
  )
  assert.deepEqual([...first, ...second], rows.map((row) => row.payment_id).slice(0, 100))
})

test('an order is found by each of its numbers, and by those of its refunds', async () => {
  const order = await shop.order((body) => {
    body.order.orderNo = 'Tea & "Co" #1'
  })
  await shop.pay(order, 'success')
  const { data } = await merchant.call('service.trade.refund', {
    paymentId: order.paymentId,
    referRefundNo: 'back-77',
    refundAmount: '1.00',
  })
  const { rows } = await pool.query<{ transaction_id: string }>(
    'select transaction_id from orders where payment_id = $1 union all select transaction_id from refunds where payment_id = $1',
    [order.paymentId],
  )
  const numbers = [
    order.paymentId,
    'Tea & "Co" #1',
    'back-77',
    data.refundId,
    ...rows.map((row) => row.transaction_id),
  ]
  assert.equal(numbers.length, 6)
  for (const number of numbers)
    assert.deepEqual(
      await list(`?q=${encodeURIComponent(` ${number} `)}`, '/find'),
      [order.paymentId],
      number,
    )
  // In any case, and by how our numbers begin.
  for (const number of [
    order.paymentId.toLowerCase(),
    order.paymentId.slice(0, 20),
    'BACK-77',
    data.refundId.slice(0, 22),
  ])
    assert((await list(`?q=${encodeURIComponent(number)}`, '/find')).includes(order.paymentId), number)
  assert.match((await admin.get('/find?q=tea%20h')).text, /Tea House/)
  assert.match((await admin.get(`/find?q=${merchant.merchantId}`)).text, /merchant=\d+">Orders</)
  const nothing = await admin.get('/find?q=%3Cscript%3Enothing')
  assert.match(nothing.text, /No results for “&lt;script&gt;nothing”/)
})

test('the file holds every order that fits, and nothing that a spreadsheet would run', async () => {
  await shop.order((body) => {
    body.order.orderNo = '=HYPERLINK("http://evil.example","x")'
  })
  const { text, headers, status } = await admin.get('/orders.csv?status=pending')
  assert.equal(status, 200)
  assert.match(headers.get('content-disposition') ?? '', /attachment; filename="orders-\d{4}-\d\d-\d\d\.csv"/)
  const lines = text.trimEnd().split('\r\n')
  const { rows } = await pool.query("select from orders where status = 'pending'")
  assert.equal(lines.length, rows.length + 1)
  assert.match(lines[0] ?? '', /^created,merchantId,merchant,paymentId,orderNo,status,amount,/)
  assert.match(text, /,"'=HYPERLINK\(""http/)
})

test('an order’s page tells its whole life', async () => {
  const order = await shop.order()
  await shop.pay(order, 'success')
  await merchant.call('service.trade.refund', {
    paymentId: order.paymentId,
    referRefundNo: 'part-1',
    refundAmount: '2.50',
    refundReason: 'a cup broke',
  })
  for (let tries = 0; tries < 1_000; tries++) {
    const { data } = await merchant.call('service.trade.query', { paymentId: order.paymentId })
    if (data.status === 'refund_success') break
  }
  const { text } = await admin.get(pathOf(order))
  for (const shown of [
    /12\.50&nbsp;USD/,
    /Created/,
    /confirming/,
    /refund_success/,
    /by the consumer/,
    /Green tea/,
    /Two teas/,
    /part-1/,
    /a cup broke/,
    /payment\.order\.success/,
    /payment\.refund\.success/,
    /&quot;paymentAmount&quot;: 12\.5/,
    /Held/,
    /Posted/,
    new RegExp(`merchant:${merchant.merchantId}:USD`),
    /http:\/\/127\.0\.0\.1:9\/callbacks/,
  ])
    assert.match(text, shown)
  const token = order.url.split('/').at(-1) ?? ''
  assert.ok(!text.includes(token), 'the checkout link is the consumer’s alone')
})

test('an operator cancels a pending order, and it is on record who and why', async () => {
  const order = await shop.order()
  const { location } = await admin.post(`${pathOf(order)}/cancel`, { reason: 'the shop asked by phone' })
  assert.equal(location, pathOf(order))
  assert.equal(await shop.status(order), 'cancelled')
  assert.deepEqual(await acts(order.paymentId), [
    'order.cancel by console:admin@127.0.0.1: the shop asked by phone',
  ])
  assert.match((await admin.get(pathOf(order))).text, /by the operator/)
})

test('the merchant is told of an operator’s cancel, with its reason, by callback and by query', async () => {
  const order = await shop.order()
  await admin.post(`${pathOf(order)}/cancel`, { reason: 'the card was stolen' })
  const { rows } = await pool.query<{ event_name: string; body: string }>(
    'select event_name, body from callbacks where payment_id = $1',
    [order.paymentId],
  )
  const [told] = rows.map(({ event_name, body }) => [event_name, JSON.parse(body)])
  assert.equal(told?.[0], 'payment.order.failed')
  assert.deepEqual([told[1].status, told[1].msg], ['cancelled', 'the card was stolen'])
  const { data } = await merchant.call('service.trade.query', { paymentId: order.paymentId })
  assert.deepEqual([data.status, data.msg], ['cancelled', 'the card was stolen'])
})

test('an act that the status does not allow is refused in words, and leaves no trace', async () => {
  const order = await shop.order()
  await shop.pay(order, 'success')
  const act = (name: string, fields: Record<string, string>) => admin.told(`${pathOf(order)}/${name}`, fields)
  assert.match(await act('cancel', { reason: 'too late' }), /is paid and cannot be cancelled/)
  const refund = { referRefundNo: 'n1', amount: '99.00', reason: 'too much' }
  assert.match(await act('refund', refund), /exceeds the remaining amount/)
  assert.match(await act('refund', { ...refund, amount: '' }), /Enter a value for “Amount/)
  assert.deepEqual(await acts(order.paymentId), [])
})

test('an operator’s refund comes through once, however often its form is sent', async () => {
  const order = await shop.order()
  await shop.pay(order, 'success')
  const { text } = await admin.get(pathOf(order))
  const [, referRefundNo = ''] = /name="referRefundNo" value="([^"]+)"/.exec(text) ?? []
  assert.match(text, /The money goes from the merchant’s balance to the wallet that paid/)
  for (let i = 0; i < 3; i++)
    await admin.post(`${pathOf(order)}/refund`, { referRefundNo, amount: '2.50', reason: 'goodwill' })
  const { rows } = await pool.query<{ amount_minor: string; reason: string }>(
    'select amount_minor, reason from refunds where payment_id = $1',
    [order.paymentId],
  )
  assert.deepEqual(rows, [{ amount_minor: '250', reason: 'goodwill' }])
  assert.deepEqual(await acts(order.paymentId), ['order.refund by console:admin@127.0.0.1: goodwill'])
})

test('a viewer sees the order and no act, and a hand-made request does nothing', async () => {
  const order = await shop.order()
  const { text } = await viewer.get(pathOf(order))
  assert.match(text, /Goods/)
  assert.doesNotMatch(text, /class="act"/)
  for (const act of ['cancel', 'refund', 'resend']) {
    const { status } = await viewer.post(`${pathOf(order)}/${act}`, {
      reason: 'x',
      referRefundNo: 'n',
      amount: '1',
    })
    assert.equal(status, 403, act)
  }
  assert.equal(await shop.status(order), 'pending')
  assert.deepEqual(await acts(order.paymentId), [])
})

test('what does not exist is a page that says so', async () => {
  for (const path of ['/orders/1/2', `/orders/${merchant.merchantId}/P00000000000000000000000000`]) {
    const { status, text } = await admin.get(path)
    assert.equal(status, 404, path)
    assert.match(text, /Page not found/)
  }
})
