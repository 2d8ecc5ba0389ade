// Kill cycles: the real program under load, killed again and again at moments that the seed picks.
import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from '../../packages/gateway/src/database/pool.ts'
import { sandboxFilePath } from '../../packages/gateway/src/sandbox-file.ts'
import { Tillgate } from '../../packages/sdk/src/tillgate.ts'
import { Journal } from '../simulation/journal.ts'
import { makeSeeded } from '../simulation/seeded.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import { withStored } from '../support/stored.ts'
import { countWork, endClaims, findCrashViolations } from './check.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { shop } from './shopper.ts'
import { kill, noVictims, type Victim, victimAmong, victims } from './victims.ts'

export interface Cycles {
  readonly dataDir: string
  readonly cycles: number
  readonly seed: number
  readonly shoppers: number
  /** How many processes serve: the first at the first start, the next at the next, and so on in a round. */
  readonly processes: readonly number[]
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
  const killed = { ...noVictims }
  const next = victims(seeded)
  let starts = 0
  let processes = 1
  const recoveriesMs: number[] = []
  let receiver: Receiver | undefined
  try {
    start()
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

  function start(): void {
    processes = options.processes[starts++ % options.processes.length] ?? 1
    gateway.start({ processes })
  }

  async function oneCycle(): Promise<string> {
    const enough = journal.orders.size + seeded.whole(1, options.shoppers)
    while (journal.orders.size < enough) await pause(lookEveryMs / 10)
    await pause(seeded.whole(0, 400))
    const victim = victimAmong(processes, next.next().value)
    const among = processes
    await kill(victim, { gateway, dataDir, seeded })
    killed[victim] += 1
    if (victim === 'gateway' || victim === 'parent' || victim === 'both') start()
    const tookMs = await gateway.ready()
    recoveriesMs.push(tookMs)
    if (options.endsClaims) await withStored(dataDir, endClaims)
    return `${victim} killed among ${among}, ready again after ${Math.round(tookMs)} ms`
  }

  async function conclude(listener: Receiver, load: Promise<unknown>): Promise<Cycled> {
    return withStored(dataDir, async (pool) => {
      await untilAtRest(pool, load)
      const sorted = recoveriesMs.toSorted((a, b) => a - b)
      return {
        violations: await findCrashViolations(pool, { journal, receiver: listener }),
        orders: journal.orders.size,
        refunds: journal.refunds.size,
        arrivals: listener.arrivals.size,
        repeated: [...listener.arrivals.values()].filter((times) => times > 1).length,
        victims: killed,
        recoveryMs: { median: sorted[sorted.length >> 1] ?? 0, longest: sorted.at(-1) ?? 0 },
      }
    })
  }

  async function untilAtRest(pool: Pool, load: Promise<unknown>): Promise<void> {
    let isLoadOver = false
    void load.then(() => {
      isLoadOver = true
    })
    const deadline = performance.now() + restWithinMs
    while (performance.now() < deadline) {
      if (isLoadOver && (await countWork(pool)) === 0) return
      await pause(lookEveryMs)
    }
    await load
  }
}
