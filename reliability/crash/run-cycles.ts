// Kill cycles: the real program under load, killed again and again at moments that the seed picks.
import { setTimeout as pause } from 'node:timers/promises'
import { sandboxFilePath } from '../../packages/gateway/src/app/sandbox/sandbox-file.ts'
import { Tillgate } from '../../packages/sdk/src/tillgate.ts'
import { makeSeeded } from '../simulation/seeded.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import { Site } from '../support/site.ts'
import { CrashBank } from './bank.ts'
import type { Engine } from './engines/engine.ts'
import { Followers } from './followers.ts'
import { Phone } from './phone.ts'
import { Treasurer } from './treasurer.ts'
import { kill, noVictims, type Victim, victimAmong, victims } from './victims.ts'

export interface Cycles {
  readonly dataDir: string
  readonly engine: Engine
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
  /** Answers in the state before an acknowledged change. */
  readonly lagging: number
  /** Payments that a bank outside was asked for. */
  readonly attempts: number
  readonly refunds: number
  readonly payouts: number
  readonly payoutRuns: number
  readonly corrections: number
  /** Of the operator's own money, with fees that were swept. */
  readonly ownMoves: number
  readonly sweeps: number
  readonly arrivals: number
  /** Callbacks that reached an endpoint, and events that were read from the feed. */
  readonly atEndpoint: number
  readonly events: number
  readonly repeated: number
  readonly victims: Readonly<Record<Victim, number>>
  readonly recoveryMs: { readonly median: number; readonly longest: number }
}

export async function runCycles(options: Cycles): Promise<Cycled> {
  const { dataDir, engine, cycles, seed, shoppers, tell = () => {} } = options
  const { environment } = engine
  const seeded = makeSeeded(`crash ${seed}`)
  const gateway = await GatewayChild.make({
    dataDir,
    environment: {
      ...environment,
      MERCHANT_REQUESTS_PER_SECOND: '5000',
      BANK_ACCOUNT_WAIT_HOURS: '0',
      EVENT_FEED_DAYS: '7',
    },
  })
  const killed = { ...noVictims }
  const next = victims(seeded)
  const recoveriesMs: number[] = []
  let starts = 0
  let processes = 1
  let site: Site | undefined
  let bank: CrashBank | undefined
  let followers: Followers | undefined
  try {
    start()
    await gateway.ready()
    bank = await CrashBank.open(environment)
    const { merchantId } = Tillgate.fromFile(sandboxFilePath(dataDir))
    const { adminUrl } = gateway
    followers = await Followers.open({ environment, merchantId, adminUrl })
    site = await Site.open({
      dataDir,
      name: `s${seed}`,
      stored: engine.stored,
      mayLag: engine.mayLag,
      bank,
      followers,
      newPhone: () => new Phone(gateway.url),
    })
    const treasurer = await Treasurer.open({ environment, adminUrl, merchantId })
    // Whoever gives up ends the run at once, not after the last cycle.
    const trouble = Promise.race([site.startLoad(shoppers), treasurer.startWork()])
    for (let cycle = 1; cycle <= cycles; cycle++) {
      const told = await Promise.race([oneCycle(site), trouble])
      tell(`${cycle} of ${cycles}: ${site.journal.orders.size} orders acknowledged; ${told}`)
    }
    site.endLoad()
    await treasurer.end()
    const violations = [...(await site.check()), ...(await site.stored((pool) => treasurer.check(pool)))]
    const sorted = recoveriesMs.toSorted((a, b) => a - b)
    return {
      violations,
      ...site.figures(),
      ...treasurer.figures,
      victims: killed,
      recoveryMs: { median: sorted[sorted.length >> 1] ?? 0, longest: sorted.at(-1) ?? 0 },
    }
  } finally {
    await gateway.stop()
    site?.close()
    bank?.close()
    followers?.close()
  }

  function start(): void {
    processes = options.processes[starts++ % options.processes.length] ?? 1
    gateway.start({ processes })
  }

  async function oneCycle(at: Site): Promise<string> {
    await at.moreOrders(seeded.whole(1, shoppers))
    await pause(seeded.whole(0, 400))
    const victim = victimAmong(processes, next.next().value)
    const among = processes
    await kill(victim, { gateway, engine, seeded })
    killed[victim] += 1
    if (victim === 'gateway' || victim === 'parent' || victim === 'both') start()
    const tookMs = await gateway.ready()
    recoveriesMs.push(tookMs)
    if (options.endsClaims) await at.endClaims()
    return `${victim} killed among ${among}, ready again after ${Math.round(tookMs)} ms`
  }
}
