import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeliveryLanes, type LaneRequest } from './delivery-lanes.ts'

const limits = { inFlight: 64, inFlightPerHost: 32, inFlightPerMerchant: 40 }
const fast = { isGood: true, durationMs: 5 }
const slow = { isGood: true, durationMs: 5_000 }
const failed = { isGood: false, durationMs: 5 }

function total(requests: readonly LaneRequest[]): number {
  return requests.reduce((sum, { most }) => sum + most, 0)
}

/** Brings a host to a pace by one callback that ended so. */
function experience(lanes: DeliveryLanes, host: string, end: { isGood: boolean; durationMs: number }): void {
  const lane = { merchantId: 'known', host }
  lanes.claimed({ ...lane, most: 1 }, 1)
  lanes.ended(lane, end)
}

test('a host that nobody knows gets a few slots, and more once it has answered well', () => {
  const lanes = new DeliveryLanes(limits)
  lanes.makeReady({ merchantId: 'a', host: 'new.example' })
  assert.equal(total(lanes.plan({ most: 100, nowMs: 0 })), 8)
  experience(lanes, 'new.example', fast)
  assert.equal(total(lanes.plan({ most: 100, nowMs: 0 })), 32)
})

test('a merchant’s slots are for all its hosts together', () => {
  const lanes = new DeliveryLanes(limits)
  for (const host of ['1.example', '2.example']) {
    experience(lanes, host, fast)
    lanes.makeReady({ merchantId: 'a', host })
  }
  assert.equal(total(lanes.plan({ most: 100, nowMs: 0 })), 40)
})

test('a host’s slots are for all its merchants together', () => {
  const lanes = new DeliveryLanes(limits)
  experience(lanes, 'shared.example', fast)
  for (const merchantId of ['a', 'b']) lanes.makeReady({ merchantId, host: 'shared.example' })
  const plan = lanes.plan({ most: 100, nowMs: 0 })
  assert.equal(total(plan), 32)
  assert.equal(plan.length, 2)
})

test('slow and failing hosts, however many, leave slots for fast ones', () => {
  const lanes = new DeliveryLanes(limits)
  for (let i = 0; i < 1_000; i++) {
    const lane = { merchantId: `m${i}`, host: `${i}.example` }
    experience(lanes, lane.host, i % 2 ? slow : failed)
    lanes.makeReady(lane)
  }
  const plan = lanes.plan({ most: 1_000, nowMs: 0 })
  assert.equal(total(plan), limits.inFlight / 4)
  for (const request of plan) lanes.claimed(request, request.most)

  lanes.makeReady({ merchantId: 'fresh', host: 'fresh.example' })
  experience(lanes, 'good.example', fast)
  lanes.makeReady({ merchantId: 'good', host: 'good.example' })
  const more = lanes.plan({ most: 1_000, nowMs: 0 })
  assert.equal(more.find(({ host }) => host === 'good.example')?.most, 32)
  assert.equal(more.find(({ host }) => host === 'fresh.example')?.most, 8)
  assert.equal(more.length, 2)
})

test('lanes take turns: who was served goes to the end', () => {
  const lanes = new DeliveryLanes(limits)
  for (const merchantId of ['a', 'b', 'c']) lanes.makeReady({ merchantId, host: `${merchantId}.example` })
  const served: string[] = []
  for (let i = 0; i < 6; i++) {
    const [request] = lanes.plan({ most: 1, nowMs: 0 })
    assert(request)
    served.push(request.merchantId)
    lanes.claimed(request, 1)
  }
  assert.equal(served.join(''), 'abcabc')
})

test('a paused host gets nothing until its pause ends, and then one', () => {
  const lanes = new DeliveryLanes(limits)
  const lane = { merchantId: 'a', host: 'dead.example' }
  lanes.noteHost(lane.host, { failures: 5, pausedUntilMs: 1_000 })
  lanes.makeReady(lane)
  assert.equal(total(lanes.plan({ most: 10, nowMs: 999 })), 0)
  assert.equal(lanes.nextPauseEndMs(999), 1_000)
  const [probe] = lanes.plan({ most: 10, nowMs: 1_000 })
  assert.equal(probe?.most, 1)
  lanes.claimed({ ...lane, most: 1 }, 1)
  assert.equal(total(lanes.plan({ most: 10, nowMs: 1_001 })), 0)
  lanes.ended(lane, fast)
  lanes.makeReady(lane)
  assert.equal(total(lanes.plan({ most: 10, nowMs: 1_002 })), 10)
})

test('what was claimed and ended or returned leaves its slots as they were', () => {
  const lanes = new DeliveryLanes(limits)
  const lane = { merchantId: 'a', host: 'a.example' }
  for (const end of [fast, slow, failed, undefined, fast]) {
    lanes.claimed({ ...lane, most: 3 }, 3)
    assert.equal(lanes.inFlight, 3)
    for (let i = 0; i < 3; i++) {
      if (end) lanes.ended(lane, end)
      else lanes.returned(lane)
    }
    assert.equal(lanes.inFlight, 0)
  }
})

test('what comes into a lane while it is claimed from is not forgotten', () => {
  const lanes = new DeliveryLanes(limits)
  const lane = { merchantId: 'a', host: 'a.example' }
  lanes.makeReady(lane)
  const [first] = lanes.plan({ most: 4, nowMs: 0 })
  assert(first)
  lanes.makeReady(lane)
  lanes.claimed(first, 1)
  const [second] = lanes.plan({ most: 4, nowMs: 0 })
  assert(second, 'the lane is asked once more')
  lanes.claimed(second, 0)
  assert.deepEqual(lanes.plan({ most: 4, nowMs: 0 }), [])
})

test('lanes of paused hosts do not keep a lane of a healthy one out', () => {
  const lanes = new DeliveryLanes(limits)
  for (let n = 0; n < 20_000; n++) {
    lanes.noteHost(`${n}.dead.example`, { failures: 9, pausedUntilMs: 60_000 })
    lanes.makeReady({ merchantId: 'a', host: `${n}.dead.example` })
  }
  lanes.makeReady({ merchantId: 'a', host: 'healthy.example' })
  assert.equal(lanes.readyLanes, 20_000)
  assert.deepEqual(
    lanes.plan({ most: 10, nowMs: 0 }).map(({ host }) => host),
    ['healthy.example'],
  )
})
