// Opens envelopes of unknown addresses a few at a time. A refusal keeps its turn for at least 5 ms, so invalid
// envelopes take at most a fifth of the event loop from any number of addresses.
import { Slots } from './slots.ts'

export interface OpeningQueueOptions {
  readonly turns: number
  readonly waiting: number
  readonly waitingPerAddress: number
  readonly nowMs: () => number
}

/** Turns that take seconds mean that the database is away, and queued requests would only fail one after another. */
export const longestWaitMs = 2_000

export class OpeningQueue {
  readonly #options: OpeningQueueOptions
  readonly #slots: Slots
  readonly #queue: (() => void)[] = []
  #turnsTaken = 0

  constructor(options: OpeningQueueOptions) {
    this.#options = options
    this.#slots = new Slots({ total: options.waiting, perKey: options.waitingPerAddress })
  }

  /** Resolves with the function that ends the turn; undefined if too many wait or the wait was too long. */
  async turn(key: string): Promise<(() => void) | undefined> {
    if (this.#turnsTaken < this.#options.turns) {
      this.#turnsTaken++
      return () => this.#end()
    }
    const leave = this.#slots.take(key)
    if (!leave) return undefined
    const sinceMs = this.#options.nowMs()
    await new Promise<void>((resolve) => this.#queue.push(resolve))
    leave()
    if (this.#options.nowMs() - sinceMs <= longestWaitMs) return () => this.#end()
    this.#end()
    return undefined
  }

  #end(): void {
    const next = this.#queue.shift()
    if (next) next()
    else this.#turnsTaken--
  }
}
