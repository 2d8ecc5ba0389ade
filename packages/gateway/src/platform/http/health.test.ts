import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fastify } from 'fastify'
import { answerHealth, askedSeldom, type Readiness, readyForMs } from './health.ts'

test('concurrent health checks share one query, and a gateway that is not ready is checked again at once', async () => {
  const answers: Readiness[] = [{ ready: false, reason: 'no' }, { ready: true }]
  let asked = 0
  let nowMs = 0
  const readiness = askedSeldom(
    async () => answers[asked++] ?? { ready: false, reason: 'the disk is full' },
    () => nowMs,
  )
  const listener = fastify()
  answerHealth(listener, readiness)
  const ask = async () => (await listener.inject('/readyz')).statusCode

  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [503, 503, 503])
  assert.equal(asked, 1)
  assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 200])
  assert.equal(asked, 2)
  nowMs += readyForMs
  assert.equal(await ask(), 503)
})
