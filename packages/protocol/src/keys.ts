// Parses keys that people paste and programs store: RSA keys as PEM (PKCS#8, PKCS#1, SPKI) or as the bare base64 of a
// PEM, AES keys as base64. Errors say what to do.
import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { decodeBase64 } from './base64.ts'
import { aesKeyBytes, maxRsaBits, minRsaBits } from './limits.ts'

/** A secret KeyObject of 32 bytes; only parseAesKey and makeAesKey create one. */
export type AesKey = KeyObject

/** The message never contains any part of the key. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
}

export function parseAesKey(text: string): AesKey {
  const bytes = decodeBase64(text.trim())
  if (bytes?.length !== aesKeyBytes) {
    throw new KeyError(`an AES key is ${aesKeyBytes} bytes in base64: 44 characters that end in "="`)
  }
  return createSecretKey(bytes)
}

export function makeAesKey(bytes: Uint8Array): AesKey {
  if (bytes.length !== aesKeyBytes) throw new KeyError(`an AES key is ${aesKeyBytes} bytes`)
  return createSecretKey(bytes)
}

export function parsePrivateKey(text: string): KeyObject {
  const trimmed = text.trim()
  if (/BEGIN (RSA )?PUBLIC KEY/.test(trimmed)) {
    throw new KeyError('this is a public RSA key, where a private one is needed')
  }
  if (/BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(trimmed)) {
    throw new KeyError('the private key is protected by a password: remove the password')
  }
  const key = readPrivateKey(trimmed)
  if (key === undefined)
    throw new KeyError('a private RSA key is PEM (PKCS#8 or PKCS#1) or the bare base64 of it')
  return checkRsa(key)
}

export function parsePublicKey(text: string): KeyObject {
  const trimmed = text.trim()
  // Node would silently derive the public half. A private key in place of a public one is about to be leaked.
  if (readPrivateKey(trimmed) !== undefined || /BEGIN [A-Z ]*PRIVATE KEY/.test(trimmed)) {
    throw new KeyError('this is a private key, where a public one is needed; never share a private key')
  }
  const key = readPublicKey(trimmed)
  if (key === undefined)
    throw new KeyError('a public RSA key is PEM (SPKI or PKCS#1) or the bare base64 of it')
  return checkRsa(key)
}

function readPrivateKey(text: string): KeyObject | undefined {
  if (text.startsWith('-----BEGIN')) return orUndefined(() => createPrivateKey(text))
  const key = bareBytes(text)
  if (key === undefined) return undefined
  return (
    orUndefined(() => createPrivateKey({ key, format: 'der', type: 'pkcs8' })) ??
    orUndefined(() => createPrivateKey({ key, format: 'der', type: 'pkcs1' }))
  )
}

function readPublicKey(text: string): KeyObject | undefined {
  if (text.startsWith('-----BEGIN')) return orUndefined(() => createPublicKey(text))
  const key = bareBytes(text)
  if (key === undefined) return undefined
  return (
    orUndefined(() => createPublicKey({ key, format: 'der', type: 'spki' })) ??
    orUndefined(() => createPublicKey({ key, format: 'der', type: 'pkcs1' }))
  )
}

/** OpenSSL's errors do not help the reader and differ between versions, so an unreadable key is simply not a key. */
function orUndefined(read: () => KeyObject): KeyObject | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Bare base64 is often wrapped at 64 or 76 characters, so only white space is allowed in it. */
function bareBytes(text: string): Buffer | undefined {
  return decodeBase64(text.replace(/\s+/g, ''))
}

function checkRsa(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'rsa')
    throw new KeyError(`this is a key for ${key.asymmetricKeyType}, not for RSA`)
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (modulusLength < minRsaBits) {
    throw new KeyError(`the RSA key has ${modulusLength} bits: create one of ${minRsaBits} bits or more`)
  }
  if (modulusLength > maxRsaBits) {
    throw new KeyError(`the RSA key has ${modulusLength} bits: create one of ${maxRsaBits} bits or fewer`)
  }
  // An exponent of 1 signs nothing, and a huge one slows down every verification.
  if (publicExponent < 3n || publicExponent % 2n === 0n || publicExponent >= 2n ** 32n) {
    throw new KeyError('the RSA key has an unusual public exponent: create one with 65537')
  }
  return key
}
