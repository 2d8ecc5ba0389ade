// A requestId leads somewhere: to a line in the log, to a page of the console, and in the sandbox to the merchant's own list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { readableLog } from '../support/log-lines.ts'
import { createBody, withField } from '../support/order.ts'

const { log, lines } = await readableLog()
const gateway = await startTestGateway({ log })
const merchant = await gateway.addMerchant()
const other = await gateway.addMerchant()
const operator = new ConsoleClient(gateway)
await operator.signIn()

const body = withField(createBody({ now: Date.now() }), 'currency', 'eur')
const refused = await merchant.call('service.trade.create', body)
const closed = await gateway.post(
  '/api/v1/gateway',
  JSON.stringify({ ...(await merchant.seal('service.trade.query', {})), sign: 'AAAA' }),
)
const { requestId } = refused.data

/** It is written a moment after the answer. */
async function findInConsole(id: string): Promise<string> {
  for (;;) {
    const { text } = await operator.get(`/requests?id=${id}`)
    if (text.includes(`<code>${id}</code>`)) return text
    await pause(20)
  }
}

test('the line in the log names merchant, method, code, field and message', () => {
  const { httpStatus, merchantId, method, code, field, message } =
    lines.find((line) => line['requestId'] === requestId) ?? {}
  assert.deepEqual(
    { httpStatus, merchantId, method, code, field, message },
    {
      httpStatus: 400,
      merchantId: merchant.merchantId,
      method: 'service.trade.create',
      code: 40001,
      field: 'currency',
      message: refused.msg,
    },
  )
})

test('a form’s message, which may repeat a password, is not in the log', async () => {
  await fetch(`${gateway.adminUrl}/api/admin/v1/orders`)
  const line = lines.findLast(({ code }) => code === 40101)
  assert(line)
  assert.equal(line['message'], undefined)
})

test('the console finds a request by its id, and says of a closed envelope that nobody proved whose it is', async () => {
  const page = await findInConsole(requestId)
  for (const shown of [
    `<a href="/merchants/${merchant.merchantId}">`,
    'service.trade.create',
    '40001',
    'must be three capital letters, an ISO 4217 code, but was',
  ])
    assert(page.includes(shown), shown)
  const unproved = await findInConsole(closed.data.requestId)
  assert(unproved.includes(`<code>${merchant.merchantId}</code> (not verified)`))
  assert.match((await operator.get('/requests?id=nothing')).text, /No matching requests/)
  assert.match((await operator.get('/system')).text, /href="\/requests"/)
})

test('of more than a page the older ones are on the next', async () => {
  const ids: string[] = []
  for (let sent = 0; sent < 60; sent++)
    ids.push((await other.call('service.trade.query', { paymentId: 'P0' })).data.requestId)
  await findInConsole(ids.at(-1) ?? '')
  const { text } = await operator.get(`/requests?merchant=${other.merchantId}`)
  const [, older = ''] = /href="(\/requests\?[^"]*before=[^"]*)"/.exec(text) ?? []
  const next = await operator.get(older.replaceAll('&amp;', '&'))
  const idsOn = (page: string) => [...page.matchAll(/<code>([\w-]{16})<\/code>/g)].map(([, id = '']) => id)
  assert.deepEqual([...idsOn(text), ...idsOn(next.text)].sort(), ids.toSorted())
})

test('a merchant sees its own requests and nobody else’s, and one that did not open only by its id', async () => {
  await findInConsole(closed.data.requestId)
  const list = async (by: typeof merchant, asked: object = {}) =>
    (await by.call('service.sandbox.requests', asked)).data.requests
  const [own] = await list(merchant, { requestId })
  assert.deepEqual(
    { ...own, at: 0, durationMs: 0 },
    {
      requestId,
      at: 0,
      method: 'service.trade.create',
      httpStatus: 400,
      code: 40001,
      field: 'currency',
      msg: refused.msg,
      durationMs: 0,
    },
  )
  const unopened = await list(merchant, { requestId: closed.data.requestId })
  assert.deepEqual(
    unopened.map(({ code, method }: { code: number; method: string }) => [code, method]),
    [[40100, 'service.trade.query']],
  )
  const listed = await list(merchant, {})
  assert(!listed.some((each: { requestId: string }) => each.requestId === closed.data.requestId))
  assert.deepEqual(await list(other, { requestId }), [])
  assert.equal((await list(other, { limit: 7 })).length, 7)
})

test('the log of a gateway that stops is written to its end', async () => {
  const second = await startTestGateway({ share: gateway })
  const answer = await second.post('/api/v1/gateway', 'null')
  await second.stop()
  const found = await gateway.stores.requestLog.list({ requestId: answer.data.requestId }, { limit: 1 })
  assert.equal(found[0]?.message, 'The envelope must be a JSON object, but was null.')
})
