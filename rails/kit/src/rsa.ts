// RSA keys in the formats of providers, and signatures over SHA-256 with them (PKCS #1 v1.5).
import { createPrivateKey, createPublicKey, createSign, createVerify, type KeyObject } from 'node:crypto'

/** Reads PEM or its bare base64, in PKCS #8 or PKCS #1. Undefined if the text is not such a key. */
export function privateKeyOf(text: string): KeyObject | undefined {
  return firstKey([
    () => createPrivateKey({ key: derOf(text), format: 'der', type: 'pkcs8' }),
    () => createPrivateKey({ key: derOf(text), format: 'der', type: 'pkcs1' }),
  ])
}

/** Reads PEM or its bare base64. Undefined if the text is not such a key. */
export function publicKeyOf(text: string): KeyObject | undefined {
  return firstKey([() => createPublicKey({ key: derOf(text), format: 'der', type: 'spki' })])
}

export function signed(text: string, key: KeyObject): string {
  return createSign('sha256').update(text).sign(key, 'base64')
}

export function isSignedBy(key: KeyObject, text: string, signature: string): boolean {
  return createVerify('sha256').update(text).verify(key, signature, 'base64')
}

/** Why a key in the settings is invalid, as the end of a sentence. */
export const mustBePrivateKey = (value: string) =>
  privateKeyOf(value) ? undefined : 'must be an RSA private key, as PEM or its base64'
export const mustBePublicKey = (value: string) =>
  publicKeyOf(value) ? undefined : 'must be an RSA public key, as PEM or its base64'

function firstKey(ways: readonly (() => KeyObject)[]): KeyObject | undefined {
  for (const way of ways)
    try {
      const key = way()
      if (key.asymmetricKeyType === 'rsa') return key
    } catch {}
  return undefined
}

/** Environment variables often have `\n` instead of line breaks. */
function derOf(text: string): Buffer {
  return Buffer.from(text.replace(/-----[A-Z ]+-----/g, '').replace(/\\n|\s/g, ''), 'base64')
}
