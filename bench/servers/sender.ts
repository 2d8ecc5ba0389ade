// Other ways of delivering callbacks, each as a child of a benchmark: told how many, it sends them, and says so.
import { openPool } from '../../packages/gateway/src/platform/database/pool.ts'
import { bossQueue, openBoss } from '../boss.ts'
import { inFlight, makeBody, makeDeliveryWorld } from '../delivery-world.ts'

export type SenderName = 'bare' | 'boss'

type Deliver = (count: number) => Promise<unknown>

const { sender, url, databaseUrl, merchantId, masterKey, publicKey } = JSON.parse(
  process.env['BENCH'] ?? '{}',
)
const pool = openPool({ connectionString: databaseUrl }, { max: 10 })
const parts = await makeDeliveryWorld(
  { merchantId, masterKey: Buffer.from(masterKey, 'base64'), publicKey },
  pool,
)
const senders: Record<SenderName, () => Deliver | Promise<Deliver>> = {
  bare: () => withoutQueue,
  boss: throughBoss,
}
const deliver = await senders[sender as SenderName]()
process.on('message', async (count: number) => {
  await deliver(count)
  process.send?.('sent')
})
process.once('SIGTERM', () => process.exit(0))
process.send?.('ready')

function withoutQueue(count: number): Promise<unknown> {
  const bodies = Array.from({ length: count }, makeBody)
  const lane = async (): Promise<void> => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) await parts.sealAndPost(url, body)
  }
  return Promise.all(Array.from({ length: inFlight }, lane))
}

/** Its own worker waits between batches; claiming the next ones while one is worked on is the best it can do. */
async function throughBoss(): Promise<Deliver> {
  const boss = await openBoss(databaseUrl)
  const batchMax = 32
  const lanes = 4
  return (count) => {
    let left = count
    const lane = async (): Promise<void> => {
      while (left > 0) {
        const batchSize = Math.min(batchMax, left)
        left -= batchSize
        const jobs = await boss.fetch(bossQueue, { batchSize })
        await Promise.all(jobs.map(({ data }) => parts.sealAndPost(url, data.body)))
        await boss.complete(
          bossQueue,
          jobs.map(({ id }) => id),
        )
      }
    }
    return Promise.all(Array.from({ length: lanes }, lane))
  }
}
