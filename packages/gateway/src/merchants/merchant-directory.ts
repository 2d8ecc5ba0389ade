// The merchants that were seen lately, with their keys unsealed and parsed. What it remembers is never older than
// a few seconds, so that a suspension or a revoked key is known in every process before long.
import { createHash } from 'node:crypto'
import { type OpeningKeys, parseAesKey, parsePublicKey } from '@tillgate/protocol'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Vault } from '../platform/vault.ts'
import type { Merchant, MerchantKey } from './rules/merchant.ts'
import type { MerchantStore, MerchantWithKeys } from './store/merchants.ts'

export interface KnownMerchant {
  readonly merchant: Merchant
  readonly keys: OpeningKeys
  /** Equal for equal sets of keys. */
  readonly keysVersion: string
}

export interface DirectoryEntry {
  /** Undefined: there is no such merchant. */
  readonly known: KnownMerchant | undefined
  readonly loadedAtMs: number
}

/** A revoked key must stop working within 5 seconds everywhere; the rest is for the way there. */
const freshForMs = 3_000
const maxEntries = 10_000

export class MerchantDirectory {
  readonly #entries = new BoundedMap<string, DirectoryEntry>(maxEntries)
  readonly #loading = new Map<string, Promise<DirectoryEntry>>()
  readonly #store: Pick<MerchantStore, 'findMerchant'>
  readonly #vault: Vault

  constructor(parts: { store: Pick<MerchantStore, 'findMerchant'>; vault: Vault }) {
    this.#store = parts.store
    this.#vault = parts.vault
  }

  /** What is remembered, if it is fresh. */
  remembered(merchantId: string, nowMs: number): DirectoryEntry | undefined {
    const entry = this.#entries.get(merchantId)
    if (!entry || Math.abs(nowMs - entry.loadedAtMs) > freshForMs) return undefined
    return entry
  }

  /** Reads it anew. `nowMs` is the time before reading: what is read may be newer, never older. */
  load(merchantId: string, nowMs: number): Promise<DirectoryEntry> {
    const underWay = this.#loading.get(merchantId)
    if (underWay) return underWay
    const loading = this.#read(merchantId, nowMs).finally(() => this.#loading.delete(merchantId))
    this.#loading.set(merchantId, loading)
    return loading
  }

  async #read(merchantId: string, nowMs: number): Promise<DirectoryEntry> {
    const stored = await this.#store.findMerchant(merchantId)
    const entry = {
      known: stored && this.#know(stored, this.#entries.get(merchantId)?.known),
      loadedAtMs: nowMs,
    }
    this.#entries.set(merchantId, entry)
    return entry
  }

  #know({ merchant, keys }: MerchantWithKeys, before: KnownMerchant | undefined): KnownMerchant {
    const keysVersion = versionOf(keys)
    if (before?.keysVersion === keysVersion) return { ...before, merchant }
    return { merchant, keysVersion, keys: this.#open(keys) }
  }

  #open(keys: readonly MerchantKey[]): OpeningKeys {
    return {
      aesKeys: keys.flatMap((key) =>
        key.kind === 'aes'
          ? parseAesKey(this.#vault.open(key.sealedKey, placeOf(key)).toString('base64'))
          : [],
      ),
      publicKeys: keys.flatMap((key) => (key.kind === 'rsa' ? parsePublicKey(key.publicKey) : [])),
    }
  }
}

/** Where a sealed AES key belongs: it opens in this place alone. */
export function placeOf({ merchantId, keyId }: { merchantId: string; keyId: string }): string {
  return `merchant_keys ${merchantId} ${keyId}`
}

function versionOf(keys: readonly MerchantKey[]): string {
  const hash = createHash('sha256')
  for (const key of keys) hash.update(key.keyId).update(key.kind === 'rsa' ? key.publicKey : key.sealedKey)
  return hash.digest('base64')
}
