// One run: a seed, so many virtual days, two processes of the gateway over one real PostgreSQL, people and faults. Then
// everything is healed, the rest is waited for, and what must be true is checked.
import { createHash } from 'node:crypto'
import { makeUuid } from '@tillgate/protocol'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { Bookkeeper } from '../reconciliation/bookkeeper.ts'
import { SimulatedBank } from './bank.ts'
import { payAtLink } from './consumers/links.ts'
import { payInStore } from './consumers/scans.ts'
import { useWallet } from './consumers/wallets.ts'
import { countLockWaits, type Due, emptyTables, findDue, stateDigest } from './due.ts'
import { pauseEndpoints, resumeEndpoints } from './endpoints.ts'
import { Faults } from './faults.ts'
import { FeedReader } from './feed-reader.ts'
import { findViolations } from './invariants/violations.ts'
import { Journal } from './journal.ts'
import { InstalledKeys } from './keys/installed-keys.ts'
import { rotateKey } from './keys/rotate-key.ts'
import { SimulatedNetwork } from './network.ts'
import { Pace } from './pace.ts'
import { fund, liveOrder, type World } from './people.ts'
import { Processes } from './processes.ts'
import { SimulatedRail } from './rail.ts'
import { type Owner, Scheduler } from './scheduler.ts'
import { makeSeeded, type Seeded } from './seeded.ts'
import { settleIn, walletMinor } from './settle-in.ts'
import { VirtualTime } from './time.ts'
import { bookStatement, moveOwn } from './treasury/own-money.ts'
import { dealWithRuns, endPlans, payOut } from './treasury/payouts.ts'

export interface Run {
  readonly seed: number
  readonly days: number
}

export interface Ran {
  readonly violations: readonly string[]
  /** Equal for equal runs: every step in its order, and all that is stored at the end. */
  readonly digest: string
  /** Two statements waited for locks at once: the digest may differ between equal runs. */
  readonly isContended: boolean
  readonly steps: number
  readonly orders: number
  readonly arrivals: number
  /** Payments that the bank heard of. */
  readonly attempts: number
  readonly disputes: number
  /** Acknowledged movements of the operator's own money. */
  readonly ownMoves: number
  readonly faults: Faults['counts']
}

const dayMs = 24 * 60 * 60_000
const startMs = Date.UTC(2027, 0, 1)
const ordersPerDay = 0.5
/** Scans wait for each other’s rows, so runs of three days, whose every step is compared, have none. */
const scansPerDay = 1
/** Ladders of seven days, another seven for what never had a chance, and patience for the rest. */
const restWithinMs = 40 * dayMs

export async function runSeed(
  pool: Pool,
  { seed, days }: Run,
  note: (line: string) => void = () => {},
): Promise<Ran> {
  const seeded = makeSeeded(`tillgate ${seed}`)
  const hash = createHash('sha256')
  const time = new VirtualTime(startMs)
  const log = (line: string): void => {
    const whole = `${time.nowMs - startMs} ${line}`
    hash.update(`${whole}\n`)
    note(whole)
  }
  await emptyTables(pool)
  const faults = new Faults(seeded.stream('faults'))
  const rail = new SimulatedRail({ time, seeded: seeded.stream('rail') })
  const keys = new InstalledKeys()
  const network = new SimulatedNetwork({ time, seeded: seeded.stream('network'), keys })
  const worldOwner: Owner = { name: 'world', skewMs: 0, isAlive: true, isPaused: false }
  const bank = new SimulatedBank({ time, seeded: seeded.stream('bank'), world: worldOwner })
  const settled = await settleIn(pool, {
    seeded: seeded.stream('settling in'),
    network,
    bank,
    keys,
    nowMs: startMs,
  })
  const scheduler: Scheduler = new Scheduler({
    seeded: seeded.stream('scheduler'),
    countLockWaits: () => countLockWaits(pool),
    fateOf: () => faults.fate(),
    kill: (owner) => processes.kill(owner),
    standStill: (owner) => processes.standStill(owner),
    onTaken: (owner, label) => processes.onTaken(owner, label),
    note: log,
  })
  /** As long as nothing is stored, what is due stays the same. */
  let due: Due | undefined
  const deadlocks: string[] = []
  const processes = new Processes({
    pool,
    time,
    rail,
    network,
    bank,
    keys,
    faults,
    scheduler,
    worldOwner,
    seeded,
    onStored: () => {
      due = undefined
    },
    onDeadlock: (label) => deadlocks.push(`a transaction waited in a circle and was ended at ${label}`),
    note: log,
  })
  bank.tell = async (notification) => {
    const called = await processes.call((gateway) => gateway.handleRailNotification(notification))
    return called.kind === 'answered' ? called.value : 'lost'
  }
  const journal = new Journal()
  const world: World = {
    seeded,
    journal,
    ...settled,
    keys,
    now: () => time.nowMs + time.jumpedMs,
    sleep: (durationMs) => time.wait(worldOwner, durationMs),
    call: (ask) => processes.call(ask),
  }
  const endMs = startMs + days * dayMs
  const reader = new FeedReader(world)
  const bookkeeper = new Bookkeeper(world, bank)
  const lives = liveAll({ world, reader, bookkeeper }, { days, seeded: seeded.stream('plan') })
  let isHealed = false
  void time.wait(worldOwner, endMs - startMs).then(() => {
    log('all is healed')
    isHealed = true
    faults.isHealed = rail.isHealed = network.isHealed = bank.isHealed = true
    processes.heal()
  })

  const pace = new Pace({ time, awake: () => processes.awake, seeded: seeded.stream('pace') })
  for (;;) {
    await scheduler.runUntilIdle()
    due ??= await findDue(pool)
    const isAtRest = Object.values(due).every((dueMs) => dueMs === undefined)
    if (isHealed && lives.left === 0 && isAtRest && time.nextDueMs() === undefined) break
    if (time.nowMs > endMs + restWithinMs) break
    misbehave()
    pace.advance(due)
  }
  await reader.readRest(pool)
  await bookkeeper.finish(pool)
  const violations = await findViolations({
    pool,
    reader,
    bookkeeper,
    journal,
    network,
    rail,
    bank,
    walletMinor,
  })
  hash.update(await stateDigest(pool))
  return {
    violations: [...violations, ...new Set(keys.violations), ...deadlocks],
    digest: hash.digest('hex').slice(0, 16),
    isContended: scheduler.isContended,
    steps: scheduler.steps,
    orders: journal.orders.size,
    arrivals: network.arrivals.length,
    attempts: bank.payments.size,
    disputes: bank.disputes.all.size,
    ownMoves: journal.ownMoney.length,
    faults: faults.counts,
  }

  function misbehave(): void {
    const jumpMs = faults.jumpMs()
    if (jumpMs !== undefined) {
      log(`the clocks jump by ${jumpMs}`)
      time.jumpedMs += jumpMs
    }
    processes.maybePause()
  }
}

function liveAll(
  { world, reader, bookkeeper }: { world: World; reader: FeedReader; bookkeeper: Bookkeeper },
  { days, seeded }: { days: number; seeded: Seeded },
): { left: number } {
  const lives = { left: 0 }
  const live = async (atMs: number, story: () => Promise<void>): Promise<void> => {
    lives.left += 1
    await world.sleep(atMs)
    await story()
    lives.left -= 1
  }
  // Most come one by one, some in a rush.
  for (let index = 0; index < days * ordersPerDay; ) {
    const atMs = Math.floor(seeded.fraction() * (days - 1) * dayMs)
    for (let rush = seeded.isLucky(0.4) ? 3 : 1; rush > 0; rush--, index++)
      void live(atMs, liveOrder.bind(undefined, world, `order-${index}`))
  }
  for (let index = 0; index < days / 10; index++) {
    const idempotencyKey = makeUuid(startMs, (count) => seeded.bytes(count))
    void live(Math.floor(seeded.fraction() * days * dayMs), () => payOut(world, idempotencyKey))
    const fundId = makeUuid(startMs, (count) => seeded.bytes(count))
    void live(Math.floor(seeded.fraction() * days * dayMs), () => fund(world, fundId))
  }
  for (let day = 2; day < days; day += 3)
    void live(day * dayMs, dealWithRuns.bind(undefined, world, `runs of day ${day}`))
  void live(days * dayMs, () => endPlans(world))
  for (let day = 1; day < days - 1; day += 4)
    void live(day * dayMs, pauseEndpoints.bind(undefined, world, `endpoints of day ${day}`))
  for (let day = 0; day < days; day++) void live(day * dayMs, () => reader.follow(day))
  for (let day = 4; day < days; day += 5)
    void live(day * dayMs, () => bookkeeper.importStatement(`statement of day ${day}`))
  void live((days + 8) * dayMs, () => bookkeeper.importStatement('last statement'))
  void live((days + 1) * dayMs, () => resumeEndpoints(world))
  // Half of the merchants, each with all the time that it takes.
  for (const [index, shop] of world.merchants.entries())
    if (index % 2 === 0)
      void live(
        Math.floor(world.seeded.stream(`rotation ${index}`).fraction() * (days / 2) * dayMs),
        rotateKey.bind(undefined, world, `rotation ${index}`, shop),
      )
  for (let index = 0; index < days / 10; index++)
    void live(Math.floor(seeded.fraction() * (days - 1) * dayMs), () => payAtLink(world, `link-${index}`))
  for (let index = 0; index < days / 6; index++)
    void live(Math.floor(seeded.fraction() * (days - 2) * dayMs), () => useWallet(world, `wallet-${index}`))
  for (let index = 0; index < days / 3; index++) {
    const ownId = makeUuid(startMs, (count) => seeded.bytes(count))
    void live(Math.floor(seeded.fraction() * days * dayMs), () => moveOwn(world, ownId))
  }
  for (let index = 0; index < (days - 3) * scansPerDay; index++)
    void live(Math.floor(seeded.fraction() * (days - 1) * dayMs), () => payInStore(world, `scan-${index}`))
  for (let day = 3; day < days; day += 4)
    void live(day * dayMs, () => bookStatement(world, `own statement of day ${day}`))
  return lives
}
