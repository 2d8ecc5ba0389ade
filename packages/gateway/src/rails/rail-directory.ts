// The rails as they were seen a moment ago, with their secrets unsealed: checkouts and notices ask for them all the time,
// and operators change them seldom. What it remembers is a few seconds old at most.
import type { WebhookSecret } from '@tillgate/protocol'
import type { Clock } from '../platform/clock.ts'
import type { Vault } from '../platform/vault.ts'
import { type OutsideRail, placeOfRailSecret } from './rules/outside-rail.ts'
import type { RailStore, RailWithSecrets } from './store/rails.ts'

export interface KnownRail {
  readonly rail: OutsideRail
  /** The newest first. */
  readonly secrets: readonly WebhookSecret[]
}

const freshForMs = 3_000

export class RailDirectory {
  readonly #store: Pick<RailStore, 'listRails'>
  readonly #vault: Vault
  readonly #clock: Clock
  #known: { readonly rails: Promise<ReadonlyMap<string, KnownRail>>; readonly loadedAtMs: number } | undefined

  constructor(parts: { store: Pick<RailStore, 'listRails'>; vault: Vault; clock: Clock }) {
    this.#store = parts.store
    this.#vault = parts.vault
    this.#clock = parts.clock
  }

  /** In the order of the checkout. */
  all(): Promise<ReadonlyMap<string, KnownRail>> {
    const nowMs = this.#clock.now()
    if (this.#known && Math.abs(nowMs - this.#known.loadedAtMs) <= freshForMs) return this.#known.rails
    const known = { rails: this.#load(), loadedAtMs: nowMs }
    known.rails.catch(() => {
      if (this.#known === known) this.#known = undefined
    })
    this.#known = known
    return known.rails
  }

  async find(railId: string): Promise<KnownRail | undefined> {
    return (await this.all()).get(railId)
  }

  /** Something is known to have changed. */
  forget(): void {
    this.#known = undefined
  }

  async #load(): Promise<ReadonlyMap<string, KnownRail>> {
    const listed = await this.#store.listRails()
    return new Map(listed.map((each) => [each.rail.railId, this.#open(each)]))
  }

  #open({ rail, secrets }: RailWithSecrets): KnownRail {
    return {
      rail,
      secrets: secrets.map((secret) =>
        this.#vault.open(secret.sealedSecret, placeOfRailSecret(secret)).toString('utf8'),
      ),
    }
  }
}
