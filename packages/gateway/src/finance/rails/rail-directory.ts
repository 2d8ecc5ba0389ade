// Caches the rails with their unsealed secrets for a few seconds. A rail whose secret cannot be opened is out of
// service, without affecting the others.
import type { WebhookSecret } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { type OutsideRail, placeOfRailSecret } from './rules/outside-rail.ts'
import type { RailStore, RailWithSecrets } from './store/rails.ts'

export interface KnownRail {
  readonly rail: OutsideRail
  readonly secrets: readonly WebhookSecret[]
}

const freshForMs = 3_000

export interface RailDirectoryParts {
  readonly store: Pick<RailStore, 'listRails'>
  readonly vault: Vault
  readonly clock: Clock
  /** Reports a rail that is out of service, once until its secrets open again. */
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

  /** In checkout order. */
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

/** Without an opened secret, the rail counts as paused and reports the reason. */
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

/** A bank transfer rail needs no secret. */
function isUsable(listed: RailWithSecrets, { secrets }: Pick<KnownRail, 'secrets'>): boolean {
  return secrets.length > 0 || listed.secrets.length === 0
}
