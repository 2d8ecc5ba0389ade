// The rails as they were seen a moment ago, with their secrets unsealed: checkouts and notifications ask for them all the time,
// and operators change them seldom. What it remembers is a few seconds old at most. A rail whose secret cannot be opened is
// out of service by itself: the others go on.
import type { WebhookSecret } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { type OutsideRail, placeOfRailSecret } from './rules/outside-rail.ts'
import type { RailStore, RailWithSecrets } from './store/rails.ts'

export interface KnownRail {
  readonly rail: OutsideRail
  /** The newest first. */
  readonly secrets: readonly WebhookSecret[]
}

const freshForMs = 3_000

export interface RailDirectoryParts {
  readonly store: Pick<RailStore, 'listRails'>
  readonly vault: Vault
  readonly clock: Clock
  /** A rail is out of service: told once, until its secrets open again. */
  readonly log?: Log
}

export class RailDirectory {
  readonly #store: Pick<RailStore, 'listRails'>
  readonly #vault: Vault
  readonly #clock: Clock
  readonly #log: Log | undefined
  readonly #unopened = new Set<string>()
  #known: { readonly rails: Promise<ReadonlyMap<string, KnownRail>>; readonly loadedAtMs: number } | undefined

  constructor(parts: RailDirectoryParts) {
    this.#store = parts.store
    this.#vault = parts.vault
    this.#clock = parts.clock
    this.#log = parts.log
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

  #open(listed: RailWithSecrets): KnownRail {
    const known = openSecrets(listed, this.#vault)
    const { railId, lastFailure } = known.rail
    if (isUsable(listed, known)) this.#unopened.delete(railId)
    else if (!this.#unopened.has(railId)) {
      this.#unopened.add(railId)
      this.#log?.warn({ worker: 'ask-rails', railId }, `rail ${railId} is out of service: ${lastFailure}`)
    }
    return known
  }
}

/** Those of its secrets that open. Without any it is as if paused, whatever an operator says, and tells why. */
export function openSecrets(listed: RailWithSecrets, vault: Vault): KnownRail {
  const { rail } = listed
  const secrets: WebhookSecret[] = []
  let lastFailure = rail.lastFailure
  for (const secret of listed.secrets)
    try {
      secrets.push(vault.open(secret.sealedSecret, placeOfRailSecret(secret)).toString('utf8'))
    } catch (error) {
      lastFailure = `its secret cannot be opened: ${error instanceof Error ? error.message : error}`
    }
  return isUsable(listed, { secrets })
    ? { rail, secrets }
    : { rail: { ...rail, isPaused: true, lastFailure }, secrets }
}

/** A rail that is paid by bank transfer has no secret, and needs none. */
function isUsable(listed: RailWithSecrets, { secrets }: Pick<KnownRail, 'secrets'>): boolean {
  return secrets.length > 0 || listed.secrets.length === 0
}
