// What the queue of callbacks costs: a gateway with 5,000 of them waiting for a healthy receiver, beside the very same
// deliveries with no queue at all, and beside pg-boss in batches with the same handler. Each is a process of its own,
// because neighbours in one heap pay for each other's garbage; what counts is when they arrive.
import { setTimeout as pause } from 'node:timers/promises'
import { bossQueue, openBoss } from '../boss.ts'
import { makeBody, makeDeliveryWorld } from '../delivery-world.ts'
import { inTurn, median } from '../figures.ts'
import { startReceiver } from '../receiver.ts'
import { atLeast, type Scenario } from '../scenario.ts'
import type { SenderName } from '../servers/sender.ts'
import { ensureYardsticks } from '../yardsticks.ts'

export const delivery: Scenario = {
  name: 'callback delivery, 5,000 waiting',
  yardstick: 'sign and POST with no queue, 64 in flight',
  goal: atLeast(0.97),
  async run(world, size) {
    ensureYardsticks()
    const database = await world.freshDatabase()
    const pool = world.openPool(database)
    const parts = await makeDeliveryWorld(world, pool)
    const receiver = await startReceiver()
    const url = `http://127.0.0.1:${receiver.port}/callbacks`
    const boss = await openBoss(world.urlOf(database))
    await boss.createQueue(bossQueue)
    const gateway = await world.startGateway(database)
    const startSender = (sender: SenderName) => world.startSender(database, { sender, url })
    const senders = { bare: await startSender('bare'), boss: await startSender('boss') }
    const count = size.of(5_000, 500)
    /** Longer than it takes to write them. */
    const dueAfterMs = size.of(3_000, 1_000)
    const waiting = Array.from({ length: count }, () => ({ merchantId: world.merchantId, callbackUrl: url }))
    const send = async (sender: SenderName): Promise<number> => {
      const span = receiver.spanOf(count)
      await senders[sender].deliver(count)
      return span
    }
    const contenders = {
      /** Stopped while others are measured: it has other work, which would be theirs to bear. */
      async ours() {
        process.kill(gateway.pid, 'SIGCONT')
        const span = receiver.spanOf(count)
        // Due all at once when they are all there, and the database has rested.
        await parts.fill(waiting, Date.now() + dueAfterMs)
        const spanMs = await span
        // What is not written down is not done.
        while ((await pool.query('select from callback_queue limit 1')).rowCount !== 0) await pause(10)
        process.kill(gateway.pid, 'SIGSTOP')
        return spanMs
      },
      bare: () => send('bare'),
      async boss() {
        const jobs = Array.from({ length: count }, () => ({ data: { body: makeBody() } }))
        await boss.insert(bossQueue, jobs)
        return send('boss')
      },
    }
    // Until then the compiler is at work, on the larger program for longer.
    await inTurn(size.of(3, 1), contenders)
    // As many as that: on a machine with neighbours a single turn is off by up to 3 %.
    const times = await inTurn(size.of(7, 3), contenders)
    await boss.stop({ graceful: false })
    await parts.close()
    await receiver.stop()
    const rate = (name: keyof typeof times) => (count * 1_000) / median(times[name])
    const ratioTo = (name: SenderName) =>
      median(times.ours.map((ms, round) => (times[name][round] ?? Number.NaN) / ms))
    const ours = `${rate('ours').toFixed(0)}/s`
    return [
      { ratio: ratioTo('bare'), ours, yardstick: `${rate('bare').toFixed(0)}/s` },
      {
        part: 'beside pg-boss',
        goal: atLeast(1),
        ratio: ratioTo('boss'),
        ours,
        yardstick: `${rate('boss').toFixed(0)}/s`,
      },
    ]
  },
}
