// The quick form of three faults, which needs no tools: a slow database over two connections, a network that is cut, and a
// process that stands still until its claims are over. `npm run faults` has them all, in their full length.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { emptyDataDir } from '../packages/gateway/test/support/data-dir.ts'
import { freshDatabase } from '../packages/gateway/test/support/database.ts'
import { urlOf } from '../packages/gateway/test/support/server.ts'
import { pauseOne } from './faults/paused-process.ts'
import { slow } from './faults/slow-database.ts'
import { startDelayingProxy } from './support/delaying-proxy.ts'
import { GatewayChild } from './support/gateway-child.ts'
import { Site } from './support/site.ts'

const { pool, connection } = await freshDatabase()
const proxy = await startDelayingProxy(urlOf(connection))
const dataDir = await emptyDataDir({ after })
const steady = await GatewayChild.make({
  dataDir,
  environment: { DATABASE_URL: proxy.url, DATABASE_POOL: '2' },
})
const paused = await GatewayChild.make({ dataDir, environment: { DATABASE_URL: urlOf(connection) } })
let site: Site
let trouble: Promise<never>

before(async () => {
  // The first keeps its address in the credentials while it serves: the shoppers go to the steady one.
  for (const gateway of [steady, paused]) {
    gateway.start()
    await gateway.ready()
  }
  site = await Site.open({ dataDir, name: 'quick', stored: (work) => work(pool) })
  trouble = site.startLoad(4)
})
after(async () => {
  site?.close()
  await Promise.all([steady.stop(), paused.stop()])
  proxy.close()
})

test('over two connections to a slow database it serves on, and says that it is ready', async () => {
  const wrong = await Promise.race([slow(site, { gateway: steady, proxy, delayMs: 40, forMs: 300 }), trouble])
  assert.deepEqual(wrong, [])
})

test('when the network to the database is cut, it comes back by itself', async () => {
  proxy.cut()
  await Promise.race([site.moreOrders(2), trouble])
  await steady.ready()
})

test('a process that stands still past its claims changes nothing that another has done meanwhile', async () => {
  const wrong = await Promise.race([
    pauseOne(site, { steady, paused, until: () => site.endClaims() }),
    trouble,
  ])
  assert.deepEqual(wrong, [])
})

test('after all of it everything is as it was told', async () => {
  site.endLoad()
  await site.endClaims()
  assert.deepEqual(await site.check(), [])
  assert.ok(site.journal.orders.size > 5)
})
