// Orders that one address began at one link and has not paid. A link is public, and each of its orders tells the merchant when
// it expires, so whoever presses the button without end would send the merchant a callback for each press. Those who pay are
// not held up, however many of them share an address.
import { BoundedMap } from '../../../platform/runtime/bounded-map.ts'

export const unfinishedLimits = {
  /** A hall full of people may press before the first of them has paid. */
  most: 100,
  countedMs: 60 * 60_000,
  /** How often it is looked which of them were paid. */
  lookEveryMs: 10_000,
  /** Addresses at links: with a hundred orders each, 20 MB. */
  addresses: 2_000,
} as const

interface Begun {
  /** When each was begun, the oldest first. */
  readonly atMs: Map<string, number>
  lookedAtMs: number
}

export class UnfinishedOrders {
  readonly #begun = new BoundedMap<string, Begun>(unfinishedLimits.addresses)

  /** Those to look at, because no more may be begun as long as none of them was paid. */
  toLookAt(key: string, nowMs: number): readonly string[] {
    const begun = this.#at(key, nowMs)
    const isDue = nowMs - begun.lookedAtMs >= unfinishedLimits.lookEveryMs
    if (begun.atMs.size < unfinishedLimits.most || !isDue) return []
    begun.lookedAtMs = nowMs
    return [...begun.atMs.keys()]
  }

  /** Counts the order and answers 0, or how many milliseconds to wait. */
  begin(key: string, paymentId: string, nowMs: number): number {
    const { atMs } = this.#at(key, nowMs)
    if (atMs.size < unfinishedLimits.most) {
      atMs.set(paymentId, nowMs)
      return 0
    }
    const [oldestMs = nowMs] = atMs.values()
    return Math.max(1, oldestMs + unfinishedLimits.countedMs - nowMs)
  }

  /** It was paid, or was never made. */
  forget(key: string, paymentId: string): void {
    this.#begun.get(key)?.atMs.delete(paymentId)
  }

  #at(key: string, nowMs: number): Begun {
    const begun = this.#begun.get(key) ?? { atMs: new Map(), lookedAtMs: Number.NEGATIVE_INFINITY }
    for (const [paymentId, atMs] of begun.atMs) {
      if (nowMs - atMs < unfinishedLimits.countedMs) break
      begun.atMs.delete(paymentId)
    }
    this.#begun.set(key, begun)
    return begun
  }
}
