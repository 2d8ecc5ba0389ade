// The fixed keys of docs/test-vectors.json. They are public and good for nothing but tests.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'

export const merchantId = '100000000000000001'
export const timestamp = 1760000000000

export const vectorsPath = new URL('../../../docs/test-vectors.json', import.meta.url)

export interface KeysOfOne {
  readonly aesKey: string
  readonly privateKey: string
  readonly publicKey: string
}

export interface VectorKeys {
  /** Signs requests; its AES key encrypts both ways. */
  readonly merchant: KeysOfOne
  /** The gateway: signs callbacks and redirects. Its AES key is the merchant's. */
  readonly gateway: KeysOfOne
  /** Somebody else, whose messages must not open. */
  readonly stranger: KeysOfOne
}

export function readVectorKeys(): VectorKeys {
  return JSON.parse(readFileSync(vectorsPath, 'utf8')).keys
}

/** Only for the very first file: new keys would change every signature that others have copied. */
export function makeVectorKeys(): VectorKeys {
  const merchant = makeKeysOfOne()
  return { merchant, gateway: { ...makeKeysOfOne(), aesKey: merchant.aesKey }, stranger: makeKeysOfOne() }
}

function makeKeysOfOne(): KeysOfOne {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    aesKey: randomBytes(32).toString('base64'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
}
