// The gateway's own keys, cached. The newest active key signs callbacks and redirects; all keys that are not retired
// are published, so that merchants know a new key early and older signatures still verify.
import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { makeUuid, type RandomBytes } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { NewPlatformKey, PlatformKeyRow, PlatformKeyStore } from './store/platform-keys.ts'

export interface PublishedKey {
  readonly keyId: string
  /** SPKI in PEM. */
  readonly publicKey: string
  readonly createdAtMs: number
}

export interface SigningKey extends PublishedKey {
  readonly privateKey: KeyObject
  readonly signsFromMs: number
}

/** The longest delay until all processes use a new key or stop using a retired one. */
export const freshForMs = 30_000
const rsaBits = 2048

export class PlatformKeys {
  readonly #parts: { readonly store: PlatformKeyStore; readonly vault: Vault }
  #known: { readonly keys: readonly SigningKey[]; readonly loadedAtMs: number } | undefined
  #loading: Promise<readonly SigningKey[]> | undefined

  constructor(parts: { store: PlatformKeyStore; vault: Vault }) {
    this.#parts = parts
  }

  /** The signing key, if the cache is fresh. */
  remembered(nowMs: number): SigningKey | undefined {
    return signingOf(this.#fresh(nowMs) ?? [], nowMs)
  }

  async signing(nowMs: number): Promise<SigningKey> {
    const signs = signingOf(await this.#load(nowMs), nowMs)
    if (!signs) throw new Error('the gateway has no key of its own')
    return signs
  }

  /** The signing key first. */
  async published(nowMs: number): Promise<readonly PublishedKey[]> {
    const keys = await this.#load(nowMs)
    const signs = signingOf(keys, nowMs)
    return [...(signs ? [signs] : []), ...keys.filter((key) => key !== signs)].map(
      ({ keyId, publicKey, createdAtMs }) => ({ keyId, publicKey, createdAtMs }),
    )
  }

  /** Creates the first key if there is none. Safe under concurrent starts. */
  async ensure({ clock, random }: { clock: Clock; random: RandomBytes }): Promise<void> {
    const { store, vault } = this.#parts
    if ((await store.listKeys()).length > 0) return
    await store.insertFirstKey(await makePlatformKey({ vault, random, nowMs: clock.now(), signsFromMs: 0 }))
  }

  async #load(nowMs: number): Promise<readonly SigningKey[]> {
    const fresh = this.#fresh(nowMs)
    if (fresh) return fresh
    this.#loading ??= this.#read(nowMs).finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  #fresh(nowMs: number): readonly SigningKey[] | undefined {
    if (this.#known && Math.abs(nowMs - this.#known.loadedAtMs) <= freshForMs) return this.#known.keys
    return undefined
  }

  async #read(nowMs: number): Promise<readonly SigningKey[]> {
    const rows = await this.#parts.store.listKeys()
    const before = new Map(this.#known?.keys.map((key) => [key.keyId, key]))
    const keys = rows.map((row) => before.get(row.keyId) ?? this.#open(row))
    this.#known = { keys, loadedAtMs: nowMs }
    return keys
  }

  #open({ keyId, publicKey, sealedKey, createdAtMs, signsFromMs }: PlatformKeyRow): SigningKey {
    const key = this.#parts.vault.open(sealedKey, placeOf(keyId))
    const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    return { keyId, publicKey, createdAtMs, signsFromMs, privateKey }
  }
}

export function signingOf<Key extends { readonly signsFromMs: number }>(
  keys: readonly Key[],
  nowMs: number,
): Key | undefined {
  return keys.find(({ signsFromMs }) => signsFromMs <= nowMs)
}

export async function makePlatformKey({
  vault,
  random,
  nowMs,
  signsFromMs,
}: {
  vault: Vault
  random: RandomBytes
  nowMs: number
  signsFromMs: number
}): Promise<NewPlatformKey> {
  const keyId = makeUuid(nowMs, random)
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: rsaBits })
  const secret = pair.privateKey.export({ type: 'pkcs8', format: 'der' })
  return {
    keyId,
    publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    sealedKey: vault.seal(secret, placeOf(keyId)),
    createdAtMs: nowMs,
    signsFromMs,
  }
}

/** A sealed private key can be opened only for this place. */
export function placeOf(keyId: string): string {
  return `platform_keys ${keyId}`
}
