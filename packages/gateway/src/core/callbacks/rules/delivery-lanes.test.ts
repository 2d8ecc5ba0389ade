import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeliveryLanes, type Lane, type LaneEnd, type LaneRequest } from './delivery-lanes.ts'

const limits = { inFlight: 64, inFlightPerHost: 32, inFlightPerMerchant: 40 }
const fast = { isGood: true, isHostThere: true, durationMs: 5 }
const slow = { isGood: true, isHostThere: true, durationMs: 5_000 }
const failed = { isGood: false, isHostThere: true, durationMs: 5 }
/** A destination's share of its host's slots. */
const perDestination = 28

const laneAt = (host: string, { merchantId = 'a', path = '/' } = {}): Lane => ({
  merchantId,
  host,
  destinationId: `${host}${path}`,
})

function total(requests: readonly LaneRequest[]): number {
  return requests.reduce((sum, { most }) => sum + most, 0)
}

/** Completes one callback with this outcome, so that the destination's pace is known. */
function experience(lanes: DeliveryLanes, lane: Lane, end: LaneEnd): void {
  lanes.claimed({ ...lane, most: 1 }, 1)
  lanes.ended(lane, end)
}

test('an unknown host gets a few slots, and a destination gets more after successful responses', () => {
  const lanes = new DeliveryLanes(limits)
  const lane = laneAt('new.example')
  lanes.makeReady(lane)
  assert.equal(total(lanes.plan({ most: 100, nowMs: 0 })), 8)
  experience(lanes, lane, fast)
  assert.equal(total(lanes.plan({ most: 100, nowMs: 0 })), perDestination)
})

test('a merchant’s slots are shared by all its hosts', () => {
  const lanes = new DeliveryLanes(limits)
  for (const host of ['1.example', '2.example']) {
    experience(lanes, laneAt(host), fast)
    lanes.makeReady(laneAt(host))
  }
  assert.equal(total(lanes.plan({ most: 100, nowMs: 0 })), 40)
})

test('a host’s slots are shared by all its merchants and destinations', () => {
  const lanes = new DeliveryLanes(limits)
  for (const merchantId of ['a', 'b']) {
    const lane = laneAt('shared.example', { merchantId })
    experience(lanes, lane, fast)
    lanes.makeReady(lane)
  }
  const plan = lanes.plan({ most: 100, nowMs: 0 })
  assert.equal(total(plan), limits.inFlightPerHost)
  assert.equal(plan.length, 2)
})

test('a destination at its limit leaves slots of its host to other destinations', () => {
  const lanes = new DeliveryLanes(limits)
  const [busy, neighbor] = [laneAt('shared.example'), laneAt('shared.example', { path: '/other' })]
  experience(lanes, busy, fast)
  lanes.makeReady(busy)
  for (const request of lanes.plan({ most: 100, nowMs: 0 })) lanes.claimed(request, request.most)
  assert.equal(lanes.inFlight, perDestination)
  lanes.makeReady(neighbor)
  assert.deepEqual(lanes.plan({ most: 100, nowMs: 0 }), [
    { ...neighbor, most: limits.inFlightPerHost - perDestination },
  ])
})

test('slow and failing destinations of a host share a few slots, and the fast ones get the rest', () => {
  const lanes = new DeliveryLanes(limits)
  for (let i = 0; i < 10; i++) {
    const lane = laneAt('shared.example', { path: `/${i}` })
    experience(lanes, lane, i % 2 ? slow : failed)
    lanes.makeReady(lane)
  }
  const plan = lanes.plan({ most: 100, nowMs: 0 })
  assert.equal(total(plan), 4)
  for (const request of plan) lanes.claimed(request, request.most)
  const good = laneAt('shared.example', { path: '/good' })
  experience(lanes, good, fast)
  lanes.makeReady(good)
  assert.deepEqual(lanes.plan({ most: 100, nowMs: 0 }), [{ ...good, most: perDestination }])
})

test('an unknown destination is treated like the most recent new one of its host', () => {
  const lanes = new DeliveryLanes(limits)
  experience(lanes, laneAt('shop.example', { path: '/orders/1' }), fast)
  for (let order = 2; order < 50; order++)
    lanes.makeReady(laneAt('shop.example', { path: `/orders/${order}` }))
  assert.equal(total(lanes.plan({ most: 100, nowMs: 0 })), limits.inFlightPerHost)
  experience(lanes, laneAt('shop.example', { path: '/orders/50' }), failed)
  assert.equal(total(lanes.plan({ most: 100, nowMs: 0 })), 4)
})

test('many slow and failing hosts leave slots for fast hosts', () => {
  const lanes = new DeliveryLanes(limits)
  for (let i = 0; i < 1_000; i++) {
    const lane = laneAt(`${i}.example`, { merchantId: `m${i}` })
    experience(lanes, lane, i % 2 ? slow : failed)
    lanes.makeReady(lane)
  }
  const plan = lanes.plan({ most: 1_000, nowMs: 0 })
  assert.equal(total(plan), limits.inFlight / 4)
  for (const request of plan) lanes.claimed(request, request.most)

  lanes.makeReady(laneAt('fresh.example', { merchantId: 'fresh' }))
  const good = laneAt('good.example', { merchantId: 'good' })
  experience(lanes, good, fast)
  lanes.makeReady(good)
  const more = lanes.plan({ most: 1_000, nowMs: 0 })
  assert.equal(more.find(({ host }) => host === 'good.example')?.most, perDestination)
  assert.equal(more.find(({ host }) => host === 'fresh.example')?.most, 8)
  assert.equal(more.length, 2)
})

test('lanes take turns: a served lane goes to the end', () => {
  const lanes = new DeliveryLanes(limits)
  for (const merchantId of ['a', 'b', 'c']) lanes.makeReady(laneAt(`${merchantId}.example`, { merchantId }))
  const served: string[] = []
  for (let i = 0; i < 6; i++) {
    const [request] = lanes.plan({ most: 1, nowMs: 0 })
    assert(request)
    served.push(request.merchantId)
    lanes.claimed(request, 1)
  }
  assert.equal(served.join(''), 'abcabc')
})

test('a paused host gets one callback when its pause ends, from whichever lane is next', () => {
  const lanes = new DeliveryLanes(limits)
  const [lane, other] = [laneAt('dead.example'), laneAt('dead.example', { path: '/other' })]
  lanes.noteHost(lane.host, { failures: 5, pausedUntilMs: 1_000 })
  lanes.makeReady(lane)
  lanes.makeReady(other)
  assert.equal(total(lanes.plan({ most: 10, nowMs: 999 })), 0)
  assert.equal(lanes.nextPauseEndMs(999), 1_000)
  const probe = lanes.plan({ most: 10, nowMs: 1_000 })
  assert.deepEqual(probe, [{ ...lane, most: 1 }])
  lanes.claimed({ ...lane, most: 1 }, 1)
  assert.equal(total(lanes.plan({ most: 10, nowMs: 1_001 })), 0)
  lanes.ended(lane, { ...failed, isHostThere: false })
  lanes.noteHost(lane.host, { failures: 6, pausedUntilMs: 3_000 })
  // The next probe is for the other lane.
  assert.deepEqual(lanes.plan({ most: 10, nowMs: 3_000 }), [{ ...other, most: 1 }])
  lanes.claimed({ ...other, most: 1 }, 1)
  lanes.ended(other, fast)
  lanes.makeReady(other)
  assert.equal(
    lanes.plan({ most: 10, nowMs: 3_001 }).find((each) => each.destinationId.endsWith('r'))?.most,
    8,
  )
})

test('a paused destination gets one callback when its pause ends, without delaying others', () => {
  const lanes = new DeliveryLanes(limits)
  const [lane, neighbor] = [laneAt('shared.example'), laneAt('shared.example', { merchantId: 'b' })]
  experience(lanes, neighbor, fast)
  lanes.noteDestination(lane, { failures: 5, pausedUntilMs: 1_000 })
  lanes.makeReady(lane)
  lanes.makeReady(neighbor)
  assert.deepEqual(lanes.plan({ most: 10, nowMs: 999 }), [{ ...neighbor, most: 10 }])
  assert.equal(lanes.nextPauseEndMs(999), 1_000)
  assert.equal(lanes.plan({ most: 10, nowMs: 1_000 }).find(({ merchantId }) => merchantId === 'a')?.most, 1)
  lanes.claimed({ ...lane, most: 1 }, 1)
  assert.deepEqual(lanes.plan({ most: 10, nowMs: 1_001 }), [{ ...neighbor, most: 10 }])
  lanes.ended(lane, fast)
  lanes.makeReady(lane)
  assert.equal(total(lanes.plan({ most: 10, nowMs: 1_002 })), 10)
})

test('a destination that is paused longer than its host waits for its own pause to end', () => {
  const lanes = new DeliveryLanes(limits)
  const lane = laneAt('dead.example')
  lanes.noteHost(lane.host, { failures: 5, pausedUntilMs: 1_000 })
  lanes.noteDestination(lane, { failures: 5, pausedUntilMs: 2_000 })
  lanes.makeReady(lane)
  assert.equal(lanes.nextPauseEndMs(0), 2_000)
  assert.equal(total(lanes.plan({ most: 10, nowMs: 1_999 })), 0)
  assert.equal(total(lanes.plan({ most: 10, nowMs: 2_000 })), 1)
})

test('any response ends the pause of the host, and only a successful one that of the destination', () => {
  const lanes = new DeliveryLanes(limits)
  const lane = laneAt('shared.example')
  lanes.noteHost(lane.host, { failures: 5, pausedUntilMs: 1_000 })
  lanes.noteDestination(lane, { failures: 5, pausedUntilMs: 1_000 })
  lanes.claimed({ ...lane, most: 1 }, 1)
  lanes.ended(lane, failed)
  lanes.makeReady(lane)
  lanes.makeReady(laneAt('shared.example', { path: '/other' }))
  assert.deepEqual(
    lanes.plan({ most: 10, nowMs: 0 }).map(({ destinationId }) => destinationId),
    ['shared.example/other'],
  )
})

test('a failing host gets few slots, however fast its destinations were', () => {
  const lanes = new DeliveryLanes(limits)
  for (const merchantId of ['a', 'b']) {
    const lane = laneAt('down.example', { merchantId })
    experience(lanes, lane, fast)
    lanes.makeReady(lane)
  }
  lanes.noteHost('down.example', { failures: 1, pausedUntilMs: undefined })
  assert.equal(total(lanes.plan({ most: 100, nowMs: 0 })), 4)
})

test('finished and returned claims free their slots', () => {
  const lanes = new DeliveryLanes(limits)
  const lane = laneAt('a.example')
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

test('a callback that is added to a lane during a claim is not lost', () => {
  const lanes = new DeliveryLanes(limits)
  const lane = laneAt('a.example')
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

test('paused lanes do not block a healthy lane', () => {
  const lanes = new DeliveryLanes(limits)
  for (let n = 0; n < 20_000; n++) {
    const lane = laneAt(`${n}.dead.example`)
    const paused = { failures: 9, pausedUntilMs: 60_000 }
    if (n % 2) lanes.noteHost(lane.host, paused)
    else lanes.noteDestination(lane, paused)
    lanes.makeReady(lane)
  }
  lanes.makeReady(laneAt('healthy.example'))
  assert.equal(lanes.readyLanes, 20_000)
  assert.deepEqual(
    lanes.plan({ most: 10, nowMs: 0 }).map(({ host }) => host),
    ['healthy.example'],
  )
})

test('memory for destinations is bounded, and destinations in flight are never forgotten', () => {
  const lanes = new DeliveryLanes({ inFlight: 1_000, inFlightPerHost: 1_000, inFlightPerMerchant: 1_000 })
  const lane = (order: number) => laneAt('shop.example', { path: `/orders/${order}` })
  for (let order = 0; order < 100; order++) lanes.claimed({ ...lane(order), most: 1 }, 1)
  for (let order = 100; order < 30_000; order++) experience(lanes, lane(order), fast)
  for (let order = 0; order < 100; order++) lanes.ended(lane(order), fast)
  assert.equal(lanes.inFlight, 0)
})
