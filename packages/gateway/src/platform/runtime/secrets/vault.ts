// Seals secrets in the database (AES keys, private keys) under a master key outside it. A sealed secret is bound to
// its row. During a rotation, the first key seals and all open.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

export interface Vault {
  /** The id of the sealing key. An id reveals nothing about its key. */
  readonly masterKeyId: Buffer
  readonly masterKeyIds: readonly Buffer[]
  /** The cost of hashing a PIN or a password. */
  readonly hashCost: ScryptCost
  seal(secret: Buffer, place: string): Buffer
  open(sealed: Buffer, place: string): Buffer
  /** Derives keys of 32 bytes for one purpose, one per master key, independent of all other purposes. */
  deriveKeys(purpose: string): readonly [Buffer, ...Buffer[]]
}

export interface ScryptCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** 32 MiB and about 100 ms per guess on one core. */
const hashCost = { N: 2 ** 15, r: 8, p: 1 } as const

// Format: version byte, master key id, nonce, ciphertext, tag.
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
