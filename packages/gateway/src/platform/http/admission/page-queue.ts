// Starts pages for unknown addresses a few at a time, least active addresses first, so that a flood of pages waits
// behind visitors. Pages of busy addresses are also paced, so that they leave time for other clients.
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { MachineTime } from '../../runtime/timer.ts'

export interface PageQueueOptions {
  readonly begun: number
  readonly underWay: number
  readonly waiting: number
  readonly time: MachineTime
}

type EndTurn = () => void

/** A longer turn waits for something slower than a lookup: a hash, a database queue, an order's change. */
export const longestTurnMs = 5
export const longestWaitMs = 2_000
/** After this quiet time, half of an address's count is forgotten. */
const halfLifeMs = 10_000
const maxAddresses = 100_000
/** Each level stands for twice as many pages as the previous one. */
const levels = 10
/** From 16 pages on. A person who loads a page with its assets requests about five. */
const busyLevel = 4
/** The pause after each turn's pages of busy addresses: 1,000 pages a second in total. */
export const restMs = 4

export class PageQueue {
  readonly #options: PageQueueOptions
  readonly #asked = new BoundedMap<string, { readonly count: number; readonly atMs: number }>(maxAddresses)
  readonly #queues: ((end: EndTurn) => void)[][] = Array.from({ length: levels }, () => [])
  #waiting = 0
  #underWay = 0
  #begun = 0
  #begunOfBusy = 0
  #isConnecting = false
  #isNextTurnAsked = false

  constructor(options: PageQueueOptions) {
    this.#options = options
  }

  /**
   * Node.js accepts one connection per turn of the event loop, so a visitor behind a crowd waits one turn per
   * connection. Turns stay short while connections arrive.
   */
  connectionCame(): void {
    this.#isConnecting = true
  }

  /** Resolves with the function that ends the turn; undefined if too many wait or the wait was too long. */
  async turn(key: string): Promise<EndTurn | undefined> {
    const level = this.#levelOf(key)
    const { waiting, time } = this.#options
    if (this.#waiting === 0 && this.#mayBegin(level)) return this.#begin(level)
    if (this.#waiting >= waiting) return undefined
    const sinceMs = time.nowMs()
    this.#waiting++
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

  /** Waiting pages start in a separate turn of the event loop, so that other clients get a turn in between. */
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
