// Caches recently used merchants with their parsed keys, for a few seconds at most, so that every process soon sees a
// suspension or a revoked key.
import { createHash, type KeyObject } from 'node:crypto'
import { type AesKey, type OpeningKeys, parseAesKey, parsePublicKey } from '@tillgate/protocol'
import { BoundedMap } from '../../platform/runtime/bounded-map.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { callbackKey, isUseSettled, type UsedKey } from './rules/key-use.ts'
import type { Merchant, MerchantKey } from './rules/merchant.ts'
import type { MerchantStore, MerchantWithKeys } from './store/merchants.ts'

export interface KnownMerchant {
  readonly merchant: Merchant
  readonly keys: OpeningKeys
  /** Equal for equal sets of keys. */
  readonly keysVersion: string
  /** Undefined if the merchant has no live AES key. */
  readonly callbackKey: AesKey | undefined
  readonly useOfKeys: ReadonlyMap<KeyObject, UsedKey>
  /** The stored choice, which may name a revoked key. */
  readonly aesKeyInUse: string | undefined
  /** The use of every key is recorded, so requests need not record it again. */
  readonly isUseSettled: boolean
}

export interface DirectoryEntry {
  /** Undefined if the merchant does not exist. */
  readonly known: KnownMerchant | undefined
  readonly loadedAtMs: number
}

/** A revoked key must stop working everywhere within 5 seconds, including the notification. */
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

  remembered(merchantId: string, nowMs: number): DirectoryEntry | undefined {
    const entry = this.#entries.get(merchantId)
    if (!entry || Math.abs(nowMs - entry.loadedAtMs) > freshForMs) return undefined
    return entry
  }

  /** `nowMs` is the time before the read, so the entry may be newer but never older. */
  load(merchantId: string, nowMs: number): Promise<DirectoryEntry> {
    const underWay = this.#loading.get(merchantId)
    if (underWay) return underWay
    const isCurrent = () => this.#loading.get(merchantId) === loading
    const loading: Promise<DirectoryEntry> = this.#read(merchantId, { nowMs, isCurrent }).finally(() => {
      if (isCurrent()) this.#loading.delete(merchantId)
    })
    this.#loading.set(merchantId, loading)
    return loading
  }

  forget(merchantId: string): void {
    this.#loading.delete(merchantId)
    const entry = this.#entries.get(merchantId)
    // The parsed keys stay, because parsing them costs more than reading.
    if (entry) this.#entries.set(merchantId, { ...entry, loadedAtMs: Number.NEGATIVE_INFINITY })
  }

  async #read(
    merchantId: string,
    { nowMs, isCurrent }: { nowMs: number; isCurrent: () => boolean },
  ): Promise<DirectoryEntry> {
    const stored = await this.#store.findMerchant(merchantId)
    const entry = {
      known: stored && this.#know(stored, this.#entries.get(merchantId)?.known),
      loadedAtMs: nowMs,
    }
    if (isCurrent()) this.#entries.set(merchantId, entry)
    return entry
  }

  #know(stored: MerchantWithKeys, before: KnownMerchant | undefined): KnownMerchant {
    const { merchant, keys: rows, aesKeyInUse } = stored
    const keysVersion = versionOf(rows)
    const keys = before?.keysVersion === keysVersion ? before.keys : this.#open(rows)
    const useOfKeys = withParsed(rows, keys)
    const sealing = callbackKey(rows)
    return {
      merchant,
      keys,
      keysVersion,
      callbackKey: [...useOfKeys].find(([, { keyId }]) => keyId === sealing?.keyId)?.[0],
      useOfKeys,
      aesKeyInUse,
      isUseSettled: isUseSettled(rows),
    }
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

function withParsed(rows: readonly UsedKey[], { aesKeys, publicKeys }: OpeningKeys): Map<KeyObject, UsedKey> {
  const parsed = { aes: aesKeys.values(), rsa: publicKeys.values() }
  return new Map(
    rows.flatMap((row) => {
      const { value: key } = parsed[row.kind].next()
      return key ? [[key, row]] : []
    }),
  )
}

/** A sealed AES key can be opened only for this place. */
export function placeOf({ merchantId, keyId }: { merchantId: string; keyId: string }): string {
  return `merchant_keys ${merchantId} ${keyId}`
}

function versionOf(keys: readonly MerchantKey[]): string {
  const hash = createHash('sha256')
  for (const key of keys) hash.update(key.keyId).update(key.kind === 'rsa' ? key.publicKey : key.sealedKey)
  return hash.digest('base64')
}
