// Pages for unknown addresses are begun a few at a time, and those of whoever asked for least lately come first. So a flood
// of ordinary pages, each address within its rate, waits behind visitors and beside merchants instead of before them:
// between two turns the event loop serves everybody else.
import { BoundedMap } from '../../platform/bounded-map.ts'
import type { MachineTime } from '../../platform/timer.ts'

export interface PageQueueOptions {
  /** Pages that are begun at once. */
  readonly turns: number
  readonly waiting: number
  readonly time: MachineTime
}

type EndTurn = () => void

/** What takes longer waits for something else than the processor: a hash, the database, news of an order. */
export const longestTurnMs = 5
/** Whoever waited so long is told to come again. */
export const longestWaitMs = 2_000
/** After so much quiet half of what an address asked for is forgotten. */
const halfLifeMs = 10_000
const maxAddresses = 100_000
/** Each stands for twice as many pages as the one before. */
const levels = 10

export class PageQueue {
  readonly #options: PageQueueOptions
  readonly #asked = new BoundedMap<string, { readonly count: number; readonly atMs: number }>(maxAddresses)
  readonly #queues: ((end: EndTurn) => void)[][] = Array.from({ length: levels }, () => [])
  #waiting = 0
  #turnsTaken = 0
  /** Turns that are over and given back in the next turn of the event loop. */
  #ended = 0

  constructor(options: PageQueueOptions) {
    this.#options = options
  }

  /** Resolves with what ends the turn; with undefined when too many wait, or it took too long. */
  async turn(key: string): Promise<EndTurn | undefined> {
    const level = this.#levelOf(key)
    const { turns, waiting, time } = this.#options
    if (this.#waiting === 0 && this.#turnsTaken < turns) return this.#begin()
    if (this.#waiting >= waiting) return undefined
    const sinceMs = time.nowMs()
    this.#waiting++
    const end = await new Promise<EndTurn>((resolve) => this.#queues[level]?.push(resolve))
    if (time.nowMs() - sinceMs <= longestWaitMs) return end
    end()
    return undefined
  }

  #levelOf(key: string): number {
    const nowMs = this.#options.time.nowMs()
    const { count, atMs } = this.#asked.get(key) ?? { count: 0, atMs: nowMs }
    const remembered = count * 0.5 ** ((nowMs - atMs) / halfLifeMs)
    this.#asked.set(key, { count: remembered + 1, atMs: nowMs })
    return Math.min(levels - 1, Math.floor(Math.log2(remembered + 1)))
  }

  #begin(): EndTurn {
    this.#turnsTaken++
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      cancel()
      this.#giveBackSoon()
    }
    const cancel = this.#options.time.startTimer(longestTurnMs, end)
    return end
  }

  /**
   * Not at once: a page that waits for nothing is answered before the next request is read, and however many came
   * together would all be answered before anybody else has a turn of the event loop.
   */
  #giveBackSoon(): void {
    if (this.#ended++ > 0) return
    this.#options.time.nextTurn(() => {
      this.#turnsTaken -= this.#ended
      this.#ended = 0
      while (this.#waiting > 0 && this.#turnsTaken < this.#options.turns) {
        const next = this.#queues.find((queue) => queue.length > 0)?.shift()
        this.#waiting--
        next?.(this.#begin())
      }
    })
  }
}
