// What the queue of callbacks costs: deliveries to a healthy receiver with 10,000 waiting, beside the very same
// deliveries with no queue at all, and beside pg-boss in batches with the same handler.
import { setTimeout as pause } from 'node:timers/promises'
import { type DeliveryWorld, inFlight, makeDeliveryWorld } from '../delivery-world.ts'
import { inTurn, median, timed } from '../figures.ts'
import { startReceiver } from '../receiver.ts'
import { atLeast, type Scenario } from '../scenario.ts'
import { ensureYardsticks, importYardstick } from '../yardsticks.ts'

export const delivery: Scenario = {
  name: 'callback delivery, 10,000 waiting',
  yardstick: 'sign and POST with no queue, 64 in flight',
  goal: atLeast(0.97),
  async run(world, size) {
    const database = await world.freshDatabase()
    const receiver = await startReceiver()
    const url = `http://127.0.0.1:${receiver.port}/callbacks`
    const parts = await makeDeliveryWorld(world, world.openPool(database))
    const boss = await startBoss(world.urlOf(database), () => parts.sealAndPost(url))
    const rounds = 3
    const perRound = size.of(2_500, 500)
    const fill = (count: number) =>
      parts.fill(Array.from({ length: count }, () => ({ merchantId: world.merchantId, callbackUrl: url })))
    await fill(size.of(10_000, 1_500))
    const contenders = {
      async ours() {
        const { tookMs, done } = await throughQueue(parts, perRound)
        await fill(done)
        return (tookMs * perRound) / done
      },
      bare: () => withoutQueue(parts, { url, count: perRound }),
      async boss() {
        await boss.fill(perRound)
        return boss.work(perRound)
      },
    }
    // Until then the compiler is at work, on the larger program for longer.
    for (let warm = 0; warm < size.of(2, 0); warm++) await contenders.ours()
    await inTurn(1, contenders)
    const times = await inTurn(rounds, contenders)
    await boss.stop()
    await parts.close()
    await receiver.stop()
    const rate = (name: keyof typeof times) => (perRound * 1_000) / median(times[name])
    const ratioTo = (name: 'bare' | 'boss') =>
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

/** With its stop, after which all that was sent is recorded: what is not written down is not done. */
async function throughQueue(parts: DeliveryWorld, count: number): Promise<{ tookMs: number; done: number }> {
  const worker = parts.startWorker()
  const tookMs = await timed(async () => {
    while (worker.counts().acknowledged < count) await pause(10)
    await worker.stop()
  })
  return { tookMs, done: worker.counts().acknowledged }
}

function withoutQueue(parts: DeliveryWorld, { url, count }: { url: string; count: number }): Promise<number> {
  let left = count
  const lane = async (): Promise<void> => {
    while (left-- > 0) await parts.sealAndPost(url)
  }
  return timed(() => Promise.all(Array.from({ length: inFlight }, lane)))
}

interface Boss {
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string): Promise<void>
  insert(name: string, jobs: readonly object[]): Promise<unknown>
  fetch(name: string, options: { batchSize: number }): Promise<{ id: string }[]>
  complete(name: string, ids: readonly string[]): Promise<unknown>
}

/** Its own worker waits between batches; claiming the next ones while one is worked on is the best it can do. */
async function startBoss(connectionString: string, handle: () => Promise<void>) {
  ensureYardsticks()
  const { PgBoss } = await importYardstick<{ PgBoss: new (options: object) => Boss }>('pg-boss')
  const boss = new PgBoss({ connectionString, max: 10, supervise: false, schedule: false })
  await boss.start()
  await boss.createQueue(queueName)
  return {
    async fill(count: number): Promise<void> {
      const body = 'x'.repeat(1_000)
      for (let left = count; left > 0; left -= 1_000) {
        const jobs = Array.from({ length: Math.min(left, 1_000) }, () => ({ data: { body } }))
        await boss.insert(queueName, jobs)
      }
    },
    work(count: number): Promise<number> {
      let left = count
      const lane = async (): Promise<void> => {
        while (left > 0) {
          const batchSize = Math.min(bossBatch, left)
          left -= batchSize
          const jobs = await boss.fetch(queueName, { batchSize })
          await Promise.all(jobs.map(handle))
          await boss.complete(
            queueName,
            jobs.map(({ id }) => id),
          )
        }
      }
      return timed(() => Promise.all(Array.from({ length: bossLanes }, lane)))
    },
    stop: () => boss.stop({ graceful: false }),
  }
}

const queueName = 'callbacks'
const bossBatch = 32
const bossLanes = 4
