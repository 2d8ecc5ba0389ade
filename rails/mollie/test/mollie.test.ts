import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testRail } from '../../kit/test/battery.ts'
import { ask, openWorld, railDatabaseUrl, startMessage, statusOf } from '../../kit/test/world.ts'
import { type FakeMollie, openFakeMollie } from './fake-mollie.ts'
import { mollieRail } from './mollie.ts'

await testRail(mollieRail)

const databaseUrl = await railDatabaseUrl()

/** Mollie cancels few payments on request. The others stay open until they expire. */
async function cancelledAndStillOpen() {
  const fakes: FakeMollie[] = []
  const world = await openWorld(
    {
      ...mollieRail,
      async openFake(clock) {
        const fake = await openFakeMollie(clock)
        fakes.push(fake)
        return fake
      },
    },
    databaseUrl,
  )
  const [fake] = fakes
  assert(fake)
  fake.cancelable = false
  const start = startMessage(world)
  const { transactionId } = start
  await ask(world, start)
  assert.equal((await ask(world, { type: 'payment.cancel', transactionId })).status, 'cancelled')
  return { world, fake, start, transactionId }
}

test('mollie: money for a cancelled payment is reported, even if the webhook was lost', async () => {
  const { world, fake, start, transactionId } = await cancelledAndStillOpen()
  fake.webhookUrl = undefined
  await fake.consumer(transactionId, 'pays')
  assert.equal((await statusOf(world, start)).status, 'cancelled')
  world.clock.nowMs += 61_000
  await world.rail.work()
  assert.deepEqual(world.gateway.notifications, [{ type: 'payment.changed', transactionId }])
  assert.equal((await statusOf(world, start)).status, 'approved')
  await world.close()
})

test('mollie: a cancelled payment is queried until Mollie has ended it', async () => {
  const { world, fake, start } = await cancelledAndStillOpen()
  const looks = async () => {
    const before = fake.calls.length
    world.clock.nowMs += 61_000
    await world.rail.work()
    return fake.calls.length - before
  }
  assert.deepEqual([await looks(), await looks()], [1, 1])
  fake.expireAll()
  assert.deepEqual([await looks(), await looks()], [1, 0])
  assert.equal((await statusOf(world, start)).status, 'cancelled')
  assert.deepEqual(world.gateway.notifications, [])
  await world.close()
})
