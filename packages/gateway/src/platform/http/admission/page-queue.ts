// Pages for unknown addresses are begun a few at a time, and those of whoever asked for least lately come first. So a flood
// of ordinary pages, each address within its rate, waits behind visitors and beside merchants instead of before them:
// between two turns the event loop serves everybody else. Pages of whoever asked for many lately are paced besides, or
// a flood would take all the time that is left, and everybody else would come to a machine that is busy.
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { MachineTime } from '../../runtime/timer.ts'

export interface PageQueueOptions {
  /** Pages that are begun in one turn of the event loop. */
  readonly begun: number
  /** Pages that are begun and not yet answered: most wait for the database, which answers many at once. */
  readonly underWay: number
  readonly waiting: number
  readonly time: MachineTime
}

type EndTurn = () => void

/** What takes longer waits for something slower than a lookup: a hash, a queue at the database, news of an order. */
export const longestTurnMs = 5
/** Whoever waited so long is told to come again. */
export const longestWaitMs = 2_000
/** After so much quiet half of what an address asked for is forgotten. */
const halfLifeMs = 10_000
const maxAddresses = 100_000
/** Each stands for twice as many pages as the one before. */
const levels = 10
/** From 16 pages on: a person who loads a page with its assets asks for about five. */
const busyLevel = 4
/** For as many pages of busy addresses as are begun in a turn: a thousand a second, all of them together. */
export const restMs = 4

export class PageQueue {
  readonly #options: PageQueueOptions
  readonly #asked = new BoundedMap<string, { readonly count: number; readonly atMs: number }>(maxAddresses)
  readonly #queues: ((end: EndTurn) => void)[][] = Array.from({ length: levels }, () => [])
  #waiting = 0
  #underWay = 0
  /** In this turn of the event loop. */
  #begun = 0
  /** Of busy addresses, since they rested last. */
  #begunOfBusy = 0
  #isConnecting = false
  #isNextTurnAsked = false

  constructor(options: PageQueueOptions) {
    this.#options = options
  }

  /**
   * Node.js accepts one connection in a turn of the event loop, so whoever connects behind a crowd waits for as many turns
   * as the crowd has connections. While they come turns are short.
   */
  connectionCame(): void {
    this.#isConnecting = true
  }

  /** Resolves with what ends the turn; with undefined when too many wait, or it took too long. */
  async turn(key: string): Promise<EndTurn | undefined> {
    const level = this.#levelOf(key)
    const { waiting, time } = this.#options
    if (this.#waiting === 0 && this.#mayBegin(level)) return this.#begin(level)
    if (this.#waiting >= waiting) return undefined
    const sinceMs = time.nowMs()
    this.#waiting++
    // Those who wait may all be resting.
    this.#askForNextTurn()
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

  #mayBegin(level: number): boolean {
    const { begun, underWay } = this.#options
    if (this.#begun >= (this.#isConnecting ? 1 : begun) || this.#underWay >= underWay) return false
    return level < busyLevel || this.#begunOfBusy < begun
  }

  #begin(level: number): EndTurn {
    this.#begun++
    this.#underWay++
    if (level >= busyLevel) this.#countBusy()
    this.#askForNextTurn()
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      cancel()
      this.#underWay--
      this.#askForNextTurn()
    }
    const cancel = this.#options.time.startTimer(longestTurnMs, end)
    return end
  }

  #countBusy(): void {
    if (this.#begunOfBusy++ > 0) return
    this.#options.time.startTimer(restMs, () => {
      this.#begunOfBusy = 0
      this.#askForNextTurn()
    })
  }

  /**
   * A page that waits for nothing is answered before the next request is read, so those that wait are begun in another
   * turn of the event loop: however many came together, everybody else has a turn between them.
   */
  #askForNextTurn(): void {
    if (this.#isNextTurnAsked) return
    this.#isNextTurnAsked = true
    this.#options.time.nextTurn(() => {
      this.#isNextTurnAsked = false
      this.#begun = 0
      while (this.#waiting > 0) {
        const level = this.#queues.findIndex((queue) => queue.length > 0)
        if (!this.#mayBegin(level)) break
        this.#waiting--
        this.#queues[level]?.shift()?.(this.#begin(level))
      }
      this.#isConnecting = false
    })
  }
}
