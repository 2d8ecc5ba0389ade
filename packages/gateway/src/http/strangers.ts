// Whoever opened an envelope lately is known; everybody else waits for a turn to have theirs opened. A refusal keeps its
// turn until it leaves, on a beat of 5 ms, so turns also bound how many envelopes of strangers are tried in a second:
// junk from any number of addresses takes a fifth of the event loop, and those who are known do not stand behind it.
import { Places } from './places.ts'

export interface StrangersOptions {
  /** Envelopes that are tried at once. */
  readonly turns: number
  readonly waiting: number
  readonly waitingPerAddress: number
  readonly maxKnown: number
  /** Of the machine's own time. */
  readonly nowMs: () => number
}

/** Where a turn takes seconds the database is away, and those who wait would be told so one after another. */
export const longestWaitMs = 2_000

export class Strangers {
  readonly #options: StrangersOptions
  /** From the longest unused to the last used. */
  readonly #known = new Set<string>()
  readonly #places: Places
  readonly #queue: (() => void)[] = []
  #turnsTaken = 0

  constructor(options: StrangersOptions) {
    this.#options = options
    this.#places = new Places({ total: options.waiting, perAddress: options.waitingPerAddress })
  }

  has(address: string): boolean {
    return !this.#known.has(address)
  }

  /** An envelope from there was opened. */
  know(address: string): void {
    this.#known.delete(address)
    this.#known.add(address)
    if (this.#known.size <= this.#options.maxKnown) return
    const [oldest] = this.#known
    if (oldest !== undefined) this.#known.delete(oldest)
  }

  /** Resolves with what ends the turn; with undefined when too many wait, or it took too long. */
  async turn(address: string): Promise<(() => void) | undefined> {
    if (this.#turnsTaken < this.#options.turns) {
      this.#turnsTaken++
      return () => this.#end()
    }
    const leave = this.#places.take(address)
    if (!leave) return undefined
    const sinceMs = this.#options.nowMs()
    await new Promise<void>((resolve) => this.#queue.push(resolve))
    leave()
    if (this.#options.nowMs() - sinceMs <= longestWaitMs) return () => this.#end()
    this.#end()
    return undefined
  }

  /** The next in the queue has the turn, or it is free. */
  #end(): void {
    const next = this.#queue.shift()
    if (next) next()
    else this.#turnsTaken--
  }
}
