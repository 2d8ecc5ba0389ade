// Token buckets by key, bounded in number: how often somebody may do something. A bucket fills at a steady rate
// up to its burst, so a short burst passes and a flood does not. Each is kept as one number, the time at which
// it will be full again (the generic cell rate algorithm). Time only goes on here: where the clock is set back, nobody has to
// wait until it has come there again.
import { BoundedMap } from './bounded-map.ts'

export interface Allowance {
  readonly perSecond: number
  readonly burst: number
}

/** In bursts: the most that a bucket lacks to be full. */
const maxOwedBursts = 10

export class TokenBuckets {
  readonly #fullAtMs: BoundedMap<string, number>
  /** What the clock showed last, and how much time has passed by what it showed. */
  #shownMs = 0
  #passedMs = 0

  constructor({ maxBuckets }: { maxBuckets: number }) {
    this.#fullAtMs = new BoundedMap(maxBuckets)
  }

  /** Takes a token and answers 0, or takes none and answers in how many milliseconds there will be one. */
  take(key: string, allowance: Allowance, nowMs: number): number {
    const waitMs = this.waitMs(key, allowance, nowMs)
    if (waitMs === 0) this.charge(key, allowance, nowMs)
    return waitMs
  }

  /** Takes tokens also where there are none: what is owed must come in before there is one again. */
  charge(key: string, allowance: Allowance, nowMs: number, tokens = 1): void {
    const fullAtMs = this.#fullAt(key, allowance, this.#passed(nowMs))
    this.#fullAtMs.set(key, fullAtMs + (tokens * 1000) / allowance.perSecond)
  }

  /** A token that was taken and not used after all. */
  giveBack(key: string, allowance: Allowance, nowMs: number): void {
    this.charge(key, allowance, nowMs, -1)
  }

  /** How long it would take, without taking one. */
  waitMs(key: string, allowance: Allowance, nowMs: number): number {
    const emptyForMs = ((allowance.burst - 1) * 1000) / allowance.perSecond
    const passedMs = this.#passed(nowMs)
    return Math.max(0, Math.ceil(this.#fullAt(key, allowance, passedMs) - emptyForMs - passedMs))
  }

  get size(): number {
    return this.#fullAtMs.size
  }

  #passed(nowMs: number): number {
    this.#passedMs += Math.max(0, nowMs - this.#shownMs)
    this.#shownMs = nowMs
    return this.#passedMs
  }

  /** What is owed has a bound. */
  #fullAt(key: string, { perSecond, burst }: Allowance, passedMs: number): number {
    const latestMs = passedMs + (maxOwedBursts * burst * 1000) / perSecond
    return Math.min(latestMs, Math.max(passedMs, this.#fullAtMs.get(key) ?? passedMs))
  }
}
