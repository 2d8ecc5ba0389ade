import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLog } from '../../platform/runtime/log.ts'
import { DatabaseOutage, leastBetweenOutagesMs } from './database-outage.ts'

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
const poolTimeout = () => new Error('timeout exceeded when trying to connect')

async function start() {
  const lines: Record<string, unknown>[] = []
  const log = await makeLog(
    { logLevel: 'info', logFormat: 'json' },
    { write: (line: string) => lines.push(JSON.parse(line)) },
  )
  let nowMs = 1_000
  const outage = new DatabaseOutage({ log, nowMs: () => nowMs })
  return {
    log,
    messages: () => lines.map(({ level, msg }) => `${level} ${msg}`),
    good: (startedAtMs = nowMs) => outage.note({ startedAtMs }),
    bad: (error: Error = refused(), startedAtMs = nowMs) => outage.note({ startedAtMs, error }),
    pass: (durationMs: number) => (nowMs += durationMs),
    nowMs: () => nowMs,
  }
}

test('thousands of failed statements log one line, and the first success logs another', async () => {
  const { good, bad, pass, messages } = await start()
  for (let index = 0; index < 5_000; index++) bad()
  pass(1)
  good()
  good()
  assert.deepEqual(messages(), ['error the database is unavailable', 'info the database is available again'])
})

test('a statement that timed out while others succeeded is not an outage', async () => {
  const { good, bad, pass, nowMs, messages } = await start()
  const startedAtMs = nowMs()
  pass(1)
  good()
  bad(poolTimeout(), startedAtMs)
  assert.deepEqual(messages(), [])
})

test('deadlocks and invalid statements are not an outage', async () => {
  const { bad, messages } = await start()
  bad(Object.assign(new Error('deadlock detected'), { code: '40P01' }))
  bad(Object.assign(new Error('no such table'), { code: '42P01' }))
  assert.deepEqual(messages(), [])
})

test('a server that accepts only some connections logs at most one pair of lines every ten seconds', async () => {
  const { good, bad, pass, messages } = await start()
  const begin = () => {
    bad()
    pass(1)
    good()
    pass(1)
  }
  for (let index = 0; index < 100; index++) begin()
  assert.equal(messages().length, 2)
  pass(leastBetweenOutagesMs)
  begin()
  assert.equal(messages().length, 4)
})

test('an outage shortly after another one is logged if it lasts', async () => {
  const { good, bad, pass, messages } = await start()
  bad()
  good()
  pass(1)
  bad()
  assert.equal(messages().length, 2)
  pass(leastBetweenOutagesMs)
  bad()
  assert.deepEqual(messages().slice(2), ['error the database is unavailable'])
})

test('warnings caused by the outage are suppressed, warnings about a full pool are not', async () => {
  const { log, good, bad, pass, nowMs, messages } = await start()
  const startedAtMs = nowMs()
  pass(1)
  good()
  const full = poolTimeout()
  bad(full, startedAtMs)
  log.warn({ err: full }, 'a turn failed')
  const away = refused()
  bad(away)
  log.warn({ err: away }, 'a turn failed')
  log.warn({ err: new Error('not settled', { cause: away }) }, 'a turn failed')
  assert.deepEqual(messages(), ['warn a turn failed', 'error the database is unavailable'])
})
