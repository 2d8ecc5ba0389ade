import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signRedirect } from '@tillgate/protocol'
import { credentials, parsed } from '../test/support/credentials.ts'
import { scriptedGateway } from '../test/support/scripted-gateway.ts'
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  TillgateError,
  TimeoutError,
  UnavailableError,
  UnexpectedAnswerError,
} from './errors.ts'

const queried = {
  paymentId: 'P1',
  status: 'pending',
  paymentStatus: 'pending',
  paymentAmount: 10,
  refunds: [],
}

test('temporary failures are retried, each time with a new timestamp and signature', async () => {
  const { tillgate, requests, waits } = scriptedGateway([
    { networkError: 'ECONNRESET' },
    { failure: 'unavailable' },
    { failure: 'internal' },
    { httpStatus: 502, text: '<html>Bad Gateway</html>' },
    { data: queried },
  ])
  assert.equal((await tillgate.orders.query('P1')).status, 'pending')
  assert.deepEqual(waits, [125, 250, 500, 1000])
  assert.equal(new Set(requests.map(({ timestamp }) => timestamp)).size, 5)
  assert.equal(new Set(requests.map(({ sign }) => sign)).size, 5)
})

test('a retry waits for Retry-After', async () => {
  const { tillgate, waits } = scriptedGateway([
    { failure: 'too_many_requests', retryAfterSeconds: 3 },
    { data: queried },
  ])
  await tillgate.orders.query('P1')
  assert.deepEqual(waits, [3000])
})

test('a Retry-After beyond the call’s timeout ends the call', async () => {
  const { tillgate, waits, requests } = scriptedGateway([
    { failure: 'too_many_requests', retryAfterSeconds: 60 },
  ])
  await assert.rejects(tillgate.orders.query('P1'), RateLimitError)
  assert.deepEqual(waits, [])
  assert.equal(requests.length, 1)
})

test('after maxRetries, the call rejects with the last error', async () => {
  const down = { failure: 'unavailable' } as const
  const { tillgate, requests } = scriptedGateway([down, down, down])
  await assert.rejects(tillgate.orders.query('P1', { maxRetries: 2 }), UnavailableError)
  assert.equal(requests.length, 3)
})

test('maxRetries 0 sends one attempt', async () => {
  const { tillgate, requests } = scriptedGateway([{ networkError: 'ECONNREFUSED' }])
  await assert.rejects(tillgate.orders.query('P1', { maxRetries: 0 }), (error: Error) => {
    assert.ok(error instanceof ConnectionError)
    assert.match(error.message, /https:\/\/pay\.example could not be reached: nothing listens there/)
    assert.ok(error.cause instanceof TypeError)
    return true
  })
  assert.equal(requests.length, 1)
})

const refusals = [
  ['malformed_envelope', InvalidRequestError],
  ['invalid_field', InvalidRequestError],
  ['amount_does_not_fit_currency', InvalidRequestError],
  ['amounts_do_not_add_up', InvalidRequestError],
  ['times_out_of_range', InvalidRequestError],
  ['url_not_allowed', InvalidRequestError],
  ['envelope_not_opened', AuthenticationError],
  ['merchant_suspended', PermissionError],
  ['callback_address_changed_too_often', PermissionError],
  ['order_not_found', NotFoundError],
  ['no_such_operation', InvalidRequestError],
  ['number_already_used', ConflictError],
  ['status_does_not_allow', ConflictError],
  ['more_than_left_to_refund', ConflictError],
  ['too_large', InvalidRequestError],
  ['not_json', InvalidRequestError],
] as const

for (const [failure, Kind] of refusals) {
  test(`${failure} is a ${Kind.name} and is never retried`, async () => {
    const { tillgate, requests } = scriptedGateway([{ failure, field: 'order.orderNo' }])
    await assert.rejects(tillgate.orders.query('P1'), (error: Error) => {
      assert.ok(error instanceof Kind)
      assert.ok(error instanceof TillgateError)
      assert.equal(error.field, 'order.orderNo')
      assert.equal(error.requestId, 'request-1')
      assert.equal(error.httpStatus, Math.floor((error.code ?? 0) / 100))
      return true
    })
    assert.equal(requests.length, 1)
  })
}

test('an unknown code is classified by its first digits', async () => {
  const unknown = (code: number) => ({
    httpStatus: Math.floor(code / 100),
    text: JSON.stringify({ code: String(code), msg: 'new' }),
  })
  await assert.rejects(
    scriptedGateway([unknown(40999)]).tillgate.orders.query('P1'),
    (error: TillgateError) => error instanceof ConflictError && error.code === 40999,
  )
  await assert.rejects(scriptedGateway([unknown(42200)]).tillgate.orders.query('P1'), InvalidRequestError)
})

test('a wrong clock is corrected once from the gateway’s Date header, and stays corrected', async () => {
  const { tillgate, requests, waits } = scriptedGateway([
    { failure: 'timestamp_outside_window', date: new Date(1_760_000_900_000) },
    { data: { paymentId: 'P1', checkoutUrl: 'https://pay.example/c/1', status: 'pending' } },
    { data: queried },
  ])
  const order = { orderNo: 'A', orderAmount: 1, goods: [{ referenceGoodsId: 'g', goodsName: 'g' }] }
  await tillgate.orders.create({ order, paymentAmount: 1, currency: 'USD' })
  await tillgate.orders.query('P1')
  assert.deepEqual(
    requests.map(({ timestamp }) => timestamp),
    [1_760_000_000_000, 1_760_000_900_000, 1_760_000_900_000],
  )
  assert.equal(requests[1]?.body.paymentTime, 1_760_000_900_000)
  assert.deepEqual(waits, [])
})

test('redirects are verified with the corrected clock', async () => {
  const gatewayMs = 1_760_000_900_000
  const { tillgate } = scriptedGateway([
    { failure: 'timestamp_outside_window', date: new Date(gatewayMs) },
    { data: queried },
  ])
  const { merchantId } = credentials
  const back = { merchantId, paymentId: 'P1', referOrderNo: 'A', status: 'success' } as const
  const signed = await signRedirect({ ...back, timestamp: String(gatewayMs) }, parsed.gatewayPrivateKey)
  const verify = () => tillgate.redirects.verify(new URLSearchParams(Object.entries(signed)))
  assert.equal(await verify(), undefined, 'fifteen minutes ahead of our own clock')
  await tillgate.orders.query('P1')
  assert.equal((await verify())?.status, 'success')
})

test('a second rejection of the clock, or a missing Date header, is an error', async () => {
  const late = { failure: 'timestamp_outside_window', date: new Date(1_760_000_900_000) } as const
  await assert.rejects(scriptedGateway([late, late]).tillgate.orders.query('P1'), AuthenticationError)
  const { tillgate, requests } = scriptedGateway([{ failure: 'timestamp_outside_window' }])
  await assert.rejects(tillgate.orders.query('P1'), { code: 40010 })
  assert.equal(requests.length, 1)
})

test('a response from another server suggests checking gatewayUrl and is not retried', async () => {
  for (const [httpStatus, text] of [
    [200, '<html>hello</html>'],
    [404, 'not found'],
    [301, ''],
    [200, '{"hello":"world"}'],
  ] as const) {
    const { tillgate, requests } = scriptedGateway([{ httpStatus, text }])
    await assert.rejects(tillgate.orders.query('P1'), (error: TillgateError) => {
      assert.ok(error instanceof UnexpectedAnswerError)
      assert.match(error.message, /check gatewayUrl/)
      assert.equal(error.httpStatus, httpStatus)
      return true
    })
    assert.equal(requests.length, 1)
  }
})

test('a success response without the expected data is an error', async () => {
  const { tillgate } = scriptedGateway([{ data: { status: 'pending' } }])
  await assert.rejects(tillgate.orders.query('P1'), UnexpectedAnswerError)
})

test('an attempt that hangs times out and is retried', async () => {
  const { tillgate, requests } = scriptedGateway([{ hangs: true }, { data: queried }], {
    attemptTimeoutMs: 20,
  })
  await tillgate.orders.query('P1')
  assert.equal(requests.length, 2)
})

test('the call’s timeout limits its attempts', async () => {
  const hangs = { hangs: true } as const
  const { tillgate } = scriptedGateway([hangs, hangs, hangs], { now: Date.now })
  await assert.rejects(tillgate.orders.query('P1', { timeoutMs: 30 }), TimeoutError)
})

test('an aborted call rejects with the signal’s reason: before, during and between attempts', async () => {
  const reason = new Error('the consumer went away')
  const { tillgate, requests } = scriptedGateway([])
  await assert.rejects(tillgate.orders.query('P1', { signal: AbortSignal.abort(reason) }), reason)
  assert.equal(requests.length, 0)

  const during = new AbortController()
  const hanging = scriptedGateway([{ hangs: true }]).tillgate.orders.query('P1', { signal: during.signal })
  queueMicrotask(() => during.abort(reason))
  await assert.rejects(hanging, reason)

  const between = new AbortController()
  const { tillgate: waiting } = scriptedGateway([{ failure: 'unavailable' }], {
    wait: async () => between.abort(reason),
  })
  await assert.rejects(waiting.orders.query('P1', { signal: between.signal }), reason)
})

test('numbers that a double cannot hold are returned as text', async () => {
  const text =
    '{"code":20000,"msg":"SUCCESS","data":{"paymentId":"P1","status":"success","paymentStatus":"success","paymentAmount":9007199254740993.25,"refunds":[{"refundAmount":12345678901234567}]}}'
  const { tillgate } = scriptedGateway([{ httpStatus: 200, text }])
  const answer = await tillgate.orders.query('P1')
  assert.equal(answer.paymentAmount, '9007199254740993.25')
  assert.equal(answer.refunds[0]?.refundAmount, '12345678901234567')
})

test('invalid options are rejected', async () => {
  assert.throws(() => scriptedGateway([], { timeoutMs: 0 }), RangeError)
  assert.throws(() => scriptedGateway([], { maxRetries: -1 }), RangeError)
  await assert.rejects(scriptedGateway([]).tillgate.orders.query('P1', { timeoutMs: Number.NaN }), RangeError)
})
