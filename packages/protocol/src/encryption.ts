// AES-256-GCM as the body uses it: base64(12-byte nonce ‖ ciphertext ‖ 16-byte tag), without associated data.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { encodeBase64 } from './base64.ts'
import type { AesKey } from './keys.ts'
import { aesNonceBytes, aesTagBytes } from './limits.ts'

const algorithm = 'aes-256-gcm'
// Without this option, Node accepts a 4-byte tag, which can be guessed.
const options = { authTagLength: aesTagBytes } as const
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Only test vectors pass a nonce: reusing one with the same key reveals the plaintexts and the authentication key. */
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

/** undefined if the bytes were encrypted with another key, were changed, or do not contain UTF-8. */
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
