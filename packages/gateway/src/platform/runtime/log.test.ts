import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLog } from './log.ts'

test('a field that is not on the list is omitted at every level', async () => {
  const { log, lines } = await collect()
  log.info({ merchantId: '1', body: 'plain', sign: 'abc', aesKey: 'k', req: { headers: {} } }, 'hello')
  assert.deepEqual(Object.keys(lines()[0] ?? {}).sort(), ['level', 'merchantId', 'msg', 'time'])
})

test('an error is logged with name, message, code, stack and cause, and nothing else', async () => {
  const { log, lines } = await collect()
  const cause = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (pin)=(1234)' })
  log.error({ err: Object.assign(new Error('insert failed', { cause }), { parameters: ['1234'] }) }, 'oh')
  const text = JSON.stringify(lines())
  assert.match(text, /insert failed/)
  assert.match(text, /23505/)
  assert.doesNotMatch(text, /1234/)
})

async function collect() {
  const written: string[] = []
  const log = await makeLog(
    { logLevel: 'debug', logFormat: 'json' },
    { write: (line: string) => written.push(line) },
  )
  return { log, lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) }
}
