// The merchants that were seen lately, with their keys unsealed and parsed. What it remembers is never older than
// a few seconds, so that a suspension or a revoked key is known in every process before long.
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
  /** Seals callbacks; undefined: the merchant has no live AES key. */
  readonly callbackKey: AesKey | undefined
  /** What is recorded about the use of each key, the oldest first. */
  readonly useOfKeys: ReadonlyMap<KeyObject, UsedKey>
  /** As it is stored: the number of a key that may be revoked. */
  readonly aesKeyInUse: string | undefined
  /** No request has anything to record about its keys. */
  readonly isUseSettled: boolean
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
    const isCurrent = () => this.#loading.get(merchantId) === loading
    const loading: Promise<DirectoryEntry> = this.#read(merchantId, { nowMs, isCurrent }).finally(() => {
      if (isCurrent()) this.#loading.delete(merchantId)
    })
    this.#loading.set(merchantId, loading)
    return loading
  }

  /** The merchant has changed: what was read before this moment is not remembered. */
  forget(merchantId: string): void {
    this.#loading.delete(merchantId)
    const entry = this.#entries.get(merchantId)
    // Its keys are kept: parsing them again costs more than the reading.
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

/** Each key as it was parsed, in the order of the rows, with its row. */
function withParsed(rows: readonly UsedKey[], { aesKeys, publicKeys }: OpeningKeys): Map<KeyObject, UsedKey> {
  const parsed = { aes: aesKeys.values(), rsa: publicKeys.values() }
  return new Map(
    rows.flatMap((row) => {
      const { value: key } = parsed[row.kind].next()
      return key ? [[key, row]] : []
    }),
  )
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
