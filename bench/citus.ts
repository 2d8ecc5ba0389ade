// `TEST_CITUS_URLS="…" node bench/citus.ts [rounds] [seconds]`: orders created, paid, settled and their callbacks recorded
// on the spread tables of a cluster, and on plain ones of its coordinator alone, in turns; then the ratio, and the
// processor time of an order in this program, on the coordinator and on the workers, where all of them are on this Linux.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { makeUuid } from '@tillgate/protocol'
import pg from 'pg'
import { destinationIdOf } from '../packages/gateway/src/core/callbacks/store/destination-id.ts'
import { withDatabase } from '../packages/gateway/src/platform/database/connection.ts'
import { migrate } from '../packages/gateway/src/platform/database/migrate.ts'
import { openPool, type Pool } from '../packages/gateway/src/platform/database/pool.ts'
import { isTransient } from '../packages/gateway/src/platform/database/transient.ts'
import { systemClock } from '../packages/gateway/src/platform/runtime/clock.ts'
import { copyOnNodes, dropOnNodes } from '../packages/gateway/test/support/cluster.ts'
import { openMoney } from '../packages/gateway/test/support/money.ts'
import { command, migrationsFolder, startTestServer } from '../packages/gateway/test/support/server.ts'

const [rounds = 3, seconds = 10] = process.argv.slice(2).map(Number)
const merchantCount = 50
const consumers = 40
/** Of the times in /proc, on every Linux of today. */
const msPerTick = 10

const server = await startTestServer()
const nodes = [server.connection, ...server.workers]
const name = `bench_${process.pid}`
await copyOnNodes(nodes, { from: server.template, to: `${name}_spread` })
await command(server.connection, `create database ${name}_plain`)
const open = (database: string) => openPool(withDatabase(server.connection, database), { max: 10 })
const pools = { plain: open(`${name}_plain`), spread: open(`${name}_spread`) }
await migrate(pools.plain, migrationsFolder)

const postmasters = await Promise.all(nodes.map(postmasterOf))
const totals = { plain: 0, spread: 0 }
const spent = { plain: [0, 0, 0], spread: [0, 0, 0] }
try {
  const loads = { plain: await makeLoad(pools.plain), spread: await makeLoad(pools.spread) }
  for (let round = 1; round <= rounds; round++)
    for (const place of ['plain', 'spread'] as const) {
      const before = processorMs()
      const { paid, away, troubles } = await loads[place](seconds)
      totals[place] += paid
      spent[place] = processorMs().map((ms, index) => ms - (before[index] ?? 0) + (spent[place][index] ?? 0))
      console.log(
        `round ${round} ${place}: ${(paid / seconds).toFixed(1)} orders/s, ${away} away, ${troubles} wrong`,
      )
    }
  console.log(`spread over plain: ${(totals.spread / totals.plain).toFixed(2)}`)
  for (const place of ['plain', 'spread'] as const) {
    const [program, coordinator, workers] = spent[place].map((ms) => (ms / totals[place]).toFixed(2))
    console.log(`${place}, ms an order: program ${program}, coordinator ${coordinator}, workers ${workers}`)
  }
} finally {
  for (const pool of Object.values(pools)) await pool.close()
  await dropOnNodes(nodes, `${name}_spread`)
  await dropOnNodes([server.connection], `${name}_plain`)
  await server.stop()
}

/** Where orders of `openMoney` have their callbacks sent. */
const destination = {
  host: 'shop.example',
  destinationId: destinationIdOf({ callbackUrl: 'https://shop.example/callback', endpointId: undefined }),
}

async function makeLoad(pool: Pool) {
  const money = openMoney(pool, { clock: systemClock })
  const merchants = await Promise.all(Array.from({ length: merchantCount }, () => money.addMerchant()))
  const wallets = await Promise.all(Array.from({ length: consumers }, () => money.addWallet(10n ** 12n)))
  return async (forSeconds: number) => {
    const endsAtMs = Date.now() + forSeconds * 1000
    let paid = 0
    let away = 0
    let troubles = 0
    const count = (error: unknown) => {
      if (isTransient(error)) away += 1
      else if (troubles++ === 0) console.error(error)
    }
    const pay = async (walletId: string, index: number) => {
      for (let turn = index; Date.now() < endsAtMs; turn += consumers) {
        const merchant = merchants[turn % merchantCount]
        if (!merchant) continue
        try {
          const order = await money.addOrder(merchant, { amountMinor: 100n })
          await money.submitPayment({ ...order, walletId })
          await money.queryOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))
          paid += 1
        } catch (error) {
          count(error)
        }
      }
    }
    const settle = async () => {
      while (Date.now() < endsAtMs) if ((await money.settle().catch(count)) === 0) await pause()
    }
    const deliver = async () => {
      while (Date.now() < endsAtMs) {
        const nowMs = Date.now()
        const lanes = merchants.map(({ merchantId }) => ({ merchantId, ...destination, most: 20 }))
        const claim = { claimId: makeUuid(nowMs, randomBytes), claimedUntilMs: nowMs + 60_000 }
        const claimed = await money.callbackQueue
          .claim({ lanes, nowMs, probeUntilMs: nowMs, ...claim })
          .catch(count)
        if (!claimed || claimed.callbacks.length === 0) await pause()
        else
          await Promise.all(
            claimed.callbacks.map((callback) =>
              money.callbackOutcomes
                .record({
                  callback,
                  delivery: {
                    kind: 'answered',
                    httpStatus: 200,
                    durationMs: 1,
                    answer: Buffer.from('success'),
                  },
                  outcome: {
                    verdict: { kind: 'acknowledged', isWarned: false },
                    state: 'delivered',
                    nextAttemptAtMs: undefined,
                    isNewlyExhausted: false,
                    retriesMade: 0,
                  },
                  startedAtMs: nowMs,
                  nowMs,
                  emailsFor: () => [],
                })
                .catch(count),
            ),
          )
      }
    }
    await Promise.all([...wallets.map(pay), settle(), settle(), deliver()])
    return { paid, away, troubles: troubles + money.troubles.length }
  }
}

async function postmasterOf(node: pg.ClientConfig): Promise<string> {
  const client = new pg.Client(node)
  await client.connect()
  const { rows } = await client.query<{ pid: string }>(
    `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as pid`,
  )
  await client.end()
  return rows[0]?.pid ?? ''
}

/** Of this program, of the coordinator and of all workers: sessions that live, and those that ended. */
function processorMs(): [program: number, coordinator: number, workers: number] {
  const { user, system } = process.cpuUsage()
  const ticks = new Map<string, number>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const [, parent = '', ...fields] =
        /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]?.split(' ') ?? []
      const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(9, 13).map(Number)
      if (postmasters.includes(parent)) ticks.set(parent, (ticks.get(parent) ?? 0) + user + system)
      if (postmasters.includes(pid)) ticks.set(pid, (ticks.get(pid) ?? 0) + endedUser + endedSystem)
    } catch {
      // It is gone already.
    }
  const [coordinator = 0, ...workers] = postmasters.map((pid) => (ticks.get(pid) ?? 0) * msPerTick)
  return [(user + system) / 1000, coordinator, workers.reduce((sum, ms) => sum + ms, 0)]
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
