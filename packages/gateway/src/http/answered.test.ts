import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { makeLog } from '../platform/log.ts'
import { makeAnswerLog, refusedLinesPerSecond, turnedAwayEveryMs } from './answered.ts'

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
  const note = makeAnswerLog({ log, clock: { now: () => nowMs } })
  const answer = (httpStatus: number, route = '/api/v1/gateway') =>
    note({ requestId: 'r', verb: 'POST', route, httpStatus, durationMs: 1.26 })
  return { lines, answer, pass: (durationMs: number) => (nowMs += durationMs) }
}

test('what went well leaves no line, what was refused and what failed leave one each', async () => {
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

test('thousands that are turned away leave one line, and the next one counts them all', async () => {
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

test('refused requests have a few lines a second, the rest is counted, and what failed always has its line', async () => {
  const { lines, answer, pass } = await startLog()
  for (let index = 0; index < 5_000; index++) answer(404)
  answer(500)
  assert.equal(lines.length, refusedLinesPerSecond + 1)
  pass(1_000)
  answer(401)
  assert.deepEqual(
    lines.slice(-2).map(({ msg, httpStatus, count }) => ({ msg, httpStatus, count })),
    [
      {
        msg: 'further requests were refused, without a line for each',
        httpStatus: undefined,
        count: 5_000 - refusedLinesPerSecond,
      },
      { msg: 'request', httpStatus: 401, count: undefined },
    ],
  )
})

test('those with too many requests are counted apart, and a probe that is told to wait leaves no line', async () => {
  const { lines, answer } = await startLog()
  answer(503)
  answer(429)
  answer(503, '/readyz')
  assert.deepEqual(
    lines.map(({ httpStatus, count }) => ({ httpStatus, count })),
    [
      { httpStatus: 503, count: 1 },
      { httpStatus: 429, count: 1 },
    ],
  )
})
