// The vault seals the secrets that rest in the database (AES keys, our private keys) under a master key that is
// not in it. A sealed secret is bound to its place: moved to another row, it does not open. While the master key is
// replaced the vault knows several: the first seals, all of them open.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

export interface Vault {
  /** Of the key that seals. An id tells master keys apart without telling anything about them. */
  readonly masterKeyId: Buffer
  /** Of all that open. */
  readonly masterKeyIds: readonly Buffer[]
  /** What hashing a PIN or a password costs before it is sealed. */
  readonly hashCost: ScryptCost
  seal(secret: Buffer, place: string): Buffer
  open(sealed: Buffer, place: string): Buffer
  /**
   * Keys of 32 bytes for one purpose, one of each master key, the same in every process; nothing about another
   * purpose follows from them.
   */
  deriveKeys(purpose: string): readonly [Buffer, ...Buffer[]]
}

export interface ScryptCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** 32 MiB and about 100 ms on one core: each guess must cost. */
const hashCost = { N: 2 ** 15, r: 8, p: 1 } as const

// One byte of version, the master key's id, the nonce, the ciphertext, the tag.
const version = 1
const idBytes = 8
const nonceBytes = 12
const tagBytes = 16
const headerBytes = 1 + idBytes + nonceBytes

export function makeVault(masterKey: Buffer, ...others: readonly Buffer[]): Vault {
  const masterKeyId = idOfMasterKey(masterKey)
  const known = [masterKey, ...others].map((key) => ({ id: idOfMasterKey(key), key }))
  const derive = (key: Buffer, purpose: string) =>
    Buffer.from(hkdfSync('sha256', key, '', `tillgate ${purpose}`, 32))
  return {
    masterKeyId,
    masterKeyIds: known.map(({ id }) => id),
    hashCost,
    seal(secret, place) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', masterKey, nonce, { authTagLength: tagBytes })
      cipher.setAAD(Buffer.from(place))
      const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()])
      return Buffer.concat([Buffer.from([version]), masterKeyId, nonce, ciphertext, cipher.getAuthTag()])
    },
    open(sealed, place) {
      if (sealed.length < headerBytes + tagBytes || sealed[0] !== version)
        throw new Error('not a sealed secret')
      const sealedUnder = masterKeyIdOf(sealed)
      const found = known.find(({ id }) => id.equals(sealedUnder))
      if (!found) throw new Error('sealed under another master key')
      const nonce = sealed.subarray(1 + idBytes, headerBytes)
      const decipher = createDecipheriv('aes-256-gcm', found.key, nonce, { authTagLength: tagBytes })
      decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(sealed.subarray(-tagBytes))
      return Buffer.concat([decipher.update(sealed.subarray(headerBytes, -tagBytes)), decipher.final()])
    },
    deriveKeys: (purpose) => [derive(masterKey, purpose), ...others.map((key) => derive(key, purpose))],
  }
}

function idOfMasterKey(key: Buffer): Buffer {
  return createHash('sha256').update('tillgate master key').update(key).digest().subarray(0, idBytes)
}

export function masterKeyIdOf(sealed: Buffer): Buffer {
  return sealed.subarray(1, 1 + idBytes)
}
