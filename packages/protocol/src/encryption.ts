// AES-256-GCM as the body uses it: base64(12-byte nonce ‖ ciphertext ‖ 16-byte tag), without associated data.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { encodeBase64 } from './base64.ts'
import type { AesKey } from './keys.ts'
import { aesNonceBytes, aesTagBytes } from './limits.ts'

const algorithm = 'aes-256-gcm'
// Without this Node accepts a tag of 4 bytes, which can be guessed.
const options = { authTagLength: aesTagBytes } as const
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A nonce is given by test vectors alone: using one twice with the same key gives the key's secrets away. */
export function encryptText(
  text: string,
  key: AesKey,
  nonce: Uint8Array = randomBytes(aesNonceBytes),
): string {
  if (nonce.length !== aesNonceBytes) throw new RangeError(`the nonce must have ${aesNonceBytes} bytes`)
  const cipher = createCipheriv(algorithm, key, nonce, options)
  return encodeBase64(
    Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]),
  )
}

/** undefined when the bytes were not made with this key, were changed, or do not hold UTF-8. */
export function decryptBytes(bytes: Buffer, key: AesKey): string | undefined {
  if (bytes.length < aesNonceBytes + aesTagBytes) return undefined
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, aesNonceBytes), options)
  decipher.setAuthTag(bytes.subarray(-aesTagBytes))
  try {
    const start = decipher.update(bytes.subarray(aesNonceBytes, -aesTagBytes))
    return utf8.decode(Buffer.concat([start, decipher.final()]))
  } catch {
    return undefined
  }
}
