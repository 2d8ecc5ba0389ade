// The gateway's processes of a run: two of them, each of which may die at any step and come back, or stand still and go on
// as if nothing had happened. People reach whichever is up.
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import type { SimulatedBank } from './bank.ts'
import type { Faults } from './faults.ts'
import type { InstalledKeys } from './keys/installed-keys.ts'
import type { SimulatedNetwork } from './network.ts'
import { type Called, isAnswer } from './people.ts'
import type { SimulatedRail } from './rail.ts'
import type { Owner, Scheduler } from './scheduler.ts'
import type { Seeded } from './seeded.ts'
import { type SimulatedGateway, startSimulatedGateway } from './simulated-gateway.ts'
import { simulatedPool } from './simulated-pool.ts'
import type { VirtualTime } from './time.ts'

export interface ProcessesParts {
  readonly pool: Pool
  readonly time: VirtualTime
  readonly rail: SimulatedRail
  readonly network: SimulatedNetwork
  readonly bank: SimulatedBank
  readonly keys: InstalledKeys
  readonly faults: Faults
  readonly scheduler: Scheduler
  readonly worldOwner: Owner
  readonly seeded: Seeded
  readonly onStored: () => void
  readonly onDeadlock: (label: string) => void
  readonly note: (line: string) => void
}

interface Process {
  readonly gateway: SimulatedGateway
  readonly died: PromiseWithResolvers<'died'>
  /** It stands still, and from then on a claim of another wakes it. */
  wakesAtTakeoverFromMs: number | undefined
}

const count = 2
const maxSkewMs = 2_000
const clientTimeoutMs = 30_000
/** Of two processes whose clocks differ, after one's lease of thirty seconds. */
const shortestTakeoverMs = 30_000 - 2 * maxSkewMs

export class Processes {
  readonly #parts: ProcessesParts
  readonly #seeded: Seeded
  #running: Process[] = []
  #started = 0

  constructor(parts: ProcessesParts) {
    this.#parts = parts
    this.#seeded = parts.seeded.stream('processes')
    for (let index = 0; index < count; index++) this.#start()
  }

  /** Those that go on by themselves. */
  get awake(): readonly Owner[] {
    return this.#running.map(({ gateway }) => gateway.owner).filter(({ isPaused }) => !isPaused)
  }

  kill(owner: Owner): void {
    const { faults, time, worldOwner, note } = this.#parts
    const process = this.#running.find(({ gateway }) => gateway.owner === owner)
    if (!process) return
    note(`${owner.name} dies`)
    owner.isAlive = false
    this.#running = this.#running.filter((each) => each !== process)
    process.gateway.pool.breakTransactions()
    process.died.resolve('died')
    void time.wait(worldOwner, faults.restartAfterMs()).then(() => this.#start())
  }

  maybePause(): void {
    for (const { gateway } of this.#running)
      if (!gateway.owner.isPaused && this.#parts.faults.isPaused()) this.standStill(gateway.owner)
  }

  standStill(owner: Owner): void {
    const { faults, time, worldOwner, note } = this.#parts
    const process = this.#running.find(({ gateway }) => gateway.owner === owner)
    if (!process) return
    const { durationMs, endsAtTakeover } = faults.pause()
    note(`${owner.name} stands still for ${durationMs}${endsAtTakeover ? ' or until a takeover' : ''}`)
    owner.isPaused = true
    if (endsAtTakeover) process.wakesAtTakeoverFromMs = time.nowMs + shortestTakeoverMs
    // The server ends transactions in which nothing happens.
    process.gateway.pool.breakTransactions()
    void time.wait(worldOwner, durationMs).then(() => this.#wake(process))
  }

  /** Whoever claims after a lease's time may have taken what one that stands still had claimed before. */
  onTaken(owner: Owner, label: string): void {
    if (!label.startsWith('claim-')) return
    for (const process of this.#running) {
      const fromMs = process.wakesAtTakeoverFromMs
      if (process.gateway.owner !== owner && fromMs !== undefined && fromMs <= this.#parts.time.nowMs)
        this.#wake(process)
    }
  }

  #wake(process: Process): void {
    process.wakesAtTakeoverFromMs = undefined
    process.gateway.owner.isPaused = false
  }

  heal(): void {
    for (const process of this.#running) this.#wake(process)
  }

  async call<Result>(ask: (gateway: SimulatedGateway) => Promise<Result>): Promise<Called<Result>> {
    const { time, worldOwner } = this.#parts
    if (this.#running.length === 0) return { kind: 'lost' }
    const { gateway, died } = this.#seeded.pick(this.#running)
    const answered = new AbortController()
    const asking = ask(gateway).then(
      (value): Called<Result> => ({ kind: 'answered', value }),
      (error: unknown): Called<Result> =>
        isAnswer(error) ? { kind: 'refused', failure: error } : { kind: 'lost' },
    )
    const timeout = time.wait(worldOwner, clientTimeoutMs, { signal: answered.signal })
    const called = await Promise.race([asking, died.promise, timeout])
    answered.abort()
    return typeof called === 'object' ? called : { kind: 'lost' }
  }

  #start(): void {
    const { pool, time, rail, network, bank, keys, faults, scheduler, seeded, note } = this.#parts
    const { onStored, onDeadlock } = this.#parts
    const name = `process-${++this.#started}`
    const own = seeded.stream(name)
    const skewMs = own.whole(-maxSkewMs, maxSkewMs)
    const owner: Owner = { name, skewMs, isAlive: true, isPaused: false }
    note(`${name} starts`)
    const connectionFate = (label: string) => faults.connectionFate(label)
    const gateway = startSimulatedGateway({
      owner,
      pool: simulatedPool({ pool, owner, scheduler, connectionFate, onStored, onDeadlock, note }),
      time,
      seeded: own,
      rail,
      network,
      bank,
      keys,
    })
    this.#running.push({ gateway, died: Promise.withResolvers(), wakesAtTakeoverFromMs: undefined })
  }
}
