// Addresses from which an envelope was opened lately: those of merchants. All others are unknown, consumers included.

const maxAddresses = 100_000

export class KnownAddresses {
  readonly #max: number
  /** From the longest unused to the last used. */
  readonly #keys = new Set<string>()

  constructor({ max = maxAddresses } = {}) {
    this.#max = max
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  add(key: string): void {
    this.#keys.delete(key)
    this.#keys.add(key)
    if (this.#keys.size <= this.#max) return
    const [oldest] = this.#keys
    if (oldest !== undefined) this.#keys.delete(oldest)
  }
}
