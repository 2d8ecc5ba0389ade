// Kill cycles: the real program under load, killed again and again at moments that the seed picks.
import { setTimeout as pause } from 'node:timers/promises'
import { startEmbedded } from '../../packages/gateway/src/database/embedded.ts'
import { openPool, type Pool } from '../../packages/gateway/src/database/pool.ts'
import { sandboxFilePath } from '../../packages/gateway/src/sandbox-file.ts'
import { Tillgate } from '../../packages/sdk/src/tillgate.ts'
import { Journal } from '../simulation/journal.ts'
import { makeSeeded } from '../simulation/seeded.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import { countWork, endClaims, findCrashViolations } from './check.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { shop } from './shopper.ts'
import { killOne, type Victim } from './victims.ts'

export interface Cycles {
  readonly dataDir: string
  readonly cycles: number
  readonly seed: number
  readonly shoppers: number
  /** Instead of waiting until the claims of the dead run out. */
  readonly endsClaims: boolean
  readonly tell?: (line: string) => void
}

export interface Cycled {
  readonly violations: readonly string[]
  readonly orders: number
  readonly refunds: number
  readonly arrivals: number
  readonly repeated: number
  readonly victims: Readonly<Record<Victim, number>>
  readonly recoveryMs: { readonly median: number; readonly longest: number }
}

const restWithinMs = 150_000
const lookEveryMs = 50

export async function runCycles(options: Cycles): Promise<Cycled> {
  const { dataDir, cycles, seed, tell = () => {} } = options
  const seeded = makeSeeded(`crash ${seed}`)
  const gateway = await GatewayChild.make({ dataDir, environment: { MERCHANT_REQUESTS_PER_SECOND: '5000' } })
  const journal = new Journal()
  const victims = { gateway: 0, postmaster: 0, backend: 0, both: 0 }
  const recoveriesMs: number[] = []
  let receiver: Receiver | undefined
  try {
    gateway.start()
    await gateway.ready()
    const tillgate = Tillgate.fromFile(sandboxFilePath(dataDir))
    const merchant = () => tillgate
    receiver = await startReceiver(merchant)
    let isOver = false
    const parts = { merchant, journal, callbackUrl: receiver.url, name: `s${seed}`, isOver: () => isOver }
    const load = Promise.all(Array.from({ length: options.shoppers }, (_, index) => shop(parts, index)))
    // A shopper that gives up ends the run at once, not after the last cycle.
    const trouble = load.then(() => new Promise<never>(() => {}))
    for (let cycle = 1; cycle <= cycles; cycle++) {
      const told = await Promise.race([oneCycle(), trouble])
      tell(`${cycle} of ${cycles}: ${journal.orders.size} orders acknowledged; ${told}`)
    }
    isOver = true
    if (!options.endsClaims) await load
    return await conclude(receiver, load)
  } finally {
    await gateway.stop()
    receiver?.close()
  }

  async function oneCycle(): Promise<string> {
    const enough = journal.orders.size + seeded.whole(1, options.shoppers)
    while (journal.orders.size < enough) await pause(lookEveryMs / 10)
    await pause(seeded.whole(0, 400))
    const victim = await killOne(gateway, { dataDir, seeded })
    victims[victim] += 1
    const tookMs = await gateway.ready()
    recoveriesMs.push(tookMs)
    return `${victim} killed, ready again after ${Math.round(tookMs)} ms`
  }

  async function conclude(listener: Receiver, load: Promise<unknown>): Promise<Cycled> {
    // Only now: while we held a share of the server, it would not have been the gateway that brought it back.
    const embedded = await startEmbedded({ dataDir })
    const pool = openPool(embedded.connection)
    try {
      await untilAtRest(pool, load)
      const sorted = recoveriesMs.toSorted((a, b) => a - b)
      return {
        violations: await findCrashViolations(pool, { journal, receiver: listener }),
        orders: journal.orders.size,
        refunds: journal.refunds.size,
        arrivals: listener.arrivals.size,
        repeated: [...listener.arrivals.values()].filter((times) => times > 1).length,
        victims,
        recoveryMs: { median: sorted[sorted.length >> 1] ?? 0, longest: sorted.at(-1) ?? 0 },
      }
    } finally {
      await pool.close()
      await gateway.stop()
      await embedded.stop()
    }
  }

  async function untilAtRest(pool: Pool, load: Promise<unknown>): Promise<void> {
    let isLoadOver = false
    void load.then(() => {
      isLoadOver = true
    })
    if (options.endsClaims) await endClaims(pool)
    const deadline = performance.now() + restWithinMs
    while (performance.now() < deadline) {
      if (isLoadOver && (await countWork(pool)) === 0) return
      await pause(lookEveryMs)
    }
    await load
  }
}
