// Limits per address and per link at the checkout. Sign-in is expensive (100 ms and 32 MiB each), so it has separate
// rates and a limit on concurrent sign-ins.

import { addressKey } from '../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../platform/http/admission/rate-limiter.ts'
import { Slots } from '../../platform/http/admission/slots.ts'
import type { Clock } from '../../platform/runtime/clock.ts'

export const streamLimits = { total: 2_000, perAddress: 50, perLink: 8 } as const
const maxSignInsUnderWay = 16

export class CheckoutLimits {
  readonly #addresses: RateLimiter
  readonly #links: RateLimiter
  readonly #signInsByAddress: RateLimiter
  readonly #signInsByLink: RateLimiter
  readonly #receiptsByAddress: RateLimiter
  readonly #receiptsByLink: RateLimiter
  readonly #signIns = new Slots({ total: maxSignInsUnderWay, perKey: maxSignInsUnderWay })
  readonly #streamsByAddress = new Slots({ total: streamLimits.total, perKey: streamLimits.perAddress })
  readonly #streamsByLink = new Slots({ total: streamLimits.total, perKey: streamLimits.perLink })

  constructor(clock: Clock) {
    // Many people may share an address.
    this.#addresses = new RateLimiter({ clock, rate: { perSecond: 50, burst: 500 } })
    this.#links = new RateLimiter({ clock, rate: { perSecond: 5, burst: 100 } })
    this.#signInsByAddress = new RateLimiter({ clock, rate: { perSecond: 0.5, burst: 30 } })
    this.#signInsByLink = new RateLimiter({ clock, rate: { perSecond: 0.1, burst: 10 } })
    // A person with the link of a paid order could send email to strangers.
    this.#receiptsByAddress = new RateLimiter({ clock, rate: { perSecond: 1 / 600, burst: 10 } })
    this.#receiptsByLink = new RateLimiter({ clock, rate: { perSecond: 1 / 86_400, burst: 3 } })
  }

  /** 0, or the wait in milliseconds. */
  takeAddress(address: string): number {
    return this.#addresses.take(addressKey(address))
  }

  /** Counted only for a valid link, so that a stranger cannot use up its allowance. */
  takeLink(paymentId: string): number {
    return this.#links.take(paymentId)
  }

  /** Undefined beyond the limit; otherwise the function releases the slot. */
  startSignIn(address: string, paymentId: string): (() => void) | undefined {
    const giveBack = this.#signIns.take('')
    if (!giveBack) return undefined
    if (this.#signInsByLink.take(paymentId) === 0 && this.#signInsByAddress.take(addressKey(address)) === 0)
      return giveBack
    giveBack()
    return undefined
  }

  takeReceipt(address: string, paymentId: string): boolean {
    return (
      this.#receiptsByLink.take(paymentId) === 0 && this.#receiptsByAddress.take(addressKey(address)) === 0
    )
  }

  openStream(address: string, paymentId: string): (() => void) | undefined {
    const giveBackAddress = this.#streamsByAddress.take(addressKey(address))
    const giveBackLink = this.#streamsByLink.take(paymentId)
    const giveBack = () => {
      giveBackAddress?.()
      giveBackLink?.()
    }
    if (giveBackAddress && giveBackLink) return giveBack
    giveBack()
    return undefined
  }
}
