// Places for requests: so many in all, and so many for one address, so that nobody takes them all.

export class Places {
  readonly #limits: { readonly total: number; readonly perAddress: number }
  readonly #byAddress = new Map<string, number>()
  #taken = 0

  constructor(limits: { readonly total: number; readonly perAddress: number }) {
    this.#limits = limits
  }

  get taken(): number {
    return this.#taken
  }

  /** A function that gives the place back, once; undefined when there is none. */
  take(address: string): (() => void) | undefined {
    const ofAddress = this.#byAddress.get(address) ?? 0
    if (this.#taken >= this.#limits.total || ofAddress >= this.#limits.perAddress) return undefined
    this.#taken++
    this.#byAddress.set(address, ofAddress + 1)
    let given = false
    return () => {
      if (given) return
      given = true
      this.#giveBack(address)
    }
  }

  #giveBack(address: string): void {
    this.#taken--
    const left = (this.#byAddress.get(address) ?? 1) - 1
    if (left === 0) this.#byAddress.delete(address)
    else this.#byAddress.set(address, left)
  }
}
