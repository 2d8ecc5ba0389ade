// An upgrade as an operator makes it, under load: the gateway of another release serves on a filled database, the one of
// today migrates it and takes over, and everything that was acknowledged by either is compared with what is stored.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sandboxFilePath } from '../../packages/gateway/src/app/sandbox/sandbox-file.ts'
import { verifyLedger } from '../../packages/gateway/src/finance/overview/store/verify-ledger.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import type { Credentials } from '../../packages/sdk/src/credentials.ts'
import { Tillgate } from '../../packages/sdk/src/tillgate.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import { Site } from '../support/site.ts'
import { type EngineName, openEngine, type UpgradeEngine } from './engines.ts'
import { addPastOrders, countPast, removePastOrders } from './past-orders.ts'
import type { Release } from './release.ts'

export interface Upgrade {
  readonly home: string
  readonly release: Release
  /** The checkout of the newer release; this one, unless given. */
  readonly newTree?: string | undefined
  readonly engine: EngineName
  /** How many orders are stored beforehand. */
  readonly orders: number
  /** The old gateway ends before the new one starts; otherwise it serves until the new one is ready. */
  readonly stopFirst: boolean
  readonly shoppers: number
  /** Under load, before and after. */
  readonly seconds: number
  readonly tell: (line: string) => void
}

export interface Upgraded {
  readonly violations: readonly string[]
  readonly acknowledged: number
  readonly refunds: number
  readonly arrivals: number
  /** Between two creates that were acknowledged, whoever asked. */
  readonly longestPauseMs: { readonly before: number; readonly upgrade: number }
  /** From the start of the new gateway until it was ready. */
  readonly readyMs: number
  /** Migrations that took longest, the first with the program's start. Each is one transaction: no lock is held longer. */
  readonly slowest: readonly { readonly migration: string; readonly tookMs: number }[]
  /** Answers that a gateway must not give, and who gave them. */
  readonly failures: Readonly<Record<string, number>>
}

const readyWithinMs = 3_600_000

export async function runUpgrade(options: Upgrade): Promise<Upgraded> {
  const { home, release, orders, seconds, stopFirst, tell } = options
  const dataDir = join(home, 'data')
  const engine = await openEngine(options.engine, { home, dataDir })
  const { stored } = engine
  const environment = {
    ...engine.environment,
    DATA_DIR: dataDir,
    MASTER_KEY: randomBytes(32).toString('base64'),
    MERCHANT_REQUESTS_PER_SECOND: '5000',
  }
  const { tree } = release
  const before = await GatewayChild.make({ dataDir, environment, tree })
  const today = await GatewayChild.make({
    dataDir,
    environment,
    ...(options.newTree !== undefined && { tree: options.newTree }),
  })
  let site: Site | undefined
  try {
    before.start()
    await before.ready()
    let serving: 'the old gateway' | 'the new gateway' = 'the old gateway'
    const credentials = JSON.parse(await readFile(sandboxFilePath(dataDir), 'utf8')) as Credentials
    let merchant = new Tillgate(credentials)
    const failures: Record<string, number> = {}
    site = await Site.open({
      dataDir,
      name: 'upgrade',
      stored,
      merchant: () => merchant,
      // Counted, and asked again: the question is also whether anything is lost by it.
      bears({ code }) {
        if (code !== 50000) return false
        const what = `${code} by ${serving}`
        failures[what] = (failures[what] ?? 0) + 1
        return true
      },
    })
    const creates = watchCreates(site)
    const trouble = site.startLoad(options.shoppers)
    const underLoad = <Result>(work: Promise<Result>) => Promise.race([work, trouble])
    await underLoad(site.moreOrders(8 * options.shoppers))
    const past = await addPast({ engine, release, environment, orders, like: merchant.merchantId })
    tell(`${release.version} serves; stored besides: ${past.were}`)
    creates.longestMs()
    await underLoad(pause(seconds * 1_000))
    const beforeMs = creates.longestMs()

    if (stopFirst) await before.stop()
    const startedAtMs = Date.now()
    today.start()
    const readyMs = await underLoad(today.ready({ readyWithinMs }))
    merchant = new Tillgate({ ...credentials, gatewayUrl: today.url })
    // It answers what it has.
    await before.stop()
    serving = 'the new gateway'
    tell(`the newer gateway serves after ${Math.round(readyMs)} ms`)
    await underLoad(pause(seconds * 1_000))
    const upgradeMs = creates.longestMs()
    site.endLoad()

    const { findings } = await stored(verifyLedger)
    const pastNow = await stored((pool) => countPast(pool, past))
    await stored((pool) => removePastOrders(pool, past))
    const slowest = await stored((pool) => slowestMigrations(pool, startedAtMs))
    const violations = [
      ...findings.map(({ claim, examples }) => `not so: ${claim} (${examples.join(', ')})`),
      ...(pastNow === past.were ? [] : [`of the past there were ${past.were} and are ${pastNow}`]),
      ...(await site.check()),
      ...(await checkWayBack(before)),
    ]
    const { orders: acknowledged, refunds, arrivals } = site.figures()
    return {
      violations,
      acknowledged,
      refunds,
      arrivals,
      longestPauseMs: { before: beforeMs, upgrade: upgradeMs },
      readyMs: Math.round(readyMs),
      slowest,
      failures,
    }
  } finally {
    site?.close()
    await before.stop()
    await today.stop()
    await engine.close()
  }
}

async function addPast(parts: {
  readonly engine: UpgradeEngine
  readonly release: Release
  readonly environment: Readonly<Record<string, string>>
  readonly orders: number
  readonly like: string
}): Promise<{ readonly merchantId: string; readonly were: string }> {
  const { engine, release, environment, orders: count, like } = parts
  const { merchantId } = await release.addMerchant(environment, '--name', 'Past')
  await engine.stored((pool) => addPastOrders(pool, { merchantId, count }, { merchantId: like }))
  return { merchantId, were: await engine.stored((pool) => countPast(pool, { merchantId })) }
}

/** Looks at the journal all the time; asked, tells the longest time without a new order since it was asked last. */
function watchCreates(site: Site): { longestMs(): number } {
  let [seen, atMs, longest] = [0, performance.now(), 0]
  const look = () => {
    const now = performance.now()
    const { size } = site.journal.orders
    longest = Math.max(longest, now - atMs)
    if (size > seen) [seen, atMs] = [size, now]
  }
  setInterval(look, 5).unref()
  return {
    longestMs() {
      look()
      const told = Math.round(longest)
      longest = 0
      return told
    },
  }
}

/** The release before must say that this database is not for it any more, and end. */
async function checkWayBack(before: GatewayChild): Promise<string[]> {
  before.start()
  const said = await before.ready().then(
    () => 'it serves',
    (error: unknown) => String(error),
  )
  return /newer than this program/.test(said)
    ? []
    : [`the old gateway did not refuse the newer database: ${said.slice(-500)}`]
}

async function slowestMigrations(pool: Pool, startedAtMs: number): Promise<Upgraded['slowest']> {
  const { rows } = await pool.query<{ migration: string; took: string }>(
    `select * from (
       select lpad(number::text, 4, '0') || '-' || name as migration,
              applied_at - greatest($1::bigint, lag(applied_at) over (order by number)) as took
         from migrations) as each
      where took > 0
      order by took desc limit 5`,
    [startedAtMs],
  )
  return rows.map(({ migration, took }) => ({ migration, tookMs: Number(took) }))
}
