// A concurrency limit: so many slots in all, and so many for one key, so that nobody takes them all.

/** Gives the slot back, once. */
export type GiveBack = () => void

export interface SlotLimits {
  readonly total: number
  readonly perKey: number
}

export class Slots {
  readonly #limits: SlotLimits
  readonly #byKey = new Map<string, number>()
  #taken = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  get taken(): number {
    return this.#taken
  }

  /** Undefined when there is none. */
  take(key: string): GiveBack | undefined {
    const ofKey = this.#byKey.get(key) ?? 0
    if (this.#taken >= this.#limits.total || ofKey >= this.#limits.perKey) return undefined
    this.#taken++
    this.#byKey.set(key, ofKey + 1)
    let isGivenBack = false
    return () => {
      if (isGivenBack) return
      isGivenBack = true
      this.#giveBack(key)
    }
  }

  #giveBack(key: string): void {
    this.#taken--
    const left = (this.#byKey.get(key) ?? 1) - 1
    if (left === 0) this.#byKey.delete(key)
    else this.#byKey.set(key, left)
  }
}
