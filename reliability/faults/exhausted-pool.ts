// Too few connections: a tiny pool under many clients, a role that may open fewer than the pool wants, and somebody else
// who takes all that the role may have.

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { GatewayChild } from '../support/gateway-child.ts'
import { type OtherDatabase, openOtherDatabase } from '../support/other-database.ts'
import { type Fault, type FaultParts, readyzKeepsSaying, readyzSays, underLoad } from './fault.ts'

const connectionLimit = 6
const manyShoppers = 32
const takenForMs = 10_000
const noticedWithinMs = 20_000
const role = 'till_limited'

export const exhaustedPool: Fault = { name: 'exhausted pool', tools: [], run }

async function run({ home: dataDir, tell }: FaultParts): Promise<readonly string[]> {
  const database = await openOtherDatabase({ role, connectionLimit })
  try {
    const environment = { DATABASE_URL: database.url, DATABASE_POOL: '10' }
    const gateway = await GatewayChild.make({ dataDir, environment })
    gateway.start()
    await gateway.ready()
    const { stored } = database
    return await underLoad(
      { dataDir, gateway, name: 'exhausted pool', shoppers: manyShoppers, stored, tell },
      async (site) => {
        const during = 'many wait for few connections'
        const wrong = await readyzKeepsSaying(gateway, { isReady: true, forMs: takenForMs, while: during })
        await site.moreOrders(manyShoppers)
        return [...wrong, ...(await takeAll(gateway, database))]
      },
    )
  } finally {
    await database.close()
  }
}

/** Ends the gateway's sessions, and is quicker than it to open as many as the role may have. */
async function takeAll(gateway: GatewayChild, { url, stored }: OtherDatabase): Promise<string[]> {
  const taken: pg.Client[] = []
  const wrong: string[] = []
  try {
    while (taken.length < connectionLimit) {
      await stored((pool) =>
        pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where usename = $1 and application_name <> 'taker'`,
          [role],
        ),
      )
      const client = new pg.Client({ connectionString: url, application_name: 'taker' })
      client.on('error', () => {})
      // While the gateway is quicker, the next round ends its sessions again.
      if (
        await client.connect().then(
          () => true,
          () => false,
        )
      )
        taken.push(client)
      else await pause(10)
    }
    const during = 'somebody else has all the connections'
    wrong.push(...(await readyzSays(gateway, { isReady: false, withinMs: noticedWithinMs, while: during })))
    wrong.push(...(await readyzKeepsSaying(gateway, { isReady: false, forMs: takenForMs, while: during })))
  } finally {
    for (const client of taken) await client.end()
  }
  return wrong
}
