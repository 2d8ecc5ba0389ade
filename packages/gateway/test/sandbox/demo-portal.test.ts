import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Tillgate } from '@tillgate/sdk'
import { sandboxFilePath } from '../../src/app/sandbox/sandbox-file.ts'
import { demoMerchantId } from '../../src/sandbox/demo-merchant.ts'
import { demoOwner } from '../../src/sandbox/demo-portal.ts'
import { sampleOrders } from '../../src/sandbox/rules/sample-orders.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { PortalClient } from '../support/portal.ts'

const path = '/merchant/sign-in/demo'

function open({ url }: Pick<TestGateway, 'url'>, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(),
  })
}

test('the demo portal opens without an account, with orders of every end spread over a week', async () => {
  const gateway = await startTestGateway()
  const client = new PortalClient(gateway)
  const opened = await client.post(path, {}, { on: '/merchant/sign-in' })
  assert.equal(opened.status, 303)
  assert.equal(opened.location, '/merchant')
  const home = await client.get('/merchant')
  assert.match(home.text, /Hannah Leaf/)
  assert.match((await client.get('/merchant/members')).text, new RegExp(demoOwner))
  assert.match(home.text, /<h2>Recent orders<\/h2>/)
  const { rows } = await gateway.pool.query<{ status: string; createdAtMs: string; refunded: boolean }>(
    `select status, created_at as "createdAtMs", refunded_minor + refund_held_minor > 0 as refunded
       from orders where merchant_id = $1 order by payment_id`,
    [demoMerchantId],
  )
  assert.equal(rows.length, sampleOrders.length)
  const days = new Set(rows.map(({ createdAtMs }) => Math.floor(Number(createdAtMs) / 86_400_000)))
  assert.ok(days.size >= 6, `${days.size} days`)
  for (const status of ['pending', 'success', 'failed', 'cancelled'])
    assert.ok(
      rows.some((row) => row.status === status),
      status,
    )
  assert.equal(
    rows.filter(({ refunded }) => refunded).length,
    sampleOrders.filter(({ end }) => end === 'refunded').length,
  )
  assert.deepEqual((await gateway.stores.verifyLedger()).findings, [])
})

test('whoever opens the demo portal again finds it as it was left', async () => {
  const gateway = await startTestGateway()
  await Promise.all([open(gateway), open(gateway)])
  const again = await open(gateway)
  assert.equal(again.headers.get('location'), '/merchant')
  const { rows } = await gateway.pool.query<{ orders: string; members: string }>(
    `select (select count(*) from orders where merchant_id = $1) as orders,
            (select count(*) from members where merchant_id = $1) as members`,
    [demoMerchantId],
  )
  assert.deepEqual(rows, [{ orders: String(sampleOrders.length), members: '1' }])
})

test('sample orders that failed half-way are completed by the next click', async () => {
  const gateway = await startTestGateway()
  await gateway.pool.query(`
create function fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
create trigger fail before insert on refunds for each row execute function fail();`)
  assert.ok((await open(gateway)).status >= 500)
  const made = async () => {
    const { rows } = await gateway.pool.query<{
      orders: number
      refunds: number
      links: number
      aged: number
    }>(
      `select (select count(*) from orders where merchant_id = $1)::int as orders,
              (select count(*) from refunds where merchant_id = $1)::int as refunds,
              (select count(*) from payment_links where merchant_id = $1)::int as links,
              (select count(*) from orders where merchant_id = $1
                  and created_at < (extract(epoch from now()) - 3600) * 1000)::int as aged`,
      [demoMerchantId],
    )
    return rows[0]
  }
  assert.equal((await made())?.links, 0)
  await gateway.pool.query('drop trigger fail on refunds')
  assert.equal((await open(gateway)).headers.get('location'), '/merchant')
  assert.deepEqual(await made(), {
    orders: sampleOrders.length,
    refunds: sampleOrders.filter(({ end }) => end === 'refunded').length,
    links: 1,
    aged: sampleOrders.filter(({ agoMs }) => agoMs >= 3_600_000).length,
  })
})

test('another page cannot open the demo portal, and a removed owner stays removed', async () => {
  const gateway = await startTestGateway()
  const foreign = await open(gateway, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })
  assert.equal(foreign.headers.get('location'), '/merchant/sign-in')
  assert.doesNotMatch(foreign.headers.getSetCookie().join(), /session/)
  await open(gateway)
  await gateway.pool.query('delete from members where merchant_id = $1', [demoMerchantId])
  assert.equal((await open(gateway)).headers.get('location'), '/merchant/sign-in')
})

test('the demo portal is offered only to the person at this machine', async () => {
  for (const environment of [{ HOST: '0.0.0.0' }, { PUBLIC_URL: 'https://pay.example' }]) {
    const gateway = await startTestGateway({ environment })
    assert.equal((await open(gateway)).status, 404)
    const page = await (await fetch(`${gateway.url}/merchant/sign-in`)).text()
    assert.doesNotMatch(page, /demo/)
    const home = await (await fetch(gateway.url)).text()
    assert.doesNotMatch(home, /demo portal/)
  }
})

test('the sample orders are added although the demo shop has sold something before', async () => {
  const gateway = await startTestGateway()
  const tillgate = Tillgate.fromFile(sandboxFilePath(gateway.config.dataDir))
  await tillgate.orders.create({
    order: {
      orderNo: 'tea-1',
      orderAmount: '12.50',
      goods: [{ referenceGoodsId: 'tea', goodsName: 'Green tea' }],
    },
    paymentAmount: '12.50',
    currency: 'EUR',
  })
  await open(gateway)
  const { rows } = await gateway.pool.query<{ orders: string }>(
    "select count(*) as orders from orders where merchant_id = $1 and order_no like 'LC-%'",
    [demoMerchantId],
  )
  assert.equal(rows[0]?.orders, String(sampleOrders.length))
})
