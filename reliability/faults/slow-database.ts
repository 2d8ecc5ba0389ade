// The network to the database becomes slow, then swallows everything, then is cut; then it is well again.
import { setTimeout as pause } from 'node:timers/promises'
import { type DelayingProxy, startDelayingProxy } from '../support/delaying-proxy.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import { openOtherDatabase } from '../support/other-database.ts'
import type { Site } from '../support/site.ts'
import { type Fault, type FaultParts, readyzKeepsSaying, readyzSays, underLoad } from './fault.ts'

const slowForMs = 15_000
const holeForMs = 30_000
/** The gateway waits 12 seconds for an answer. */
const noticedWithinMs = 20_000

export const slowDatabase: Fault = { name: 'slow database', tools: [], run }

async function run({ home: dataDir, tell }: FaultParts): Promise<readonly string[]> {
  const database = await openOtherDatabase()
  const proxy = await startDelayingProxy(database.url)
  const environment = { DATABASE_URL: proxy.url }
  const gateway = await GatewayChild.make({ dataDir, environment })
  try {
    gateway.start()
    await gateway.ready()
    const stored = database.stored
    return await underLoad({ dataDir, gateway, name: 'slow database', stored, tell }, async (site) => [
      ...(await slow(site, { gateway, proxy, delayMs: 100, forMs: slowForMs })),
      ...(await slow(site, { gateway, proxy, delayMs: 400, forMs: slowForMs })),
      ...(await swallow(gateway, proxy)),
    ])
  } finally {
    proxy.close()
    await database.close()
  }
}

/** Slow is not away: it serves on, and says so. */
export async function slow(
  site: Pick<Site, 'moreOrders'>,
  options: { gateway: GatewayChild; proxy: DelayingProxy; delayMs: number; forMs: number },
): Promise<string[]> {
  const { gateway, proxy, delayMs, forMs } = options
  proxy.delayMs = delayMs
  const said = { isReady: true, forMs, while: `the database answers after ${delayMs} ms` }
  const wrong = await readyzKeepsSaying(gateway, said)
  await site.moreOrders(2)
  proxy.delayMs = 0
  return wrong
}

async function swallow(gateway: GatewayChild, proxy: DelayingProxy): Promise<string[]> {
  proxy.isHole = true
  const during = 'nothing reaches the database'
  const wrong = await readyzSays(gateway, { isReady: false, withinMs: noticedWithinMs, while: during })
  wrong.push(...(await readyzKeepsSaying(gateway, { isReady: false, forMs: holeForMs, while: during })))
  proxy.cut()
  await pause(1_000)
  proxy.isHole = false
  return wrong
}
