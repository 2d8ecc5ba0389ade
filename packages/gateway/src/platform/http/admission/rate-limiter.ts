// A rate limiter: token buckets per key, with their clock and rate.
import type { Clock } from '../../runtime/clock.ts'
import { type Allowance, TokenBuckets } from '../../runtime/token-bucket.ts'

export interface RateLimiterOptions {
  readonly rate: Allowance
  readonly clock: Pick<Clock, 'now'>
  readonly maxKeys?: number
}

export class RateLimiter {
  readonly #rate: Allowance
  readonly #clock: Pick<Clock, 'now'>
  readonly #buckets: TokenBuckets

  constructor({ rate, clock, maxKeys = 100_000 }: RateLimiterOptions) {
    this.#rate = rate
    this.#clock = clock
    this.#buckets = new TokenBuckets({ maxBuckets: maxKeys })
  }

  /** Returns 0 or the milliseconds to wait. */
  take(key: string): number {
    return this.#buckets.take(key, this.#rate, this.#clock.now())
  }

  giveBack(key: string): void {
    this.#buckets.giveBack(key, this.#rate, this.#clock.now())
  }
}
