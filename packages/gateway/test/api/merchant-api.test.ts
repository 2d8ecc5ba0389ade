import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { test } from 'node:test'
import { parseAesKey, sealRequest } from '@tillgate/protocol'
import { TestClock } from '../support/clock.ts'
import { type Answered, startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'

const clock = new TestClock()
const unlimited = { MERCHANT_REQUESTS_PER_SECOND: '100000', FAILED_OPENINGS_PER_MINUTE: '100000' }
const gateway = await startTestGateway({ clock, environment: unlimited })
const merchant = await gateway.addMerchant()
const minute = 60_000

const paths: Record<string, string> = {
  'service.trade.create': '/payment/api/v1/payment-order',
  'service.trade.query': '/payment/api/v1/payment-order/query',
  'service.trade.cancel': '/payment/api/v1/payment-order/cancel',
}
const made = await merchant.call('service.trade.create', createBody({ now: clock.now() }))
const bodies: Record<string, object> = {
  'service.trade.create': createBody({ now: clock.now() }),
  'service.trade.query': { paymentId: made.data.paymentId },
  'service.trade.cancel': { paymentId: made.data.paymentId },
}

for (const [method, path] of Object.entries(paths)) {
  for (const served of [path, `${path}/`, `/cgi${path}`, '/api/v1/gateway', '/cgi/api/v1/gateway']) {
    test(`${method} is served at ${served}`, async () => {
      const answer = await merchant.call(method, bodies[method] ?? {}, { path: served })
      assert.deepEqual([answer.status, answer.code, answer.msg], [200, 20000, 'SUCCESS'])
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    })
  }
}

test('a path of its own refuses the method of another', async () => {
  const answer = await merchant.call('service.trade.query', bodies['service.trade.query'] ?? {}, {
    path: paths['service.trade.create'] ?? '',
  })
  assert.deepEqual([answer.status, answer.code, answer.data.field], [404, 40401, 'method'])
})

test('a method that does not exist is 40401, and so is a path', async () => {
  for (const method of ['service.trade.steal', 'service.trade', 'constructor', 'tostring']) {
    const answer = await merchant.call(method, {})
    assert.deepEqual([answer.status, answer.code], [404, 40401], method)
  }
  for (const path of ['/payment/api/v2/payment-order', '/payment/api/v1/payment-order//', '/cgi']) {
    const answer = await gateway.post(path, '{}')
    assert.deepEqual([answer.status, answer.code], [404, 40401], path)
    assert.ok(answer.data.requestId)
  }
})

test('a method that is near none is answered with the list of methods, and one word apart is not near', async () => {
  for (const word of ['close', 'delete', 'pay', 'status'])
    assert.match(
      (await merchant.call(`service.trade.${word}`, {})).msg,
      /^No such method: service\.trade\.[a-z]+\. The methods are service\.trade\.create, .*query/,
    )
})

test('an unknown path or method is answered with the nearest one', async () => {
  assert.equal(
    (await gateway.post('/payment/api/v1/payment-orders', '{}')).msg,
    'No such path: POST /payment/api/v1/payment-orders. Did you mean /payment/api/v1/payment-order?',
  )
  const upper = await gateway.post('/PAYMENT/API/V1/PAYMENT-ORDER', '{}')
  assert.match(upper.msg, /Did you mean \/payment\/api\/v1\/payment-order\?$/)
  for (const path of ['/api/v1/payment-order', '/payment/api/v1/payment/api/v1/payment-order'])
    assert.match((await gateway.post(path, '{}')).msg, /Did you mean \/payment\/api\/v1\/payment-order\?$/)
  const { msg } = await gateway.post('/wp-login', '{}')
  assert.match(msg, /^No such path: POST \/wp-login\. The paths are \/payment\/api\/v1\/payment-order, /)
  assert.doesNotMatch(msg, /\/cgi/)
  const home = await gateway.post('/', '{}')
  assert.equal(home.code, 40500)
  assert.match(home.msg, /^POST is not served at this path\. The paths are .*\/api\/v1\/gateway/)
  assert.equal(
    (await merchant.call('service.trade.creat', {})).msg,
    'No such method: service.trade.creat. Did you mean service.trade.create?',
  )
})

const required = ['merchantId', 'method', 'sign', 'timestamp', 'body']
for (const field of required) {
  test(`an envelope without ${field} is malformed, by its name`, async () => {
    const { [field]: _left, ...rest } = await merchant.seal(
      'service.trade.query',
      bodies['service.trade.query'] ?? {},
    )
    const answer = await gateway.post('/api/v1/gateway', JSON.stringify(rest))
    assert.deepEqual([answer.status, answer.code, answer.data.field], [400, 40000, field])
  })
}

const defaults = { format: 'json', charset: 'utf-8', encryptType: 'AES', signType: 'RSA' }
for (const [field, value] of Object.entries(defaults)) {
  test(`${field} may be left out or be ${value}, and nothing else`, async () => {
    const sealed = await merchant.seal('service.trade.query', bodies['service.trade.query'] ?? {})
    const { [field]: _left, ...rest } = sealed
    assert.equal((await gateway.post('/api/v1/gateway', JSON.stringify(rest))).code, 20000)
    const other = { ...sealed, [field]: 'other' }
    const answer = await gateway.post('/api/v1/gateway', JSON.stringify(other))
    assert.deepEqual([answer.status, answer.code, answer.data.field], [400, 40000, field])
  })
}

const malformed: [string, unknown][] = [
  ['merchantId', '12345678901234567'],
  ['merchantId', '1234567890123456789'],
  ['merchantId', 123456789012345680],
  ['merchantId', '12345678901234567-'],
  ['timestamp', 180000000000],
  ['timestamp', '18000000000000'],
  ['timestamp', 1800000000000.5],
  ['timestamp', 'now'],
  ['sign', ''],
  ['sign', 'not base64!'],
  ['body', { plain: true }],
  ['method', 'service trade create'],
  ['extra', 1],
]
for (const [field, value] of malformed) {
  test(`an envelope with ${field} ${JSON.stringify(value)} is malformed`, async () => {
    const sealed = await merchant.seal('service.trade.query', bodies['service.trade.query'] ?? {})
    const answer = await gateway.post('/api/v1/gateway', JSON.stringify({ ...sealed, [field]: value }))
    assert.deepEqual([answer.status, answer.code, answer.data.field], [400, 40000, field])
  })
}

test('a timestamp is a number or digits', async () => {
  const sealed = await merchant.seal('service.trade.query', bodies['service.trade.query'] ?? {})
  for (const timestamp of [Number(sealed['timestamp']), String(sealed['timestamp'])]) {
    assert.equal(
      (await gateway.post('/api/v1/gateway', JSON.stringify({ ...sealed, timestamp }))).code,
      20000,
    )
  }
})

test('the timestamp may be 5 minutes away on either side, and not a millisecond more', async () => {
  const at = (ms: number) =>
    merchant.call('service.trade.query', bodies['service.trade.query'] ?? {}, { timestamp: clock.now() + ms })
  for (const right of [-5 * minute, 5 * minute]) assert.equal((await at(right)).code, 20000)
  for (const wrong of [-5 * minute - 1, 5 * minute + 1]) {
    const answer = await at(wrong)
    assert.deepEqual([answer.status, answer.code, answer.data.field], [400, 40010, 'timestamp'])
  }
})

test('what is not a JSON object in JSON is refused before anything else', async () => {
  for (const text of ['', 'null', '[]', '"x"', '{', '{"a":1}{"b":2}', '\u{feff}{}']) {
    const answer = await gateway.post('/api/v1/gateway', text)
    assert.deepEqual([answer.status, answer.code], [400, 40000], JSON.stringify(text))
  }
})

for (const type of [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/xml',
  'multipart/form-data; boundary=x',
]) {
  test(`content type ${type} is 41500`, async () => {
    const sealed = await merchant.seal('service.trade.query', bodies['service.trade.query'] ?? {})
    const answer = await gateway.post('/api/v1/gateway', JSON.stringify(sealed), { 'content-type': type })
    assert.deepEqual([answer.status, answer.code], [415, 41500])
  })
}

test('application/json with a charset is JSON', async () => {
  const sealed = JSON.stringify(
    await merchant.seal('service.trade.query', bodies['service.trade.query'] ?? {}),
  )
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  assert.equal((await gateway.post('/api/v1/gateway', sealed, headers)).code, 20000)
})

test('256 KiB are read, one byte more is 41300, whether or not the length was announced', async () => {
  const padded = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
  assert.equal((await gateway.post('/api/v1/gateway', padded(256 * 1024))).code, 40000)
  const announced = await gateway.post('/api/v1/gateway', padded(256 * 1024 + 1))
  assert.deepEqual([announced.status, announced.code], [413, 41300])
  const streamed = await postInPieces(
    '/api/v1/gateway',
    Array.from({ length: 40 }, () => 'x'.repeat(10_000)),
  )
  assert.deepEqual([streamed.status, streamed.code], [413, 41300])
})

test('JSON nested two hundred thousand deep is refused, and the gateway lives on', async () => {
  const deep = `{"a":${'['.repeat(120_000)}${']'.repeat(120_000)}}`
  const answer = await gateway.post('/api/v1/gateway', deep)
  assert.deepEqual([answer.status, answer.code], [400, 40000])
})

test('whatever keeps an envelope closed, the answer is the same to the letter', async () => {
  const query = bodies['service.trade.query'] ?? {}
  const sealed = await merchant.seal('service.trade.query', query)
  const stranger = await sealRequest(
    {
      merchantId: '999999999999999999',
      method: 'service.trade.query',
      timestamp: clock.now(),
      body: JSON.stringify(query),
    },
    { aesKey: merchant.aesKey, privateKey: merchant.privateKey },
  )
  const otherKey = await sealRequest(
    {
      merchantId: merchant.merchantId,
      method: 'service.trade.query',
      timestamp: clock.now(),
      body: JSON.stringify(query),
    },
    { aesKey: parseAesKey(randomBytes(32).toString('base64')), privateKey: merchant.privateKey },
  )
  const revoked = await gateway.addMerchant()
  for (const { keyId } of (await gateway.merchants.showMerchant(revoked.merchantId)).keys) {
    await gateway.merchants.revokeKey({
      merchantId: revoked.merchantId,
      keyId,
      reason: 'test',
      confirm: true,
    })
  }
  const closed = {
    'unknown merchant': stranger,
    'another merchant’s id': { ...sealed, merchantId: (await gateway.addMerchant()).merchantId },
    'wrong AES key': otherKey,
    'wrong signature': { ...sealed, sign: Buffer.alloc(256, 1).toString('base64') },
    'signature of another length': { ...sealed, sign: Buffer.alloc(16, 1).toString('base64') },
    'tampered body': { ...sealed, body: tamper(String(sealed['body'])) },
    'shortened body': { ...sealed, body: String(sealed['body']).slice(0, 8) },
    'another method': { ...sealed, method: 'service.trade.cancel' },
    'another timestamp': { ...sealed, timestamp: clock.now() + 1 },
    'revoked keys': await revoked.seal('service.trade.query', query),
  }
  const answers = new Set<string>()
  for (const [why, envelope] of Object.entries(closed)) {
    const answer = await gateway.post('/api/v1/gateway', JSON.stringify(envelope))
    assert.deepEqual([answer.status, answer.code], [401, 40100], why)
    answers.add(answer.text.replace(answer.data.requestId, 'id'))
    assert.equal(answer.data.requestId.length, made.headers.get('x-request-id')?.length)
  }
  assert.equal(answers.size, 1)
})

test('a suspended merchant is told so, and only once it has proved who it is', async () => {
  const suspended = await gateway.addMerchant()
  await gateway.merchants.suspendMerchant(suspended.merchantId, 'test')
  const proved = await suspended.call('service.trade.query', { paymentId: 'P1' })
  assert.deepEqual([proved.status, proved.code], [403, 40300])
  const forged = { ...(await suspended.seal('service.trade.query', { paymentId: 'P1' })), sign: 'AAAA' }
  assert.equal((await gateway.post('/api/v1/gateway', JSON.stringify(forged))).code, 40100)
})

test('a suspension, a resumption and a revoked key reach a running gateway within 5 seconds', async () => {
  const changing = await gateway.addMerchant()
  const query = () => changing.call('service.trade.query', { paymentId: 'P1' })
  assert.equal((await query()).code, 40400)
  await gateway.merchants.suspendMerchant(changing.merchantId, 'test')
  clock.advance(5_000)
  assert.equal((await query()).code, 40300)
  await gateway.merchants.resumeMerchant(changing.merchantId, 'test')
  clock.advance(5_000)
  assert.equal((await query()).code, 40400)
  const { keys } = await gateway.merchants.showMerchant(changing.merchantId)
  const aes = keys.find(({ kind }) => kind === 'aes')
  await gateway.merchants.revokeKey({
    merchantId: changing.merchantId,
    keyId: aes?.keyId ?? '',
    reason: 'test',
    confirm: true,
  })
  clock.advance(5_000)
  assert.equal((await query()).code, 40100)
})

test('a new key works at once beside the old one, and a third is refused', async () => {
  const rotating = await gateway.addMerchant()
  assert.equal((await rotating.call('service.trade.query', { paymentId: 'P1' })).code, 40400)
  const { secret } = await gateway.merchants.addKey(rotating.merchantId, { kind: 'aes' })
  const sealed = await sealRequest(
    {
      merchantId: rotating.merchantId,
      method: 'service.trade.query',
      timestamp: clock.now(),
      body: '{"paymentId":"P1"}',
    },
    { aesKey: parseAesKey(secret ?? ''), privateKey: rotating.privateKey },
  )
  assert.equal((await gateway.post('/api/v1/gateway', JSON.stringify(sealed))).code, 40400)
  assert.equal((await rotating.call('service.trade.query', { paymentId: 'P1' })).code, 40400)
  await assert.rejects(gateway.merchants.addKey(rotating.merchantId, { kind: 'aes' }), /two active aes keys/)
})

test('no answer and no header tells what runs behind', async () => {
  const answer = await gateway.post('/api/v1/gateway', '{}')
  for (const name of ['server', 'x-powered-by']) assert.equal(answer.headers.get(name), null)
})

function tamper(text: string): string {
  const bytes = Buffer.from(text, 'base64')
  bytes[20] = (bytes[20] ?? 0) ^ 1
  return bytes.toString('base64')
}

/** Chunked, so that nobody knows the length beforehand. */
function postInPieces(path: string, pieces: string[]): Promise<Pick<Answered, 'status' | 'code'>> {
  return new Promise((resolve, reject) => {
    const sending = request(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    })
    sending.on('response', async (response) => {
      let text = ''
      for await (const piece of response) text += piece
      resolve({ status: response.statusCode ?? 0, code: JSON.parse(text).code })
    })
    sending.on('error', reject)
    for (const piece of pieces) sending.write(piece)
    sending.end()
  })
}
