// /metrics of a whole gateway: the strict reading of the format, and the values after traffic that is known to the
// last request.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { until } from '../support/callbacks.ts'
import { readExposition } from '../support/exposition.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'

const token = 'a-token-for-the-test'
const shop = createServer((_request, response) => response.end('{"code":20000,"msg":""}'))
shop.listen(0, '127.0.0.1')
await once(shop, 'listening')
after(() => shop.close().closeAllConnections())
// Safe: it listens on TCP.
const callbackUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/callbacks`

const gateway = await startTestGateway({ environment: { METRICS_TOKEN: token } })
const merchant = await gateway.addMerchant({ requestsPerSecond: 8 })

async function scrape() {
  const response = await fetch(`${gateway.adminUrl}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  return readExposition(await response.text())
}

test('the metrics are read on the admin listener alone, and with the token alone', async () => {
  assert.equal((await fetch(`${gateway.url}/metrics`)).status, 404)
  assert.equal((await fetch(`${gateway.adminUrl}/metrics`)).status, 401)
  const wrong = await fetch(`${gateway.adminUrl}/metrics`, { headers: { authorization: 'Bearer no' } })
  assert.equal(wrong.status, 401)
  assert.match(await wrong.text(), /METRICS_TOKEN/)
})

test('known traffic shows in every figure that it concerns', async () => {
  const orders = await Promise.all(
    Array.from({ length: 3 }, () =>
      merchant.call('service.trade.create', { ...createBody({ now: Date.now() }), callbackUrl }),
    ),
  )
  for (const { code } of orders) assert.equal(code, 20000)
  const { paymentId } = orders[0]?.data ?? {}
  await merchant.call('service.trade.query', { paymentId })
  assert.equal((await merchant.call('service.trade.query', { paymentId: 'none' })).code, 40400)
  assert.equal((await merchant.call('service.sandbox.pay', { paymentId, outcome: 'success' })).code, 20000)
  assert.equal((await gateway.post('/api/v1/gateway', 'not json')).code, 40000)
  // More at once than it may send in a second: how many are turned away, the answers tell.
  const crowd = await Promise.all(
    Array.from({ length: 30 }, () => merchant.call('service.trade.query', { paymentId })),
  )
  const shed = crowd.filter(({ code }) => code === 42900).length
  assert.ok(shed > 0 && shed < 30, `${shed} of 30 were turned away`)

  let read = await scrape()
  const acknowledged = { outcome: 'acknowledged' }
  await until(async () => {
    read = await scrape()
    return read.value('tillgate_callback_attempts_total', acknowledged) === 2
  })
  const requests = (operation: string, code: string) =>
    read.value('tillgate_api_requests_total', { operation, code })
  assert.equal(requests('service.trade.create', '20000'), 3)
  assert.equal(requests('service.trade.query', '40400'), 1)
  assert.equal(requests('service.trade.query', '42900'), shed)
  assert.equal(requests('service.sandbox.pay', '20000'), 1)
  assert.equal(requests('none', '40000'), 1)
  const created = { operation: 'service.trade.create' }
  assert.equal(read.value('tillgate_api_request_duration_seconds_count', created), 3)
  assert.ok((read.value('tillgate_api_request_duration_seconds_sum', created) ?? 0) > 0)
  assert.equal(read.value('tillgate_requests_shed_total', { reason: 'merchant_rate' }), shed)
  const pending = { status: 'pending' }
  assert.equal(read.value('tillgate_order_changes_total', pending), 3)
  assert.equal(read.value('tillgate_order_changes_total', { status: 'confirming' }), 1)
  assert.equal(read.value('tillgate_order_changes_total', { status: 'success' }), 1)
  assert.equal(read.value('tillgate_callback_delay_seconds_count'), 2)
  assert.equal(read.value('tillgate_crypto_duration_seconds_count', { act: 'rsa_sign' }), 2)
  assert.equal(read.value('tillgate_crypto_duration_seconds_count', { act: 'aes_encrypt' }), 2)
  const opened = read.sum('tillgate_api_requests_total') - 1
  assert.equal(read.value('tillgate_crypto_duration_seconds_count', { act: 'rsa_verify' }), opened)
  assert.equal(read.value('tillgate_crypto_duration_seconds_count', { act: 'aes_decrypt' }), opened)
  assert.equal(read.value('tillgate_batch_items_sum', { batch: 'create' }), 3)
  assert.ok((read.value('tillgate_database_duration_seconds_count', { kind: 'transaction' }) ?? 0) > 0)
  assert.equal(read.value('tillgate_database_up'), 1)
  assert.equal(
    read.value('tillgate_public_http_requests_total', { route: '/api/v1/gateway', http_status: '400' }),
    1,
  )
  assert.ok((read.value('tillgate_memory_bytes', { area: 'rss' }) ?? 0) > 1e6)
  assert.equal(read.sum('tillgate_build_info'), 1)
})

test('no label names a merchant, an order or a host', async () => {
  const response = await fetch(`${gateway.adminUrl}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const text = await response.text()
  assert.ok(!text.includes(merchant.merchantId))
  assert.ok(!text.includes('127.0.0.1'))
})

test('exhausted callbacks and paused hosts are counted from the database', async () => {
  await gateway.pool.query(
    `insert into callback_hosts (host, failures, pauses, failing_since, paused_at, paused_until, reason)
     values ('down.example', 9, 1, 1, 1, $1, 'test')`,
    [Date.now() + 600_000],
  )
  await gateway.pool.query('update callbacks set exhausted_at = created_at, delivered_at = null')
  const another = await startTestGateway({ share: gateway })
  const read = readExposition(await (await fetch(`${another.adminUrl}/metrics`)).text())
  assert.equal(read.value('tillgate_callback_hosts', { state: 'paused' }), 1)
  assert.equal(read.value('tillgate_callbacks', { state: 'exhausted' }), 2)
  assert.equal(read.value('tillgate_orders', { status: 'pending' }), 2)
})

test('a crowd that asks whether the gateway is ready, also on its home page, is no crowd at the database', async () => {
  const transactions = async () =>
    (await scrape()).value('tillgate_database_duration_seconds_count', { kind: 'transaction' }) ?? 0
  const before = await transactions()
  const paths = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? '/' : '/readyz'))
  const answers = await Promise.all(paths.map((path) => fetch(gateway.url + path)))
  for (const { status } of answers) assert.equal(status, 200)
  const asked = (await transactions()) - before
  assert(asked < 40, `${asked} transactions`)
})
