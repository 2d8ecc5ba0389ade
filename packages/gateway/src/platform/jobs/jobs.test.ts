import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { TestClock } from '../../../test/support/clock.ts'
import { type Job, startJobs } from './jobs.ts'

const log = pino({ level: 'silent' })

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}

function run(t: TestContext, ...table: readonly Job[]) {
  const clock = new TestClock()
  const jobs = startJobs(table, { clockOf: () => clock, log })
  t.after(jobs.stop)
  return { clock, jobs }
}

test('a change wakes the jobs that name its kind, unless it is due after their next poll', async (t) => {
  const turns = { woken: 0, other: 0 }
  const { clock, jobs } = run(
    t,
    { name: 'woken', intervalMs: 1_000, wokenBy: ['order'], sweep: async () => void turns.woken++ },
    { name: 'other', intervalMs: 1_000, sweep: async () => void turns.other++ },
  )
  await settled()
  jobs.wake('order')
  await settled()
  assert.deepEqual(turns, { woken: 2, other: 1 })
  jobs.wake('order', clock.now() + 1_000)
  await settled()
  assert.equal(turns.woken, 2)
  jobs.wake('order', clock.now() + 999)
  await settled()
  assert.equal(turns.woken, 3)
})

test('a slow item delays no other, and claims never exceed the limit', async (t) => {
  const waiting = ['slow', 'quick', 'next']
  const done: string[] = []
  const slow = Promise.withResolvers<void>()
  t.after(() => slow.resolve())
  run(t, {
    name: 'claiming',
    intervalMs: 1_000,
    leaseMs: 30_000,
    mostAtOnce: 2,
    mostPerClaim: 10,
    claim: async ({ limit }) => waiting.splice(0, limit),
    async work(item: string) {
      if (item === 'slow') await slow.promise
      done.push(item)
      return false
    },
  } as Job)
  await settled()
  assert.deepEqual(done, ['quick', 'next'])
  slow.resolve()
  await settled()
  assert.deepEqual(done, ['quick', 'next', 'slow'])
})
