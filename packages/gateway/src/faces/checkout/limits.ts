// How much one address and one link may ask of the checkout. Signing in is the costly part (100 ms and 32 MiB each),
// so it has allowances of its own and a bound on how many are under way.

import { addressKey } from '../../http/api-limits.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Allowance, TokenBuckets } from '../../platform/token-bucket.ts'

const allowances = {
  /** Many people may sit behind one address. */
  address: { perSecond: 50, burst: 500 },
  link: { perSecond: 5, burst: 100 },
  signInByAddress: { perSecond: 0.5, burst: 30 },
  signInByLink: { perSecond: 0.1, burst: 10 },
} as const satisfies Record<string, Allowance>

export const streamLimits = { total: 2_000, perAddress: 50, perLink: 8 } as const
const maxSignInsUnderWay = 16
const maxBuckets = 100_000

type Kind = keyof typeof allowances

export class CheckoutLimits {
  readonly #clock: Clock
  readonly #buckets: Record<Kind, TokenBuckets>
  readonly #streams = new Map<string, number>()
  #streamsInAll = 0
  #signInsUnderWay = 0

  constructor(clock: Clock) {
    this.#clock = clock
    const buckets = () => new TokenBuckets({ maxBuckets })
    this.#buckets = {
      address: buckets(),
      link: buckets(),
      signInByAddress: buckets(),
      signInByLink: buckets(),
    }
  }

  /** 0, or how many milliseconds to wait. */
  takeAddress(address: string): number {
    return this.#take('address', addressKey(address))
  }

  /** Only for a link that is right: nobody uses up what belongs to another. */
  takeLink(paymentId: string): number {
    return this.#take('link', paymentId)
  }

  /** Undefined: not now. Otherwise the place is given back with the function. */
  startSignIn(address: string, paymentId: string): (() => void) | undefined {
    if (this.#signInsUnderWay >= maxSignInsUnderWay) return undefined
    if (this.#take('signInByLink', paymentId) > 0) return undefined
    if (this.#take('signInByAddress', addressKey(address)) > 0) return undefined
    this.#signInsUnderWay++
    return () => {
      this.#signInsUnderWay--
    }
  }

  openStream(address: string, paymentId: string): (() => void) | undefined {
    const byAddress = `address ${addressKey(address)}`
    const byLink = `link ${paymentId}`
    if (
      this.#streamsInAll >= streamLimits.total ||
      this.#count(byAddress) >= streamLimits.perAddress ||
      this.#count(byLink) >= streamLimits.perLink
    )
      return undefined
    this.#add(byAddress, 1)
    this.#add(byLink, 1)
    this.#streamsInAll++
    return () => {
      this.#add(byAddress, -1)
      this.#add(byLink, -1)
      this.#streamsInAll--
    }
  }

  #take(kind: Kind, key: string): number {
    return this.#buckets[kind].take(key, allowances[kind], this.#clock.now())
  }

  #count(key: string): number {
    return this.#streams.get(key) ?? 0
  }

  #add(key: string, change: 1 | -1): void {
    const count = this.#count(key) + change
    if (count === 0) this.#streams.delete(key)
    else this.#streams.set(key, count)
  }
}
