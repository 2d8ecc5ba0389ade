// Limits unpaid orders per address at one link. A link is public and each expired order sends the merchant a
// callback, so unlimited orders would flood the merchant. Consumers who pay are not limited.
import { BoundedMap } from '../../../platform/runtime/bounded-map.ts'

export const unfinishedLimits = {
  /** A large audience behind one address may start orders before the first of them pays. */
  most: 100,
  countedMs: 60 * 60_000,
  /** How often paid orders are looked up. */
  lookEveryMs: 10_000,
  /** Needs 20 MB if each address has a hundred orders. */
  addresses: 2_000,
} as const

interface Begun {
  readonly atMs: Map<string, number>
  lookedAtMs: number
}

export class UnfinishedOrders {
  readonly #begun = new BoundedMap<string, Begun>(unfinishedLimits.addresses)

  toLookAt(key: string, nowMs: number): readonly string[] {
    const begun = this.#at(key, nowMs)
    const isDue = nowMs - begun.lookedAtMs >= unfinishedLimits.lookEveryMs
    if (begun.atMs.size < unfinishedLimits.most || !isDue) return []
    begun.lookedAtMs = nowMs
    return [...begun.atMs.keys()]
  }

  /** Counts the order and returns 0, or returns the milliseconds to wait. */
  begin(key: string, paymentId: string, nowMs: number): number {
    const { atMs } = this.#at(key, nowMs)
    if (atMs.size < unfinishedLimits.most) {
      atMs.set(paymentId, nowMs)
      return 0
    }
    const [oldestMs = nowMs] = atMs.values()
    return Math.max(1, oldestMs + unfinishedLimits.countedMs - nowMs)
  }

  /** The order was paid or never created. */
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
