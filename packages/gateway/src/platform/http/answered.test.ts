import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { makeLog } from '../runtime/log.ts'
import { makeAnswerLog, rejectedLinesPerSecond, throttledEveryMs, turnedAwayEveryMs } from './answered.ts'

async function startLog() {
  const lines: Record<string, unknown>[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  let nowMs = 1_800_000_000_000
  const log = await makeLog({ logLevel: 'info', logFormat: 'json' }, stream)
  const answerLog = makeAnswerLog({
    log,
    clock: { now: () => nowMs },
    isProxy: (address) => address === '10.0.0.1',
  })
  const answer = (httpStatus: number, { route = '/api/v1/gateway', address = '203.0.113.9' } = {}) =>
    answerLog.answered({ requestId: 'r', verb: 'POST', route, httpStatus, durationMs: 1.26, address })
  return { lines, answer, answerLog, pass: (durationMs: number) => (nowMs += durationMs) }
}

test('successful requests are not logged, rejected and failed ones are, once each', async () => {
  const { lines, answer } = await startLog()
  answer(200)
  answer(400)
  answer(500)
  assert.deepEqual(
    lines.map(({ level, httpStatus, durationMs }) => ({ level, httpStatus, durationMs })),
    [
      { level: 'info', httpStatus: 400, durationMs: 1.3 },
      { level: 'warn', httpStatus: 500, durationMs: 1.3 },
    ],
  )
})

test('thousands of throttled requests log one line, and the next line counts them', async () => {
  const { lines, answer, pass } = await startLog()
  for (let index = 0; index < 5_000; index++) answer(503)
  assert.equal(lines.length, 1)
  pass(turnedAwayEveryMs)
  answer(503)
  assert.deepEqual(
    lines.map(({ msg, httpStatus, count }) => ({ msg, httpStatus, count })),
    [
      { msg: 'requests were turned away', httpStatus: 503, count: 1 },
      { msg: 'requests were turned away', httpStatus: 503, count: 5_000 },
    ],
  )
})

test('rejected requests have a few lines per second and a count, and every failure has its line', async () => {
  const { lines, answer, pass } = await startLog()
  for (let index = 0; index < 5_000; index++) answer(404)
  answer(500)
  assert.equal(lines.length, rejectedLinesPerSecond + 1)
  pass(1_000)
  answer(401)
  assert.deepEqual(
    lines.slice(-2).map(({ msg, httpStatus, count }) => ({ msg, httpStatus, count })),
    [
      {
        msg: 'log lines of rejected requests were left out',
        httpStatus: undefined,
        count: 5_000 - rejectedLinesPerSecond,
      },
      { msg: 'request', httpStatus: 401, count: undefined },
    ],
  )
})

test('rate-limited requests are counted separately, and a rate-limited probe is not logged', async () => {
  const { lines, answer } = await startLog()
  answer(503)
  answer(429)
  answer(503, { route: '/readyz' })
  assert.deepEqual(
    lines.map(({ httpStatus, count }) => ({ httpStatus, count })),
    [
      { httpStatus: 503, count: 1 },
      { httpStatus: 429, count: 1 },
    ],
  )
})

test('the line of a rejected request starts with the client’s address, never a trusted proxy’s', async () => {
  const { lines, answer } = await startLog()
  answer(401)
  answer(404, { address: '::ffff:203.0.113.10' })
  answer(404, { address: '[2001:db8::7]:4711' })
  answer(404, { address: '10.0.0.1' })
  answer(404, { address: 'unknown", "address":"203.0.113.11' })
  assert.deepEqual(
    lines.map(({ address }) => address),
    ['203.0.113.9', '203.0.113.10', '2001:db8::7', undefined, undefined],
  )
  assert.deepEqual(Object.keys(lines[0] ?? {}).slice(0, 5), [
    'level',
    'time',
    'address',
    'httpStatus',
    'requestId',
  ])
})

test('a throttled address is logged every ten seconds with its request count, separately from others', async () => {
  const { lines, answer, pass } = await startLog()
  for (let index = 0; index < 5_000; index++) answer(429)
  answer(429, { address: '203.0.113.10' })
  pass(throttledEveryMs)
  answer(429)
  assert.deepEqual(
    lines.map(({ level, msg, address, count }) => ({ level, msg, address, count })),
    [
      { level: 'warn', msg: 'requests throttled', address: '203.0.113.9', count: 1 },
      { level: 'warn', msg: 'requests throttled', address: '203.0.113.10', count: 1 },
      { level: 'warn', msg: 'requests throttled', address: '203.0.113.9', count: 5_000 },
    ],
  )
})

test('a merchant over its rate is named, so that a log filter can skip its address', async () => {
  const { lines, answerLog } = await startLog()
  const about = { requestId: 'r', verb: 'POST', route: '/api/v1/gateway', httpStatus: 429, durationMs: 1 }
  const api = { operation: 'service.trade.query', merchantId: 'M1', code: 42900 }
  answerLog.answered({ ...about, address: '203.0.113.9', api: { ...api, isOpened: true } })
  answerLog.answered({ ...about, address: '203.0.113.10', api: { ...api, isOpened: false } })
  assert.deepEqual(
    lines.map(({ merchantId }) => merchantId),
    ['M1', undefined],
  )
})

test('lines per second are limited for any number of addresses', async () => {
  const { lines, answer, answerLog } = await startLog()
  for (let index = 0; index < 60_000; index++) {
    const address = `203.0.${index >> 8}.${index & 255}`
    answer(429, { address })
    answer(404, { address })
    answerLog.connectionRefused(address)
    answerLog.shutOut(address)
  }
  assert.equal(lines.length, rejectedLinesPerSecond)
})
