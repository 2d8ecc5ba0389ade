// The price lists in memory, a few seconds old at most. A list is set a minute before it holds, so what is remembered is
// always enough to price a payment, and no payment waits for a look at the database.

import type { Clock } from '../../../platform/runtime/clock.ts'
import { makePriceBook, type Price, type PriceBook } from './rules/price.ts'

/** Where price lists are kept. */
export interface PriceSource {
  listSince(sinceMs: number): Promise<readonly Price[]>
}

const freshForMs = 3_000
/** So much the clocks of two gateways may differ, and whoever set a price may be late to commit it. */
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

  /** Only what is new, with some overlap: also where one was set by a clock that is behind, or the newest by one that is ahead. */
  async #load(before: Promise<PriceBook> | undefined): Promise<PriceBook> {
    const found = await this.#store.listSince(Math.min(this.#newestMs, this.#clock.now()) - overlapMs)
    const added = found.filter(({ priceId }) => !this.#prices.has(priceId))
    for (const price of added) this.#prices.set(price.priceId, price)
    this.#newestMs = Math.max(this.#newestMs, ...added.map(({ createdAtMs }) => createdAtMs))
    const book = await before?.catch(() => undefined)
    return book && added.length === 0 ? book : makePriceBook([...this.#prices.values()])
  }
}
