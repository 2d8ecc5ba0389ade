// Payments with captureMode at Stripe: reserved, captured once however often it is asked for, and released.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { captureVersion } from '@tillgate/protocol'
import {
  ask,
  openWorld,
  railDatabaseUrl,
  refundMessage,
  type Start,
  sendCapture,
  startMessage,
  statusOf,
  type World,
} from '../../kit/test/world.ts'
import { stripeRail } from './stripe.ts'

const databaseUrl = await railDatabaseUrl()
const day = 24 * 60 * 60_000

async function reserve(world: World): Promise<Start> {
  const start = startMessage(world, { captureMode: 'manual' })
  assert.equal((await ask(world, start)).status, 'pending')
  await world.fake.consumer(start.transactionId, 'pays')
  assert.equal((await statusOf(world, start)).status, 'authorized')
  return start
}

const capture = (world: World, { transactionId, currency }: Start, number: number, final = true) =>
  sendCapture(world, {
    type: 'payment.capture',
    version: captureVersion,
    captureId: `${transactionId}C${number}`,
    transactionId,
    amount: '9.00',
    amountMinor: '900',
    currency,
    final,
  })

const release = (world: World, { transactionId }: Start) =>
  sendCapture(world, { type: 'payment.release', version: captureVersion, transactionId })

test('a capture whose response was lost is made once, also when Stripe has forgotten the key', async () => {
  const world = await openWorld(stripeRail, databaseUrl)
  try {
    const start = await reserve(world)
    assert.match((await capture(world, start, 1, false))?.reason ?? '', /once/)
    const { intercept } = world.fake
    world.fake.intercept = (name, when) => (name.includes('capture') && when === 'after' ? 'drop' : 'go on')
    assert.equal(await capture(world, start, 2), undefined)
    world.fake.intercept = intercept
    world.clock.nowMs += 2 * day
    assert.equal((await capture(world, start, 2))?.status, 'approved')
    assert.equal((await capture(world, start, 3))?.status, 'declined')
    assert.equal((await statusOf(world, start)).status, 'approved')
    // No more than was captured is given back.
    assert.equal((await ask(world, refundMessage(start, 901n))).status, 'declined')
    assert.equal((await ask(world, refundMessage(start, 900n))).status, 'approved')
    assert.equal((await release(world, start))?.status, 'approved')
  } finally {
    await world.close()
  }
})

test('what is released is cancelled, and cannot be captured', async () => {
  const world = await openWorld(stripeRail, databaseUrl)
  try {
    const start = await reserve(world)
    assert.equal((await release(world, start))?.status, 'cancelled')
    assert.equal((await release(world, start))?.status, 'cancelled')
    assert.equal((await capture(world, start, 1))?.status, 'declined')
    assert.equal((await statusOf(world, start)).status, 'cancelled')
  } finally {
    await world.close()
  }
})
