// The real program for a long time under an even load of everything that the kill cycles' shoppers do: what it takes in
// memory, handles, connections and disk must stay in proportion, and in the end all must be as it was told.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { median } from '../../bench/figures.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { CrashBank } from '../crash/bank.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import { residentMegabytes } from '../support/resident.ts'
import { Site } from '../support/site.ts'
import { debuggerOptions, type LiveHeap, openLiveHeap } from './live-heap.ts'

export interface Soak {
  readonly dataDir: string
  /** How often everything is looked at, and how far apart. */
  readonly looks: number
  readonly lookEveryMs: number
  readonly shoppers: number
  readonly tell?: (line: string) => void
}

export interface Soaked {
  readonly violations: readonly string[]
  readonly orders: number
  readonly ordersPerSecond: number
  /** Of one processor, by the gateway's process. */
  readonly processorShare: number
  /** What the program still holds of each order that was made after a third of the time: until then caches fill. */
  readonly heldBytesAnOrder: number
  readonly first: Look
  readonly last: Look
}

interface Look {
  readonly orders: number
  /** What it takes of the machine's memory. */
  readonly megabytes: number
  readonly handles: number
  readonly connections: number
  readonly storedBytes: number
  readonly rows: number
  /** Which vacuum has yet to take away. */
  readonly deadRows: number
}

/** Within a look memory goes up and down with the collector: the least of so many counts. */
const readingsPerLook = 10
const ticksPerSecond = 100
const mostMoreHandles = 20
/** The smallest thing that could be kept of an order is larger. */
const mostBytesAnOrder = 16
/** It goes up and down with the collector. */
const mostMoreMemory = 1.15
const mostMoreConnections = 4
/** Beside this share of all rows: in small tables vacuum has no reason to begin. */
const fewDeadRows = 5_000
const mostDeadShare = 0.3

export async function runSoak({
  dataDir,
  looks,
  lookEveryMs,
  shoppers,
  tell = () => {},
}: Soak): Promise<Soaked> {
  const gateway = await GatewayChild.make({
    dataDir,
    environment: { MERCHANT_REQUESTS_PER_SECOND: '5000', NODE_OPTIONS: debuggerOptions },
  })
  let heap: LiveHeap | undefined
  let site: Site | undefined
  let bank: CrashBank | undefined
  try {
    gateway.start()
    await gateway.ready()
    heap = await openLiveHeap(gateway.output)
    bank = await CrashBank.open({ DATA_DIR: dataDir })
    site = await Site.open({ dataDir, name: 'soak', bank })
    const began = { atMs: performance.now(), seconds: processorSeconds(gateway.pid) }
    const trouble = site.startLoad(shoppers)
    const seen: Look[] = []
    const settledAfter = Math.floor(looks / 3)
    let settled = { bytes: 0, orders: 0 }
    while (seen.length < looks) {
      if (seen.length === settledAfter)
        settled = { bytes: await heap.heldBytes(), orders: site.journal.orders.size }
      const look = await Promise.race([lookAt(site, { gateway, lookEveryMs }), trouble])
      seen.push(look)
      tell(JSON.stringify(look))
    }
    const heldBytesAnOrder =
      ((await heap.heldBytes()) - settled.bytes) / (site.journal.orders.size - settled.orders)
    const seconds = (performance.now() - began.atMs) / 1_000
    const processorShare = (processorSeconds(gateway.pid) - began.seconds) / seconds
    site.endLoad()
    const [first, last] = [seen[settledAfter], seen.at(-1)]
    if (!first || !last) throw new Error('there was no time to look')
    return {
      violations: [...grown(first, last, heldBytesAnOrder), ...(await site.check())],
      orders: last.orders,
      ordersPerSecond: last.orders / seconds,
      processorShare,
      heldBytesAnOrder,
      first,
      last,
    }
  } finally {
    heap?.close()
    await gateway.stop()
    site?.close()
    bank?.close()
  }
}

async function lookAt(
  site: Site,
  { gateway, lookEveryMs }: { gateway: GatewayChild; lookEveryMs: number },
): Promise<Look> {
  const megabytes: number[] = []
  const handles: number[] = []
  for (let reading = 0; reading < readingsPerLook; reading++) {
    await pause(lookEveryMs / readingsPerLook)
    megabytes.push(residentMegabytes(gateway.pid))
    handles.push(readdirSync(`/proc/${gateway.pid}/fd`).length)
  }
  return {
    orders: site.journal.orders.size,
    megabytes: Math.min(...megabytes),
    handles: median(handles),
    ...(await site.stored(storedNow)),
  }
}

async function storedNow(pool: Pool): Promise<Omit<Look, 'orders' | 'megabytes' | 'handles'>> {
  const { rows } = await pool.query<{ connections: number; bytes: string; rows: number; dead: number }>(
    `select (select count(*)::integer from pg_stat_activity where backend_type = 'client backend') connections,
            (select sum(pg_total_relation_size(relid)) from pg_stat_user_tables) bytes,
            (select sum(n_live_tup + n_dead_tup)::float8 from pg_stat_user_tables) rows,
            (select sum(n_dead_tup)::float8 from pg_stat_user_tables) dead`,
  )
  const [row] = rows
  if (!row) throw new Error('a query without a table has one row')
  return { connections: row.connections, storedBytes: Number(row.bytes), rows: row.rows, deadRows: row.dead }
}

function grown(first: Look, last: Look, heldBytesAnOrder: number): string[] {
  const perOrder = ({ storedBytes, orders }: Look) => storedBytes / orders
  const wrong: [boolean, string][] = [
    [heldBytesAnOrder > mostBytesAnOrder, `memory: of each order ${heldBytesAnOrder.toFixed(1)} bytes stay`],
    [
      last.megabytes > first.megabytes * mostMoreMemory,
      `memory of the machine: ${first.megabytes} MB became ${last.megabytes}`,
    ],
    [last.handles > first.handles + mostMoreHandles, `${first.handles} open files became ${last.handles}`],
    [
      last.connections > first.connections + mostMoreConnections,
      `${first.connections} connections became ${last.connections}`,
    ],
    [perOrder(last) > perOrder(first), 'an order takes more room on the disk than at the beginning'],
    [
      last.deadRows > fewDeadRows + mostDeadShare * last.rows,
      `${last.deadRows} of ${last.rows} rows wait for vacuum`,
    ],
  ]
  return wrong.filter(([isSo]) => isSo).map(([, words]) => words)
}

function processorSeconds(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user = '0', system = '0'] = fields.split(' ').slice(11)
  return (Number(user) + Number(system)) / ticksPerSecond
}
