// What a message says of a request must be so: each of these was once refused with words that were not true, or taken.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tradeMethods } from '@tillgate/protocol'
import { startTestGateway } from '../support/gateway.ts'
import { createBody, withField } from '../support/order.ts'

const gateway = await startTestGateway()
const merchant = await gateway.addMerchant()
const create = createBody({ now: Date.now() })
const createPath = tradeMethods['service.trade.create'].path

test('null in a list is called null', async () => {
  const answer = await merchant.call('service.trade.create', withField(create, 'order.goods', [null]))
  assert.deepEqual(
    [answer.code, answer.data.field, answer.msg],
    [40001, 'order.goods[0]', 'order.goods[0] must be an object, but was null.'],
  )
})

test('what is JSON and no object is called what it is', async () => {
  const { code, msg } = await gateway.post('/api/v1/gateway', 'null')
  assert.deepEqual([code, msg], [40000, 'The envelope must be a JSON object, but was null.'])
})

test('a method and a callback’s id in capitals are told to be written in lower case', async () => {
  const envelope = await merchant.seal('service.trade.query', {})
  const answer = await gateway.post(
    '/api/v1/gateway',
    JSON.stringify({ ...envelope, method: 'SERVICE.TRADE.QUERY' }),
  )
  assert.deepEqual(
    [answer.code, answer.data.field, answer.msg],
    [
      40000,
      'method',
      'method must be a dotted name in lower case of at most 64 characters, such as service.trade.create, but was "SERVICE.TRADE.QUERY".',
    ],
  )
  const callbackId = '01890000-0000-7000-8000-00000000000A'
  const acknowledged = await merchant.call('service.sandbox.acknowledge', {
    callbackId,
    forwardedTo: 'http://127.0.0.1:9',
    durationMs: 1,
  })
  assert.deepEqual(
    [acknowledged.code, acknowledged.msg],
    [40001, `callbackId must be a UUID in lower case, but was "${callbackId}".`],
  )
})

test('a method that has no path of its own is sent to the one that serves every method', async () => {
  const body = { paymentId: 'P1', outcome: 'success' }
  const { code, msg } = await merchant.call('service.sandbox.pay', body, { path: createPath })
  assert.deepEqual(
    [code, msg],
    [40401, 'This path serves service.trade.create; send service.sandbox.pay to /api/v1/gateway.'],
  )
  const query = await merchant.call('service.trade.query', { paymentId: 'P1' }, { path: createPath })
  assert.equal(
    query.msg,
    `This path serves service.trade.create; send service.trade.query to ${createPath}/query or /api/v1/gateway.`,
  )
})

test('base64 without its padding is a malformed envelope, by its field', async () => {
  const envelope = await merchant.seal('service.trade.query', { paymentId: 'P1' })
  for (const field of ['sign', 'body']) {
    const unpadded = `${String(envelope[field]).replace(/=+$/, '').slice(0, 342)}`
    const cut = unpadded.length % 4 === 0 ? unpadded.slice(0, -1) : unpadded
    const answer = await gateway.post('/api/v1/gateway', JSON.stringify({ ...envelope, [field]: cut }))
    assert.deepEqual(
      [answer.code, answer.data.field, answer.msg],
      [
        40000,
        field,
        `${field} must be standard base64 with padding, but was text of ${cut.length} characters. Its length is not a multiple of 4: keep the padding (=).`,
      ],
    )
  }
})

test('a name of which nothing would be seen is refused as blank', async () => {
  for (const blank of ['   ', '\u3000', '\u200b']) {
    const body = withField(create, 'order.goods.0.goodsName', blank)
    const answer = await merchant.call('service.trade.create', body)
    assert.deepEqual([answer.code, answer.data.field], [40001, 'order.goods[0].goodsName'])
    assert.match(answer.msg, /must be text of 1 to 256 characters, not blank, no control characters, but was/)
  }
})

test('a charset that is not read is refused by name, in the envelope and in the header', async () => {
  const envelope = await merchant.seal('service.trade.query', { paymentId: 'P1' })
  const inside = await gateway.post('/api/v1/gateway', JSON.stringify({ ...envelope, charset: 'gbk' }))
  assert.deepEqual(
    [inside.code, inside.data.field, inside.msg],
    [40000, 'charset', 'charset must be `utf-8`, in any case, but was "gbk".'],
  )
  const header = { 'content-type': 'application/json; charset=gbk' }
  const outside = await gateway.post('/api/v1/gateway', JSON.stringify(envelope), header)
  assert.deepEqual(
    [outside.code, outside.msg],
    [41500, 'The charset "gbk" is not supported: send UTF-8 and leave charset out.'],
  )
})

const newcomers: readonly (readonly [string, string, object, RegExp])[] = [
  [
    'a body for another method',
    'service.trade.callback',
    create,
    /^paymentId is missing: .* No field that you sent is one of these: check that the body belongs to the method\./,
  ],
  ['a choice in lower case', 'service.trade.create', { ...create, channel: 'web' }, /Did you mean WEB\?/],
  [
    'a name with a line break',
    'service.trade.create',
    withField(create, 'order.goods[0].goodsName', 'Tea\nGreen'),
    /but was text with a line break\./,
  ],
  [
    'a total that is not the sum',
    'service.trade.create',
    { ...create, order: { ...create.order, orderAmount: 999 } },
    /order\.orderAmount is 999\.00, but amount × quantity over the goods is ([\d.]+)\. Send \1, or correct the goods\. Tips/,
  ],
  [
    'a user name in a URL',
    'service.trade.create',
    { ...create, callbackUrl: 'https://user:secret@shop.example/' },
    /remove the user name and password before the host/,
  ],
  [
    'a metadata address',
    'service.trade.create',
    { ...create, callbackUrl: 'https://169.254.169.254/' },
    /is a link-local address\. Use a public address\./,
  ],
  [
    'an unknown paymentId',
    'service.trade.query',
    { paymentId: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W' },
    /^You have no payment order with this paymentId\. Check that it came from this gateway/,
  ],
  ['a bill of yesterday', 'service.bill.get', { date: 'yesterday' }, /must be a date such as 2026-11-16/],
]

for (const [what, method, body, expected] of newcomers)
  test(`${what} is answered with what to change`, async () => {
    assert.match((await merchant.call(method, body)).msg, expected)
  })

test('an envelope inside another object, and none at all, are answered with what to change', async () => {
  const data = await merchant.seal('service.trade.query', {})
  const wrapped = await gateway.post('/api/v1/gateway', JSON.stringify({ data }))
  assert.match(wrapped.msg, /You sent merchantId inside data: move it out of data\./)
  const empty = await gateway.post('/api/v1/gateway', '')
  assert.equal(empty.msg, 'The envelope cannot be read as JSON: it is empty. Send a JSON object.')
})
