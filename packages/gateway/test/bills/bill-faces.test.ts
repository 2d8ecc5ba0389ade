// A bill by every way that leads to it: the signed method with its download address, the SDK, till, the admin API, the
// operator's command line and the console; all of them the same bytes.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { runTill } from '../../../sdk/src/cli/till.ts'
import { type Fetch, Tillgate, UnexpectedAnswerError } from '../../../sdk/src/index.ts'
import { reachingAll } from '../../src/core/authority/context.ts'
import { ApiClient } from '../support/admin-api.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'

const day = '2026-11-16'
const clock = new TestClock(Date.parse(`${day}T23:00:00Z`))
const gateway = await startTestGateway({ clock })
const merchant = await gateway.addMerchant()
const other = await gateway.addMerchant()
const { merchantId } = merchant
const published = (await (await fetch(`${gateway.url}/platform-keys`)).json()) as {
  keys: { publicKey: string }[]
}
const credentials = {
  gatewayUrl: gateway.url,
  merchantId,
  aesKey: merchant.aesKey.export().toString('base64'),
  privateKey: merchant.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  platformPublicKey: published.keys.map(({ publicKey }) => publicKey),
}
const now = () => clock.now()
const tillgate = new Tillgate({ ...credentials, now })
const awkward = '=1+1,"two"; three'

const { paymentId } = await tillgate.orders.create({
  order: {
    orderNo: awkward,
    orderAmount: '25.00',
    goods: [{ referenceGoodsId: 't', goodsName: 'Tea', goodsAmount: '25.00' }],
  },
  paymentAmount: '25.00',
  currency: 'USD',
})
await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
await tillgate.orders.waitUntilFinal(paymentId)
clock.advance(2 * 3_600_000)
await gateway.operations.makeBills()
// The gateway's own worker may be at it.
await until(() => gateway.operations.readBill({ merchantId, day }).then(Boolean, () => false))
const { bill, content } = await gateway.operations.readBill({ merchantId, day })
let file = ''
for await (const part of content()) file += part

async function ask(date: string, by = merchant) {
  return by.call('service.bill.get', { date })
}

test('the signed method answers totals, hash and an address that works for five minutes', async () => {
  const { code, data } = await ask(day)
  assert.equal(code, 20000)
  const { downloadUrl, downloadExpiryTime, ...rest } = data
  assert.deepEqual(rest, {
    date: day,
    totals: [
      {
        currency: 'USD',
        opening: 0,
        late: 0,
        payments: 25,
        refunds: 0,
        fees: 0,
        payouts: 0,
        corrections: 0,
        closing: 25,
      },
    ],
    lineCount: 1,
    byteCount: Buffer.byteLength(file),
    sha256: createHash('sha256').update(file).digest('hex'),
  })
  assert.equal(downloadExpiryTime, clock.now() + 300_000)
  const answer = await fetch(downloadUrl)
  assert.equal(await answer.text(), file)
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; /)
  clock.advance(299_999)
  assert.equal((await fetch(downloadUrl)).status, 200)
  clock.advance(1)
  assert.equal((await fetch(downloadUrl)).status, 404)
})

test('an address that is wrong in any part is answered as a path at which there is nothing', async () => {
  const { data } = await ask(day)
  const [, , , ...parts] = new URL(data.downloadUrl).pathname.split('/').map(String)
  const [endsAtMs = '', token = ''] = parts.slice(-2)
  const texts = new Set<string>()
  for (const path of [
    `bills/${other.merchantId}/${day}/${endsAtMs}/${token}`,
    `bills/${merchantId}/2026-11-15/${endsAtMs}/${token}`,
    `bills/${merchantId}/${day}/${Number(endsAtMs) + 60_000}/${token}`,
    `bills/${merchantId}/${day}/${endsAtMs}/${token.slice(1)}A`,
    `bills/${merchantId}/${day}/9999999999999/`,
    'no/such/path',
  ]) {
    const answer = await fetch(`${gateway.url}/${path}`)
    texts.add(`${answer.status} ${(await answer.text()).replace(/"requestId":"[^"]*"/, '')}`)
  }
  assert.equal(texts.size, 1, [...texts].join('\n'))
})

test('another merchant’s bill of the same day is its own, and empty', async () => {
  const { data } = await ask(day, other)
  assert.deepEqual([data.totals, data.lineCount], [[], 0])
  assert.doesNotMatch(await (await fetch(data.downloadUrl)).text(), /payment,/)
})

test('a day that is no day, or not over, is refused at the field', async () => {
  for (const [date, code] of [
    ['2026-02-30', 40001],
    ['20261116', 40001],
    [new Date(clock.now()).toISOString().slice(0, 10), 40004],
  ] as const) {
    const refused = await ask(date)
    assert.deepEqual([refused.code, refused.data.field], [code, 'date'])
  }
})

test('the SDK downloads it, checks its hash and yields its lines as they were', async () => {
  const got = await tillgate.bills.get(day)
  assert.equal(got.csv, file)
  const [line, ...more] = got.lines()
  assert.equal(more.length, 0)
  assert.deepEqual(
    [line?.kind, line?.paymentId, line?.orderNo, line?.amount, line?.currency],
    ['payment', paymentId, awkward, '25.00', 'USD'],
  )
  assert.ok(line?.time !== undefined && line.time < Date.parse('2026-11-17'))
})

test('the SDK refuses a file that is not what its hash says, and repeats a download that broke', async () => {
  const gets: string[] = []
  const breaking =
    (change: (text: string) => string): Fetch =>
    async (url, init) => {
      const answer = await fetch(url, init)
      if (init.method !== 'GET') return answer
      gets.push(url)
      if (gets.length === 1) throw new TypeError('the line broke')
      const text = change(await answer.text())
      return { status: answer.status, headers: answer.headers, text: async () => text }
    }
  const broken = (change: (text: string) => string) =>
    new Tillgate({ ...credentials, now, wait: async () => {}, fetch: breaking(change) })
  assert.equal((await broken((text) => text).bills.get(day)).csv, file)
  assert.equal(gets.length, 2)
  await assert.rejects(broken((text) => text.replace('25.00', '26.00')).bills.get(day), UnexpectedAnswerError)
})

test('till shows the totals and writes the file', async () => {
  let out = ''
  const written = new Map<string, string>()
  const exitCode = await runTill(['bill', day, '--out', 'bill.csv'], {
    out: (text) => (out += text),
    error: (text) => (out += text),
    isTerminal: false,
    environment: { TILLGATE_CREDENTIALS: 'merchant.json' },
    readFile: () => Buffer.from(JSON.stringify(credentials)),
    fileExists: () => true,
    writeFile: (path, text) => void written.set(path, text),
    now,
    randomBytes,
    client: { now },
  })
  assert.equal(exitCode, 0, out)
  assert.match(out, /payments\s+25\.00 USD/)
  assert.equal(written.get('bill.csv'), file)
})

test('operators list and download it by admin API and console', async () => {
  const { token } = await gateway.operations.apiTokens.addToken(reachingAll('test'), {
    login: 'admin',
    name: 'bills',
    scopes: ['merchants:read'],
    days: 1,
  })
  const api = new ApiClient(gateway, token)
  const { bills } = await api.data('bill.list', { params: { merchantId } })
  assert.deepEqual([bills.length, bills[0].sha256, bills[0].totals[0].closing], [1, bill.sha256, '25.00'])
  assert.equal(await api.data('bill.download', { params: { merchantId, day } }), file)
  const early = await api.call('bill.download', { params: { merchantId, day: '2999-01-01' } })
  assert.equal(early.code, 40004)
  const admin = new ConsoleClient(gateway)
  await admin.signIn()
  const page = await admin.get(`/merchants/${merchantId}/bills`)
  assert.match(page.text, /Bill of 2026-11-16 \(CSV\)/)
  const downloaded = await admin.get(`/merchants/${merchantId}/bills/${day}/bill.csv`)
  assert.equal(downloaded.text, file)
  assert.equal((await admin.get(`/merchants/${merchantId}/bills/2999-01-01/bill.csv`)).status, 404)
})
