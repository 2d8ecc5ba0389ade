import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrderStatus } from '@tillgate/protocol'
import { TestClock } from '../../../test/support/clock.ts'
import type { OrderKey } from '../../core/orders/rules/order.ts'
import { LiveOrders } from './live.ts'

const key = { merchantId: 'm', paymentId: 'p' }

function watched() {
  const clock = new TestClock()
  const looks: OrderKey[] = []
  let status: OrderStatus = 'pending'
  const troubles: unknown[] = []
  let find = async () => ({ status, expiresAtMs: 0 })
  const live = new LiveOrders({
    findStatus: async (each) => {
      looks.push(each)
      return find()
    },
    clock,
    onTrouble: (error) => troubles.push(error),
  })
  return {
    clock,
    live,
    looks,
    troubles,
    become(next: OrderStatus) {
      status = next
    },
    findBy(next: typeof find) {
      find = next
    },
  }
}

/** Lets everything that is ready run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a watcher receives the current status immediately and then every change in this process', async () => {
  const { live, become } = watched()
  const results: string[] = []
  live.listen(key, 'pending', ({ status }) => results.push(status))
  await settled()
  become('confirming')
  live.changed(key)
  await settled()
  live.changed({ ...key, paymentId: 'another' })
  await settled()
  assert.deepEqual(results, ['pending', 'confirming'])
  await live.stop()
})

test('one poll finds changes of other processes for all watchers', async () => {
  const { live, clock, looks, become } = watched()
  const results: string[] = []
  const ends = Array.from({ length: 100 }, () =>
    live.listen(key, 'pending', ({ status }) => results.push(status)),
  )
  await settled()
  looks.length = 0
  results.length = 0
  become('cancelled')
  clock.advance(3_000)
  await settled()
  assert.equal(looks.length, 1)
  assert.equal(results.length, 100)
  for (const end of ends) end()
  await settled()
  looks.length = 0
  clock.advance(3_000)
  await settled()
  assert.equal(looks.length, 0)
  await live.stop()
})

test('the server’s time is sent periodically without changes', async () => {
  const { live, clock } = watched()
  const times: number[] = []
  live.listen(key, 'pending', ({ nowMs }) => times.push(nowMs))
  await settled()
  for (let looks = 0; looks < 10; looks++) {
    clock.advance(3_000)
    await settled()
  }
  assert.deepEqual(
    times.map((time) => time - (times[0] ?? 0)),
    [0, 15_000, 30_000],
  )
  await live.stop()
})

test('an outdated read does not restore an old status', async () => {
  const { live, become, findBy } = watched()
  const results: string[] = []
  live.listen(key, 'pending', ({ status }) => results.push(status))
  await settled()
  const slow = Promise.withResolvers<{ status: OrderStatus; expiresAtMs: number }>()
  findBy(() => slow.promise)
  live.changed(key)
  become('success')
  findBy(async () => ({ status: 'success', expiresAtMs: 0 }))
  live.changed(key)
  await settled()
  slow.resolve({ status: 'pending', expiresAtMs: 0 })
  await settled()
  assert.deepEqual(results, ['pending', 'success'])
  await live.stop()
})

test('a failed read is reported, and the next read still runs', async () => {
  const { live, clock, troubles, become, findBy } = watched()
  const results: string[] = []
  live.listen(key, 'pending', ({ status }) => results.push(status))
  await settled()
  findBy(async () => {
    throw new Error('the database is away')
  })
  clock.advance(3_000)
  await settled()
  assert.equal(troubles.length, 1)
  become('timeout')
  findBy(async () => ({ status: 'timeout', expiresAtMs: 0 }))
  clock.advance(3_000)
  await settled()
  assert.deepEqual(results, ['pending', 'timeout'])
  await live.stop()
})
