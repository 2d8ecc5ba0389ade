import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeliveryRooms, type LineRequest } from './delivery-lanes.ts'

const limits = { inFlight: 64, inFlightPerHost: 32, inFlightPerMerchant: 40 }
const brisk = { isGood: true, durationMs: 5 }
const slow = { isGood: true, durationMs: 5_000 }
const failed = { isGood: false, durationMs: 5 }

function total(requests: readonly LineRequest[]): number {
  return requests.reduce((sum, { most }) => sum + most, 0)
}

/** Brings a host to a pace by one callback that ended so. */
function experience(rooms: DeliveryRooms, host: string, end: { isGood: boolean; durationMs: number }): void {
  const line = { merchantId: 'known', host }
  rooms.claimed({ ...line, most: 1 }, 1)
  rooms.ended(line, end)
}

test('a host that nobody knows gets a little room, and more once it has answered well', () => {
  const rooms = new DeliveryRooms(limits)
  rooms.makeReady({ merchantId: 'a', host: 'new.example' })
  assert.equal(total(rooms.plan({ most: 100, nowMs: 0 })), 8)
  experience(rooms, 'new.example', brisk)
  assert.equal(total(rooms.plan({ most: 100, nowMs: 0 })), 32)
})

test('a merchant’s room is for all its hosts together', () => {
  const rooms = new DeliveryRooms(limits)
  for (const host of ['1.example', '2.example']) {
    experience(rooms, host, brisk)
    rooms.makeReady({ merchantId: 'a', host })
  }
  assert.equal(total(rooms.plan({ most: 100, nowMs: 0 })), 40)
})

test('a host’s room is for all its merchants together', () => {
  const rooms = new DeliveryRooms(limits)
  experience(rooms, 'shared.example', brisk)
  for (const merchantId of ['a', 'b']) rooms.makeReady({ merchantId, host: 'shared.example' })
  const plan = rooms.plan({ most: 100, nowMs: 0 })
  assert.equal(total(plan), 32)
  assert.equal(plan.length, 2)
})

test('slow and failing hosts, however many, leave room for brisk ones', () => {
  const rooms = new DeliveryRooms(limits)
  for (let i = 0; i < 1_000; i++) {
    const line = { merchantId: `m${i}`, host: `${i}.example` }
    experience(rooms, line.host, i % 2 ? slow : failed)
    rooms.makeReady(line)
  }
  const plan = rooms.plan({ most: 1_000, nowMs: 0 })
  assert.equal(total(plan), limits.inFlight / 4)
  for (const request of plan) rooms.claimed(request, request.most)

  rooms.makeReady({ merchantId: 'fresh', host: 'fresh.example' })
  experience(rooms, 'good.example', brisk)
  rooms.makeReady({ merchantId: 'good', host: 'good.example' })
  const more = rooms.plan({ most: 1_000, nowMs: 0 })
  assert.equal(more.find(({ host }) => host === 'good.example')?.most, 32)
  assert.equal(more.find(({ host }) => host === 'fresh.example')?.most, 8)
  assert.equal(more.length, 2)
})

test('lines take turns: who was served goes to the end', () => {
  const rooms = new DeliveryRooms(limits)
  for (const merchantId of ['a', 'b', 'c']) rooms.makeReady({ merchantId, host: `${merchantId}.example` })
  const served: string[] = []
  for (let i = 0; i < 6; i++) {
    const [request] = rooms.plan({ most: 1, nowMs: 0 })
    assert(request)
    served.push(request.merchantId)
    rooms.claimed(request, 1)
  }
  assert.equal(served.join(''), 'abcabc')
})

test('a paused host gets nothing until its pause ends, and then one', () => {
  const rooms = new DeliveryRooms(limits)
  const line = { merchantId: 'a', host: 'dead.example' }
  rooms.noteHost(line.host, { failures: 5, pausedUntilMs: 1_000 })
  rooms.makeReady(line)
  assert.equal(total(rooms.plan({ most: 10, nowMs: 999 })), 0)
  assert.equal(rooms.nextPauseEndMs(999), 1_000)
  const [probe] = rooms.plan({ most: 10, nowMs: 1_000 })
  assert.equal(probe?.most, 1)
  rooms.claimed({ ...line, most: 1 }, 1)
  assert.equal(total(rooms.plan({ most: 10, nowMs: 1_001 })), 0)
  rooms.ended(line, brisk)
  rooms.makeReady(line)
  assert.equal(total(rooms.plan({ most: 10, nowMs: 1_002 })), 10)
})

test('what was claimed and ended or returned leaves its room as it was', () => {
  const rooms = new DeliveryRooms(limits)
  const line = { merchantId: 'a', host: 'a.example' }
  for (const end of [brisk, slow, failed, undefined, brisk]) {
    rooms.claimed({ ...line, most: 3 }, 3)
    assert.equal(rooms.inFlight, 3)
    for (let i = 0; i < 3; i++) {
      if (end) rooms.ended(line, end)
      else rooms.returned(line)
    }
    assert.equal(rooms.inFlight, 0)
  }
})

test('what comes into a line while it is claimed from is not forgotten', () => {
  const rooms = new DeliveryRooms(limits)
  const line = { merchantId: 'a', host: 'a.example' }
  rooms.makeReady(line)
  const [first] = rooms.plan({ most: 4, nowMs: 0 })
  assert(first)
  rooms.makeReady(line)
  rooms.claimed(first, 1)
  const [second] = rooms.plan({ most: 4, nowMs: 0 })
  assert(second, 'the line is asked once more')
  rooms.claimed(second, 0)
  assert.deepEqual(rooms.plan({ most: 4, nowMs: 0 }), [])
})

test('lines of paused hosts do not keep a line of a healthy one out', () => {
  const rooms = new DeliveryRooms(limits)
  for (let n = 0; n < 20_000; n++) {
    rooms.noteHost(`${n}.dead.example`, { failures: 9, pausedUntilMs: 60_000 })
    rooms.makeReady({ merchantId: 'a', host: `${n}.dead.example` })
  }
  rooms.makeReady({ merchantId: 'a', host: 'healthy.example' })
  assert.equal(rooms.readyLines, 20_000)
  assert.deepEqual(
    rooms.plan({ most: 10, nowMs: 0 }).map(({ host }) => host),
    ['healthy.example'],
  )
})
