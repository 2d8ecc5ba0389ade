// What the model is held to: orders that arrive at one gateway at random moments, whether the ones before are answered or
// not, each a create, a payment and two callbacks, and what every part of it spends on them.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Pool as DatabasePool } from '../../packages/gateway/src/platform/database/pool.ts'
import { createBody } from '../bodies.ts'
import { quantile } from '../figures.ts'
import { load } from '../load.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { makeWorld, type Server, type World } from '../world.ts'

/** Processor time of an order, in milliseconds. */
export type Spent = Readonly<Record<'eventLoop' | 'threadPool' | 'database' | 'generator', number>>

export interface Level {
  readonly perSecond: number
  /** Until the last callback was delivered. Less than came, where that was too much. */
  readonly carriedPerSecond: number
  readonly transactionsAnOrder: number
  readonly spent: Spent
  readonly createMs: Quantiles
}

interface Quantiles {
  readonly p50: number
  readonly p95: number
}

const connections = 64
const callbacksAnOrder = 2
/** Outcomes of callbacks gather for so long before they are written down. */
const outcomesGatherMs = 500
const statisticsLateMs = 1_100

export async function measure(rates: readonly number[], { seconds }: { seconds: number }): Promise<Level[]> {
  const world = await makeWorld()
  const receiver = await startReceiver()
  try {
    const database = await world.freshDatabase()
    const gateway = await world.startGateway(database)
    const place = { world, receiver, gateway, watcher: world.openPool(database, 1) }
    // Until then the compiler is at work.
    for (const perSecond of [40, 80]) await runLevel(place, { perSecond, seconds: 5 })
    const levels: Level[] = []
    for (const perSecond of rates) levels.push(await runLevel(place, { perSecond, seconds }))
    return levels
  } finally {
    await receiver.stop()
    await world.clear()
    await world.close()
  }
}

interface Place {
  readonly world: World
  readonly receiver: Receiver
  readonly gateway: Server
  readonly watcher: DatabasePool
}

/** Pays orders that are there already, because a payment is signed with its order's id before any clock starts. */
async function runLevel(
  { world, receiver, gateway, watcher }: Place,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Level> {
  const count = Math.round(perSecond * seconds)
  const callbackUrl = `http://127.0.0.1:${receiver.port}/callbacks`
  const sealCreates = () =>
    world.sealMany(
      'service.trade.create',
      Array.from({ length: count }, () => createBody({ callbackUrl })),
    )
  const { answers } = await load(gateway.url, { requests: await sealCreates(), connections })
  const pays = await world.sealMany(
    'service.sandbox.pay',
    answers.map((text) => ({ paymentId: JSON.parse(text).data.paymentId, outcome: 'success' })),
  )
  const creates = await sealCreates()
  const allDelivered = receiver.spanOf(count * callbacksAnOrder)
  const pool = new Pool(gateway.url, { connections, pipelining: 1 })
  const transactionsBefore = await transactionsSoFar(watcher)
  const before = spentSoFar(world, gateway.pid)
  const createMs: number[] = []
  const began = performance.now()
  await atRandomMoments(count, perSecond, async (index, dueAt) => {
    await Promise.all([
      post(pool, creates[index] ?? '').then(() => createMs.push(performance.now() - dueAt)),
      post(pool, pays[index] ?? ''),
    ])
  })
  await allDelivered
  const carriedPerSecond = (count * 1_000) / (performance.now() - began)
  await pause(outcomesGatherMs)
  const after = spentSoFar(world, gateway.pid)
  const transactions = (await transactionsSoFar(watcher)) - transactionsBefore
  await pool.close()
  const each = (part: keyof Spent) => (after[part] - before[part]) / count
  return {
    perSecond,
    carriedPerSecond,
    transactionsAnOrder: transactions / count,
    spent: {
      eventLoop: each('eventLoop'),
      threadPool: each('threadPool'),
      database: each('database'),
      generator: each('generator'),
    },
    createMs: { p50: quantile(createMs, 0.5), p95: quantile(createMs, 0.95) },
  }
}

/** A Poisson stream. What is late is counted from when it was due. */
async function atRandomMoments(
  count: number,
  perSecond: number,
  act: (index: number, dueAt: number) => Promise<void>,
): Promise<void> {
  const acts: Promise<void>[] = []
  let dueAt = performance.now()
  for (let index = 0; index < count; index++) {
    dueAt += (-Math.log(1 - Math.random()) * 1_000) / perSecond
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await pause(waitMs)
    acts.push(act(index, dueAt))
  }
  await Promise.all(acts)
}

async function post(pool: Pool, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await pool.request({ path: '/api/v1/gateway', method: 'POST', headers, body })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}: ${text}`)
}

/** The event loop is the thread that has the process's own number; V8's threads, which work for it, count with it. */
function spentSoFar(world: World, pid: number): Spent {
  let [eventLoop, threadPool] = [0, 0]
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`
    const ms = Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1e6
    if (readFileSync(`${folder}/comm`, 'utf8').startsWith('libuv-worker')) threadPool += ms
    else eventLoop += ms
  }
  const { user, system } = process.cpuUsage()
  return { eventLoop, threadPool, database: world.postgresCpu() / 1_000, generator: (user + system) / 1_000 }
}

/** Sessions tell what they did after a second, or at once when they are asked again after it. */
async function transactionsSoFar(watcher: DatabasePool): Promise<number> {
  await pause(statisticsLateMs)
  const { rows } = await watcher.query<{ count: number }>(
    'select xact_commit::int as count from pg_stat_database where datname = current_database()',
  )
  return rows[0]?.count ?? Number.NaN
}
