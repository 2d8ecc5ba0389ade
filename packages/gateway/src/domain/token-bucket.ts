// Token buckets by key, bounded in number: how often somebody may do something. A bucket fills at a steady rate
// up to its burst, so a short burst passes and a flood does not. Each is kept as one number, the time at which
// it will be full again (the generic cell rate algorithm).

export interface Allowance {
  readonly perSecond: number
  readonly burst: number
}

/** In bursts: the most that a bucket lacks to be full. */
const maxOwedBursts = 10

export class TokenBuckets {
  readonly #fullAtMs = new Map<string, number>()
  readonly #maxBuckets: number

  constructor({ maxBuckets }: { maxBuckets: number }) {
    this.#maxBuckets = maxBuckets
  }

  /** Takes a token and answers 0, or takes none and answers in how many milliseconds there will be one. */
  take(key: string, allowance: Allowance, nowMs: number): number {
    const waitMs = this.waitMs(key, allowance, nowMs)
    if (waitMs === 0) this.#remember(key, this.#fullAt(key, allowance, nowMs) + 1000 / allowance.perSecond)
    return waitMs
  }

  /** Takes tokens also where there are none: what is owed must come in before there is one again. */
  charge(key: string, allowance: Allowance, nowMs: number, tokens = 1): void {
    this.#remember(key, this.#fullAt(key, allowance, nowMs) + (tokens * 1000) / allowance.perSecond)
  }

  /** A token that was taken and not used after all. */
  giveBack(key: string, allowance: Allowance, nowMs: number): void {
    this.#remember(key, this.#fullAt(key, allowance, nowMs) - 1000 / allowance.perSecond)
  }

  /** How long it would take, without taking one. */
  waitMs(key: string, allowance: Allowance, nowMs: number): number {
    const emptyForMs = ((allowance.burst - 1) * 1000) / allowance.perSecond
    return Math.max(0, Math.ceil(this.#fullAt(key, allowance, nowMs) - emptyForMs - nowMs))
  }

  get size(): number {
    return this.#fullAtMs.size
  }

  /** What is owed has a bound, so a clock that was set back locks nobody out for long. */
  #fullAt(key: string, { perSecond, burst }: Allowance, nowMs: number): number {
    const latestMs = nowMs + (maxOwedBursts * burst * 1000) / perSecond
    return Math.min(latestMs, Math.max(nowMs, this.#fullAtMs.get(key) ?? nowMs))
  }

  #remember(key: string, fullAtMs: number): void {
    // Taken out and put back, so that the map's own order is from the longest unused to the last used.
    this.#fullAtMs.delete(key)
    this.#fullAtMs.set(key, fullAtMs)
    if (this.#fullAtMs.size <= this.#maxBuckets) return
    const [oldest] = this.#fullAtMs.keys()
    if (oldest !== undefined) this.#fullAtMs.delete(oldest)
  }
}
