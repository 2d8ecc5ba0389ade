// service.order.list: whole and without repetition, also while orders are created, and of one merchant alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueryAnswer } from '@tillgate/protocol'
import { statementChannel } from '../../src/platform/database/pool.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway, type TestMerchant } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'

const clock = new TestClock(Date.now())
const gateway = await startTestGateway({ clock })
const minute = 60_000

async function create(merchant: TestMerchant): Promise<string> {
  const { code, msg, data } = await merchant.call('service.trade.create', createBody({ now: clock.now() }))
  assert.equal(code, 20000, msg)
  return data.paymentId
}

async function list(merchant: TestMerchant, body: object = {}) {
  const { code, msg, data } = await merchant.call('service.order.list', body)
  assert.equal(code, 20000, msg)
  const { orders, cursor } = data as {
    orders: QueryAnswer[]
    cursor?: string
  }
  return { orders, cursor, ids: orders.map(({ paymentId }) => paymentId) }
}

async function listAll(merchant: TestMerchant, body: object, between = async () => {}): Promise<string[]> {
  const all: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await list(merchant, { ...body, ...(cursor && { cursor }) })
    all.push(...page.ids)
    if (page.cursor === undefined) return all
    cursor = page.cursor
    await between()
  }
}

test('each order is listed as query answers it, newest first, with its refunds', async () => {
  const merchant = await gateway.addMerchant()
  const oldest = await create(merchant)
  clock.advance(1)
  const paymentId = await merchant.paidOrder()
  clock.advance(1)
  const newest = await create(merchant)
  const refund = { paymentId, referRefundNo: 'r', refundAmount: 1 }
  assert.equal((await merchant.call('service.trade.refund', refund)).code, 20000)
  const { orders, cursor, ids: listed } = await list(merchant)
  assert.deepEqual(listed, [newest, paymentId, oldest])
  assert.equal(cursor, undefined)
  // The refund moves on by itself.
  for (const order of [orders[0], orders[2]]) {
    const query = await merchant.call('service.trade.query', { paymentId: order?.paymentId })
    assert.deepEqual(order, query.data)
  }
  assert.equal(orders[1]?.refunds[0]?.referRefundNo, 'r')
  assert.equal(orders[1]?.paymentStatus, 'success')
})

test('an order is listed once while others are created between and during the pages', async () => {
  const merchant = await gateway.addMerchant()
  const before = await Promise.all(Array.from({ length: 60 }, () => create(merchant)))
  const during: Promise<string>[] = []
  const between = async () => {
    clock.advance(1)
    for (let more = 0; more < 5; more++) during.push(create(merchant))
    await during.at(-5)
  }
  during.push(create(merchant), create(merchant))
  const listed = await listAll(merchant, { limit: 7 }, between)
  const created = await Promise.all(during)
  assert.equal(new Set(listed).size, listed.length, 'repeated')
  assert.deepEqual(
    before.filter((id) => !listed.includes(id)),
    [],
    'missing',
  )
  assert.deepEqual(listed, listed.toSorted().reverse())
  assert.ok(listed.every((id) => before.includes(id) || created.includes(id)))
})

test('a page has 50 orders unless it is asked for 1 to 100, and only as many as there are', async () => {
  const merchant = await gateway.addMerchant()
  for (let made = 0; made < 101; made += 20)
    await Promise.all(Array.from({ length: Math.min(20, 101 - made) }, () => create(merchant)))
  assert.equal((await list(merchant)).orders.length, 50)
  assert.equal((await list(merchant, { limit: '1' })).orders.length, 1)
  const page = await list(merchant, { limit: 100 })
  assert.equal(page.orders.length, 100)
  const last = await list(merchant, { limit: 1, cursor: page.cursor })
  assert.deepEqual([last.orders.length, last.cursor], [1, undefined])
  for (const limit of [0, 101, 1.5]) {
    const { code, data } = await merchant.call('service.order.list', { limit })
    assert.deepEqual([code, data.field], [40001, 'limit'])
  }
})

test('since counts from its millisecond on, until ends before it, and they must leave room', async () => {
  const merchant = await gateway.addMerchant()
  const first = await create(merchant)
  const at = clock.now()
  clock.advance(1)
  const second = await create(merchant)
  const ids = async (body: object) => (await list(merchant, body)).ids
  assert.deepEqual(await ids({ since: at }), [second, first])
  assert.deepEqual(await ids({ since: at + 1 }), [second])
  assert.deepEqual(await ids({ until: at + 1 }), [first])
  assert.deepEqual(await ids({ since: at, until: String(at + 1) }), [first])
  assert.deepEqual(await ids({ until: at }), [])
  const wrong = await merchant.call('service.order.list', { since: at, until: at })
  assert.deepEqual([wrong.code, wrong.data.field], [40001, 'until'])
})

test('orders of one status are listed, and one that has expired meanwhile is no longer pending', async () => {
  const merchant = await gateway.addMerchant()
  const [cancelled, expired] = [await create(merchant), await create(merchant)]
  await merchant.call('service.trade.cancel', { paymentId: cancelled })
  assert.deepEqual((await list(merchant, { status: 'cancelled' })).ids, [cancelled])
  assert.deepEqual((await list(merchant, { status: 'pending' })).ids, [expired])
  clock.advance(31 * minute)
  assert.deepEqual((await list(merchant, { status: 'pending' })).ids, [])
  assert.deepEqual((await list(merchant, { status: 'timeout' })).ids, [expired])
})

test('a status that few orders have is found page by page, whatever lies between', async () => {
  const merchant = await gateway.addMerchant()
  const cancelled = await create(merchant)
  await merchant.call('service.trade.cancel', { paymentId: cancelled })
  clock.advance(1)
  await gateway.pool.query(
    `insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency, payment_time,
                         expires_at, content, created_at)
     select merchant_id, left(payment_id, 19) || lpad(n::text, 8, '0'), 'filler-' || n, 'timeout', channel, 1, currency,
            payment_time, expires_at, content, created_at
       from orders, generate_series(1, 5100) n
      where merchant_id = $1 and payment_id = $2`,
    [merchant.merchantId, await create(merchant)],
  )
  const first = await list(merchant, { status: 'cancelled' })
  assert.deepEqual(first.ids, [])
  assert.ok(first.cursor)
  assert.deepEqual(await listAll(merchant, { status: 'cancelled' }), [cancelled])
  assert.equal((await listAll(merchant, { status: 'timeout', limit: 100 })).length, 5100)
})

test('another merchant’s orders are not listed, also by their cursor', async () => {
  const [one, other] = [await gateway.addMerchant(), await gateway.addMerchant()]
  await create(one)
  clock.advance(1)
  assert.deepEqual((await list(other, { cursor: await create(one) })).ids, [])
})

test('a page is one statement, and names its merchant, so that a cluster asks one shard', async () => {
  const merchant = await gateway.addMerchant()
  await create(merchant)
  await list(merchant)
  const statements: { text: string; values?: readonly unknown[] }[] = []
  const note = (message: unknown) => {
    const statement = message as { text: string }
    if (statement.text.includes('from orders o')) statements.push(statement)
  }
  statementChannel.subscribe(note)
  await list(merchant)
  statementChannel.unsubscribe(note)
  assert.equal(statements.length, 1)
  const [{ text, values } = { text: '', values: [] }] = statements
  const { rows } = await gateway.pool.query<{ 'QUERY PLAN': string }>(
    `explain (costs off) ${text}`,
    values as unknown[],
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  // On a cluster, the plan is that of the one shard which is asked, and names it.
  assert.match(plan, /Index Scan Backward using orders_pkey(_\d+)? on orders/)
  assert.doesNotMatch(plan, /Task Count: (?!1$)/m)
})
