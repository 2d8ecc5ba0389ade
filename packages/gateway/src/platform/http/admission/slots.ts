// A concurrency limit in total and per key, optionally with slots reserved for known addresses.

export type GiveBack = () => void

export interface SlotLimits {
  readonly total: number
  readonly perKey: number
  readonly reserved?: number
}

export class Slots {
  readonly #limits: SlotLimits
  readonly #byKey = new Map<string, number>()
  #taken = 0
  #takenByUnknown = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  get taken(): number {
    return this.#taken
  }

  /** The taken share of the slots available to unknown addresses, from 0 to 1. */
  get shareTakenByUnknown(): number {
    const { total, reserved = 0 } = this.#limits
    return this.#takenByUnknown / (total - reserved)
  }

  take(key: string, { isKnown = true } = {}): GiveBack | undefined {
    const { total, perKey, reserved = 0 } = this.#limits
    const ofKey = this.#byKey.get(key) ?? 0
    if (this.#taken >= total || ofKey >= perKey) return undefined
    if (!isKnown && this.#takenByUnknown >= total - reserved) return undefined
    this.#taken++
    if (!isKnown) this.#takenByUnknown++
    this.#byKey.set(key, ofKey + 1)
    let isGivenBack = false
    return () => {
      if (isGivenBack) return
      isGivenBack = true
      if (!isKnown) this.#takenByUnknown--
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
