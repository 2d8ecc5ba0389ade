// Envelopes of unknown addresses are opened a few at a time; the rest wait in a queue. A refusal keeps its turn until it
// leaves, after 5 ms at least, so turns also bound how many of them are tried in a second: junk from any number
// of addresses takes a fifth of the event loop, and known addresses do not stand behind it.
import { Slots } from './slots.ts'

export interface OpeningQueueOptions {
  /** Envelopes that are tried at once. */
  readonly turns: number
  readonly waiting: number
  readonly waitingPerAddress: number
  /** Of the machine's own time. */
  readonly nowMs: () => number
}

/** Where a turn takes seconds the database is away, and those who wait would be told so one after another. */
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

  /** Resolves with what ends the turn; with undefined when too many wait, or it took too long. */
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

  /** The next in the queue has the turn, or it is free. */
  #end(): void {
    const next = this.#queue.shift()
    if (next) next()
    else this.#turnsTaken--
  }
}
