// What goes wrong, by the seed: processes die at any step, connections break around any statement, processes stand still
// past their leases, clocks jump by hours. Some seeds are calm, some are wild.
import type { Fate } from './scheduler.ts'
import type { Seeded } from './seeded.ts'
import type { ConnectionFate } from './simulated-pool.ts'

const minute = 60_000
const hour = 60 * minute

export interface Pause {
  readonly durationMs: number
  readonly endsAtTakeover: boolean
}

export class Faults {
  readonly #seeded: Seeded
  readonly #dies: number
  readonly #breaks: number
  readonly #standsStill: number
  /** After the healing nothing breaks any more. */
  isHealed = false
  readonly counts = { deaths: 0, connectionsLost: 0, pauses: 0, jumps: 0 }

  constructor(seeded: Seeded) {
    this.#seeded = seeded
    const wildness = seeded.pick([0, 0.3, 1, 1, 3])
    this.#dies = 0.006 * wildness
    this.#breaks = 0.024 * wildness
    this.#standsStill = 0.0036 * wildness
  }

  fate(): Fate {
    if (this.isHealed) return 'goes_on'
    if (this.#seeded.isLucky(this.#standsStill)) return 'stands_still'
    if (!this.#seeded.isLucky(this.#dies)) return 'goes_on'
    this.counts.deaths += 1
    return this.#seeded.pick(['dies_before', 'dies_after'])
  }

  /** A COMMIT three times as often: whether it was done is what is hardest to know. */
  connectionFate(label: string): ConnectionFate {
    const breaks = label === 'commit' ? 3 * this.#breaks : this.#breaks
    if (this.isHealed || !this.#seeded.isLucky(breaks)) return 'holds'
    this.counts.connectionsLost += 1
    return this.#seeded.pick(['lost_before', 'lost_after'])
  }

  /** Whether a process stands still while all wait for something. */
  isPaused(): boolean {
    return !this.isHealed && this.#seeded.isLucky(0.028)
  }

  /** Longer than any lease; and some wake at the very moment at which another takes over what they held. */
  pause(): Pause {
    this.counts.pauses += 1
    return { durationMs: this.#seeded.whole(31_000, 10 * minute), endsAtTakeover: this.#seeded.isLucky(0.5) }
  }

  jumpMs(): number | undefined {
    if (this.isHealed || !this.#seeded.isLucky(0.005)) return undefined
    this.counts.jumps += 1
    return this.#seeded.whole(-6 * hour, 6 * hour)
  }

  restartAfterMs(): number {
    return this.#seeded.whole(500, 20_000)
  }
}
