// One step at a time: whatever touches the database is a step that waits here until the seed picks it, so that a run of
// many processes at once is the same every time. A statement that waits for a lock is left waiting, and the others go on.
import { setImmediate as turn } from 'node:timers/promises'
import type { Seeded } from './seeded.ts'

/** Whose steps they are: one of the gateway's processes. */
export interface Owner {
  readonly name: string
  /** How far its clock is ahead of the others' common time. */
  readonly skewMs: number
  isAlive: boolean
  isPaused: boolean
}

export type Fate = 'goes_on' | 'dies_before' | 'dies_after' | 'stands_still'

interface Step {
  readonly id: number
  readonly owner: Owner
  readonly label: string
  readonly run: () => Promise<unknown>
  readonly deliver: (outcome: Outcome) => void
  outcome?: Outcome
}

type Outcome = { readonly value: unknown } | { readonly error: unknown }

export interface SchedulerParts {
  readonly seeded: Seeded
  /** How many statements wait for a lock at this moment. */
  readonly countLockWaits: () => Promise<number>
  /** What becomes of the owner at this step. */
  readonly fateOf: (owner: Owner, label: string) => Fate
  readonly kill: (owner: Owner) => void
  readonly standStill: (owner: Owner) => void
  /** A step was taken, and its owner lives. */
  readonly onTaken: (owner: Owner, label: string) => void
  readonly note: (line: string) => void
}

/** A statement that takes longer than this either works hard or waits for a lock: then it is looked at. */
const lookAfterMs = 5

export class Scheduler {
  readonly #parts: SchedulerParts
  #waiting: Step[] = []
  readonly #running = new Set<Step>()
  readonly #stays: number
  #last: Owner | undefined
  #steps = 0
  #isContended = false
  #wake: () => void = () => {}

  constructor(parts: SchedulerParts) {
    this.#parts = parts
    this.#stays = parts.seeded.pick([0, 0.5, 0.9, 0.97])
  }

  get steps(): number {
    return this.#steps
  }

  /**
   * True once two statements waited for locks at the same time. PostgreSQL keeps no order among those that wait for a
   * row which is updated meanwhile, so such a run may go another way the next time.
   */
  get isContended(): boolean {
    return this.#isContended
  }

  /** Waits for its turn, does it, and answers what came of it; never answers an owner that died meanwhile. */
  step<Result>(owner: Owner, label: string, run: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const deliver = (outcome: Outcome) => {
        if ('error' in outcome) reject(outcome.error)
        // Safe: it is what `run` resolved to.
        else resolve(outcome.value as Result)
      }
      this.#waiting.push({ id: ++this.#steps, owner, label, run, deliver })
    })
  }

  /** Begins at once and is waited for like a step: what the server does when a connection breaks. */
  aside(owner: Owner, label: string, run: () => Promise<unknown>): void {
    this.#start({ id: ++this.#steps, owner, label, run, deliver: () => {} })
  }

  /** Takes steps until none is left that can be taken. */
  async runUntilIdle(): Promise<void> {
    for (;;) {
      await turn()
      await this.#settled()
      if (this.#deliverFinished()) continue
      this.#waiting = this.#waiting.filter(({ owner }) => owner.isAlive)
      const ready = this.#waiting.filter(({ owner }) => !owner.isPaused)
      if (ready.length === 0) return
      await this.#take(this.#choose(ready))
    }
  }

  /** In some runs a process often goes on by itself for a while: then others find what it left half done. */
  #choose(ready: readonly Step[]): Step {
    const { seeded } = this.#parts
    const own = ready.filter(({ owner }) => owner === this.#last)
    const chosen = seeded.pick(own.length > 0 && seeded.isLucky(this.#stays) ? own : ready)
    this.#last = chosen.owner
    return chosen
  }

  async #take(step: Step): Promise<void> {
    const { fateOf, kill, standStill, onTaken, note } = this.#parts
    const fate = fateOf(step.owner, step.label)
    note(`${step.owner.name} ${step.label}${fate === 'goes_on' ? '' : ` ${fate}`}`)
    if (fate === 'stands_still') return standStill(step.owner)
    this.#waiting.splice(this.#waiting.indexOf(step), 1)
    if (fate === 'dies_before') return kill(step.owner)
    this.#start(step)
    if (fate === 'goes_on') return onTaken(step.owner, step.label)
    await this.#settled()
    kill(step.owner)
  }

  #start(step: Step): void {
    this.#running.add(step)
    step.run().then(
      (value) => this.#finish(step, { value }),
      (error: unknown) => this.#finish(step, { error }),
    )
  }

  #finish(step: Step, outcome: Outcome): void {
    step.outcome = outcome
    this.#wake()
  }

  /** Until whatever runs is over or waits for a lock, which only a further step can free. */
  async #settled(): Promise<void> {
    for (let withinMs = lookAfterMs; ; ) {
      if (this.#open() === 0) return
      if (await this.#finishedWithin(withinMs)) continue
      const waits = await this.#parts.countLockWaits()
      if (waits > 1) this.#isContended = true
      if (waits > 0 && waits === this.#open()) return
      withinMs *= 2
    }
  }

  #open(): number {
    return [...this.#running].filter(({ outcome }) => outcome === undefined).length
  }

  #finishedWithin(durationMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), durationMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve(true)
      }
    })
  }

  /** In the order in which they were asked for, whichever was over first. */
  #deliverFinished(): boolean {
    const finished = [...this.#running].filter(({ outcome }) => outcome !== undefined)
    for (const step of finished.sort((a, b) => a.id - b.id)) {
      this.#running.delete(step)
      if (step.outcome && step.owner.isAlive) step.deliver(step.outcome)
    }
    return finished.length > 0
  }
}
