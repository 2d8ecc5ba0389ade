// How often one address may look at payment links and press their buttons, and how often one link may be pressed.
import { addressKey } from '../../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../../platform/http/admission/rate-limiter.ts'
import type { Clock } from '../../../platform/runtime/clock.ts'

export class LinkLimits {
  readonly #looks: RateLimiter
  readonly #pressesByAddress: RateLimiter
  readonly #pressesByLink: RateLimiter

  constructor(clock: Pick<Clock, 'now'>) {
    // Many people may sit behind one address, and many may open one link at once.
    this.#looks = new RateLimiter({ clock, rate: { perSecond: 50, burst: 500 } })
    this.#pressesByAddress = new RateLimiter({ clock, rate: { perSecond: 5, burst: 300 } })
    this.#pressesByLink = new RateLimiter({ clock, rate: { perSecond: 50, burst: 1_000 } })
  }

  /** 0, or how many milliseconds to wait. */
  takeLook(address: string): number {
    return this.#looks.take(addressKey(address))
  }

  /** As above. An address past its own allowance uses up nothing of the link's. */
  takePress(address: string, linkId: string): number {
    return this.#pressesByAddress.take(addressKey(address)) || this.#pressesByLink.take(linkId)
  }
}
