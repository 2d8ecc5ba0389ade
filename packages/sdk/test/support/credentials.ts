// Credentials for tests, from the keys of the test vectors: making an RSA pair takes a quarter of a second.
import { readFileSync } from 'node:fs'
import { parseAesKey, parsePrivateKey, parsePublicKey } from '@tillgate/protocol'

const vectors = JSON.parse(
  readFileSync(new URL('../../../../docs/test-vectors.json', import.meta.url), 'utf8'),
)

export interface KeysOfOne {
  readonly aesKey: string
  readonly privateKey: string
  readonly publicKey: string
}

export const keys: {
  readonly merchant: KeysOfOne
  readonly gateway: KeysOfOne
  readonly stranger: KeysOfOne
} = vectors.keys

export const credentials = {
  gatewayUrl: 'https://pay.example',
  merchantId: '100000000000000001',
  aesKey: keys.merchant.aesKey,
  privateKey: keys.merchant.privateKey,
  platformPublicKey: keys.gateway.publicKey,
} as const

export const parsed = {
  aesKey: parseAesKey(keys.merchant.aesKey),
  merchantPrivateKey: parsePrivateKey(keys.merchant.privateKey),
  merchantPublicKey: parsePublicKey(keys.merchant.publicKey),
  gatewayPrivateKey: parsePrivateKey(keys.gateway.privateKey),
}

export const callbackVectors: readonly {
  readonly name: string
  readonly body: string
  readonly envelope: object
}[] = vectors.callbacks

export const redirectVectors: readonly { readonly query: string }[] = vectors.redirects
