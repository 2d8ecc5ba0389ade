// How often the documentation may be searched: a question takes 6 ms of the event loop on which payments are answered,
// and anybody may ask.

import { addressKey } from '../../http/api-limits.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Allowance, TokenBuckets } from '../../platform/token-bucket.ts'

export const searchAllowances = {
  /** Whoever types asks a few times a second. */
  address: { perSecond: 2, burst: 40 },
  /** An eighth of the event loop at most, whoever asks. */
  everybody: { perSecond: 20, burst: 100 },
} as const satisfies Record<string, Allowance>

const maxAddresses = 10_000

export class SearchAllowance {
  readonly #clock: Clock
  readonly #addresses = new TokenBuckets({ maxBuckets: maxAddresses })
  readonly #everybody = new TokenBuckets({ maxBuckets: 1 })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** 0, or how many milliseconds to wait. */
  take(address: string): number {
    const { address: perAddress, everybody } = searchAllowances
    const nowMs = this.#clock.now()
    // Who has used up its own takes nothing from the others.
    return (
      this.#addresses.take(addressKey(address), perAddress, nowMs) ||
      this.#everybody.take('', everybody, nowMs)
    )
  }
}
