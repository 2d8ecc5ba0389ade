// Limits on opening payment links per address, and on their buttons per address and per link.
import { addressKey } from '../../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../../platform/http/admission/rate-limiter.ts'
import type { Clock } from '../../../platform/runtime/clock.ts'

export class LinkLimits {
  readonly #looks: RateLimiter
  readonly #pressesByAddress: RateLimiter
  readonly #pressesByLink: RateLimiter

  constructor(clock: Pick<Clock, 'now'>) {
    // Many people may share an address or open a link at the same time.
    this.#looks = new RateLimiter({ clock, rate: { perSecond: 50, burst: 500 } })
    this.#pressesByAddress = new RateLimiter({ clock, rate: { perSecond: 5, burst: 300 } })
    this.#pressesByLink = new RateLimiter({ clock, rate: { perSecond: 50, burst: 1_000 } })
  }

  /** 0, or the wait in milliseconds. */
  takeLook(address: string): number {
    return this.#looks.take(addressKey(address))
  }

  /** The same. An address beyond its limit does not use up the link's. */
  takePress(address: string, linkId: string): number {
    return this.#pressesByAddress.take(addressKey(address)) || this.#pressesByLink.take(linkId)
  }
}
