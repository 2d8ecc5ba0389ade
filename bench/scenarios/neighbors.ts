// Whether a healthy destination notices a failing one on its host: two paid orders a second, every other one with a
// callbackUrl that always answers HTTP 500. The yardstick gets only the orders of the healthy destination. Both gateways
// run at the same time, so that other work on the machine delays both alike.
import { setTimeout as pause } from 'node:timers/promises'
import { createBody } from '../bodies.ts'
import { quantile } from '../figures.ts'
import { load } from '../load.ts'
import { startReceiver } from '../receiver.ts'
import { atMost, type Scenario } from '../scenario.ts'
import type { World } from '../world.ts'

const ordersPerSecond = 2
/** The first payments compile code and open connections. */
const warmUpMs = 5_000

export const neighbors: Scenario = {
  name: 'first attempt beside a failing destination on the same host, p99',
  yardstick: 'without the failing destination',
  goal: atMost(2),
  async run(world, size) {
    const minutes = size.minutes ?? size.of(10, 1)
    const receiver = await startReceiver()
    const host = `http://127.0.0.1:${receiver.port}`
    const [beside, alone] = await Promise.all([
      measure(world, { minutes, host, failingPath: '/failing' }),
      measure(world, { minutes, host, failingPath: undefined }),
    ])
    await receiver.stop()
    const [besideMs, aloneMs] = [quantile(beside.delaysMs, 0.99), quantile(alone.delaysMs, 0.99)]
    return [
      {
        ratio: besideMs / aloneMs,
        ours: `${besideMs} ms`,
        yardstick: `${aloneMs} ms`,
        note:
          `${minutes} min; p50 ${quantile(beside.delaysMs, 0.5)} ms beside ${quantile(alone.delaysMs, 0.5)} ms; ` +
          `${beside.delaysMs.length} callbacks to the healthy destination, ${beside.failed} failed attempts at the other`,
      },
    ]
  },
}

interface Run {
  readonly minutes: number
  readonly host: string
  /** Undefined: these orders are left out. */
  readonly failingPath: string | undefined
}

async function measure(world: World, { minutes, host, failingPath }: Run) {
  const database = await world.freshDatabase()
  const { url } = await world.startGateway(database)
  const healthyUrl = `${host}/healthy`
  const began = performance.now()
  const measuredFromMs = Date.now() + warmUpMs
  const endMs = began + warmUpMs + minutes * 60_000
  const paying: Promise<void>[] = []
  for (let order = 0; performance.now() < endMs; order++) {
    const callbackUrl = order % 2 === 0 ? healthyUrl : failingPath && `${host}${failingPath}`
    if (callbackUrl) paying.push(pay(world, url, callbackUrl))
    await pause(began + ((order + 1) * 1_000) / ordersPerSecond - performance.now())
  }
  await Promise.all(paying)
  const pool = world.openPool(database)
  const { rows } = await pool.query<{ delay: number }>(delaysSql, [healthyUrl, measuredFromMs, Date.now()])
  const { rows: failed } = await pool.query<{ count: number }>(failedSql)
  return { delaysMs: rows.map(({ delay }) => Number(delay)), failed: Number(failed[0]?.count) }
}

/** A callback that is still waiting counts with the time that it has waited. */
const delaysSql = `
select coalesce(a.started_at, $3::bigint) - c.created_at as delay
  from callbacks c
  left join callback_attempts a on a.merchant_id = c.merchant_id and a.callback_id = c.callback_id and a.attempt = 1
 where c.callback_url = $1 and c.created_at >= $2::bigint`

const failedSql = `select count(*) as count from callback_attempts where outcome <> 'acknowledged'`

async function pay(world: World, url: string, callbackUrl: string): Promise<void> {
  const send = async (method: Parameters<World['seal']>[0], body: object): Promise<{ paymentId: string }> => {
    const { answers } = await load(url, { requests: [await world.seal(method, body)], connections: 1 })
    const { code, msg, data } = JSON.parse(answers[0] ?? '')
    if (code !== 20000) throw new Error(msg)
    return data
  }
  const { paymentId } = await send('service.trade.create', createBody({ callbackUrl }))
  await send('service.sandbox.pay', { paymentId, outcome: 'success' })
}
