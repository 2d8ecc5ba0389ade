// Caches the price lists for a few seconds. A list is set at least a minute before it takes effect, so pricing a
// payment needs no query.

import type { Clock } from '../../../platform/runtime/clock.ts'
import { makePriceBook, type Price, type PriceBook } from './rules/price.ts'

export interface PriceSource {
  listSince(sinceMs: number): Promise<readonly Price[]>
}

const freshForMs = 3_000
/** Covers clock differences between gateways and slow commits of a new price. */
const overlapMs = 24 * 60 * 60_000

export class PriceDirectory {
  readonly #store: PriceSource
  readonly #clock: Clock
  readonly #prices = new Map<string, Price>()
  #newestMs = 0
  #known: { readonly book: Promise<PriceBook>; readonly loadedAtMs: number } | undefined

  constructor(parts: { store: PriceSource; clock: Clock }) {
    this.#store = parts.store
    this.#clock = parts.clock
  }

  current(): Promise<PriceBook> {
    const nowMs = this.#clock.now()
    if (this.#known && Math.abs(nowMs - this.#known.loadedAtMs) <= freshForMs) return this.#known.book
    const known = { book: this.#load(this.#known?.book), loadedAtMs: nowMs }
    known.book.catch(() => {
      if (this.#known === known) this.#known = undefined
    })
    this.#known = known
    return known.book
  }

  /** Loads recent lists with an overlap, because clocks differ. */
  async #load(before: Promise<PriceBook> | undefined): Promise<PriceBook> {
    const found = await this.#store.listSince(Math.min(this.#newestMs, this.#clock.now()) - overlapMs)
    const added = found.filter(({ priceId }) => !this.#prices.has(priceId))
    for (const price of added) this.#prices.set(price.priceId, price)
    this.#newestMs = Math.max(this.#newestMs, ...added.map(({ createdAtMs }) => createdAtMs))
    const book = await before?.catch(() => undefined)
    return book && added.length === 0 ? book : makePriceBook([...this.#prices.values()])
  }
}
