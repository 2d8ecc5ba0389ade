// Token buckets by key, bounded in number. Each is one number: the time at which it will be full again (the generic
// cell rate algorithm). Setting the clock back does not extend any wait.
import { BoundedMap } from './bounded-map.ts'

export interface Allowance {
  readonly perSecond: number
  readonly burst: number
}

/** The maximum debt of a bucket, as a number of bursts. */
const maxOwedBursts = 10

export class TokenBuckets {
  readonly #fullAtMs: BoundedMap<string, number>
  #shownMs = 0
  #passedMs = 0

  constructor({ maxBuckets }: { maxBuckets: number }) {
    this.#fullAtMs = new BoundedMap(maxBuckets)
  }

  /** Takes a token and returns 0, or returns the milliseconds until one is available. */
  take(key: string, allowance: Allowance, nowMs: number): number {
    const waitMs = this.waitMs(key, allowance, nowMs)
    if (waitMs === 0) this.charge(key, allowance, nowMs)
    return waitMs
  }

  /** Takes tokens even if none are left. The debt must refill first. */
  charge(key: string, allowance: Allowance, nowMs: number, tokens = 1): void {
    const fullAtMs = this.#fullAt(key, allowance, this.#passed(nowMs))
    this.#fullAtMs.set(key, fullAtMs + (tokens * 1000) / allowance.perSecond)
  }

  giveBack(key: string, allowance: Allowance, nowMs: number): void {
    this.charge(key, allowance, nowMs, -1)
  }

  /** Like `take`, without taking a token. */
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

  #fullAt(key: string, { perSecond, burst }: Allowance, passedMs: number): number {
    const latestMs = passedMs + (maxOwedBursts * burst * 1000) / perSecond
    return Math.min(latestMs, Math.max(passedMs, this.#fullAtMs.get(key) ?? passedMs))
  }
}
