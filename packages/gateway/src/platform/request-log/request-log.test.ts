import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../../test/support/clock.ts'
import { type AnsweredRequest, makeRequestLog, requestLogAllowances, slowMs } from './request-log.ts'
import type { LoggedRequest } from './store/request-log.ts'

const dayMs = 24 * 60 * 60 * 1000

function openLog() {
  const clock = new TestClock()
  const written: LoggedRequest[] = []
  let isAway = false
  const log = makeRequestLog({
    clock,
    store: {
      async record(requests) {
        if (isAway) throw new Error('the database is away')
        written.push(...requests)
      },
      list: async () => [],
    },
  })
  return { log, clock, written, leave: (away: boolean) => (isAway = away) }
}

const refused = {
  requestId: 'r1',
  verb: 'POST',
  route: '/api/v1/gateway',
  httpStatus: 400,
  durationMs: 3.4,
  failure: { code: 40001, field: 'currency', message: 'currency must be …' },
} as const
const of = (merchantId: string, isOpened = true) => ({
  operation: 'service.trade.create',
  merchantId,
  isOpened,
})

test('a rejected request is stored once, with its sender, method and message', async () => {
  const { log, clock, written } = openLog()
  log.note({ ...refused, api: of('m1') })
  assert.deepEqual(written, [])
  await log.write()
  await log.write()
  assert.deepEqual(written, [
    {
      requestId: 'r1',
      answeredAtMs: clock.now(),
      merchantId: 'm1',
      isOpened: true,
      verb: 'POST',
      route: '/api/v1/gateway',
      method: 'service.trade.create',
      httpStatus: 400,
      code: 40001,
      field: 'currency',
      message: 'currency must be …',
      durationMs: 3,
    },
  ])
})

test('a successful request is stored if it took a second, unless it waited on purpose', async () => {
  const { log, written } = openLog()
  const served = { requestId: 'r', verb: 'POST', route: '/api/v1/gateway', httpStatus: 200 }
  log.note({ ...served, durationMs: slowMs - 1, api: of('m1') })
  log.note({ ...served, durationMs: slowMs, api: { ...of('m1'), operation: 'service.sandbox.listen' } })
  log.note({ ...served, durationMs: 60_000 })
  log.note({ ...served, requestId: 'slow', durationMs: slowMs, api: of('m1') })
  await log.write()
  assert.deepEqual(
    written.map(({ requestId }) => requestId),
    ['slow'],
  )
})

test('requests that are rejected unread are not stored, those over a merchant’s rate are', async () => {
  const { log, written } = openLog()
  for (const httpStatus of [429, 503]) {
    log.note({ ...refused, httpStatus })
    log.note({ ...refused, httpStatus, api: of('m1', false) })
    log.note({ ...refused, httpStatus, api: of('m1') })
  }
  await log.write()
  assert.deepEqual(
    written.map(({ httpStatus, isOpened }) => [httpStatus, isOpened]),
    [
      [429, true],
      [503, true],
    ],
  )
})

test('a flood of unreadable envelopes or of pages uses up only its own quota', async () => {
  const { log, clock, written } = openLog()
  const flood = (request: AnsweredRequest) => {
    for (let sent = 0; sent < 20_000; sent++) log.note(request)
  }
  flood({ ...refused, api: of('m1', false) })
  flood(refused)
  flood({ ...refused, api: of('m2') })
  log.note({ ...refused, requestId: 'mine', api: of('m1') })
  const { closed, other, merchant } = requestLogAllowances
  const kept = closed.burst + other.burst + merchant.burst + 1
  assert.deepEqual(await log.write(), { leftOut: 60_001 - kept })
  assert.equal(written.length, kept)
  assert.equal(written.at(-1)?.requestId, 'mine')
  clock.advance(dayMs)
  flood({ ...refused, api: of('m1', false) })
  await log.write()
  assert.equal(written.length, kept + closed.burst)
})

test('text that cannot be stored is converted, without being lengthened needlessly', async () => {
  const { log, written } = openLog()
  log.note({ ...refused, failure: { code: 40000, field: 'a\u0000\ud800', message: 'x'.repeat(10_000) } })
  await log.write()
  assert.equal(written[0]?.field, 'a\ufffd\ufffd')
  assert.equal(written[0]?.message?.length, 500)
})

test('what an unreachable database did not store is lost, and the next request is stored', async () => {
  const { log, written, leave } = openLog()
  leave(true)
  log.note({ ...refused, requestId: 'lost' })
  await assert.rejects(log.write())
  leave(false)
  log.note({ ...refused, requestId: 'next' })
  await log.write()
  assert.deepEqual(
    written.map(({ requestId }) => requestId),
    ['next'],
  )
})
