// Decrypts the body correctly and, if that fails, with the usual mistakes.
import { createDecipheriv, createHash, createSecretKey, type KeyObject } from 'node:crypto'
import { aesNonceBytes, aesTagBytes } from '@tillgate/protocol'
import type { Finding } from './finding.ts'
import type { DebugKeys } from './keys.ts'

export type Decryption =
  | { readonly kind: 'opened'; readonly plain: Buffer; readonly finding?: Finding }
  | { readonly kind: 'not_opened'; readonly finding: Finding }

const layoutFix =
  'body is base64( nonce of 12 bytes ‖ ciphertext ‖ tag of 16 bytes ): docs/protocol.md, section 7.'

export function decryptLeniently(
  bytes: Buffer,
  keys: Pick<DebugKeys, 'aesKeys' | 'aesKeyTexts'>,
): Decryption {
  for (const key of keys.aesKeys) {
    const plain = gcm(key, { nonce: bytes.subarray(0, aesNonceBytes), sealed: bytes.subarray(aesNonceBytes) })
    if (plain) return { kind: 'opened', plain }
  }
  if (looksLikeJson(bytes)) {
    return opened(
      bytes,
      'body_not_encrypted',
      'The body is not encrypted: it is JSON text in base64.',
      layoutFix,
    )
  }
  for (const key of keys.aesKeys) {
    for (const guess of guesses(key, bytes)) {
      const plain = guess.plain()
      if (plain) return opened(plain, guess.kind, guess.problem, layoutFix)
    }
  }
  for (const guess of wrongKeys(keys.aesKeyTexts, bytes)) {
    const plain = guess.plain()
    if (plain)
      return opened(
        plain,
        'aes_key_not_decoded',
        guess.problem,
        'Decode the key from base64 to 32 bytes first.',
      )
  }
  return { kind: 'not_opened', finding: otherKey(keys.aesKeys.length) }
}

function opened(plain: Buffer, kind: string, problem: string, fix: string): Decryption {
  return { kind: 'opened', plain, finding: { kind, problem, fix } }
}

function otherKey(tried: number): Finding {
  if (tried === 0) {
    const problem = 'There is no usable AES key, so the body cannot be looked into.'
    return { kind: 'no_aes_key', problem, fix: 'Fix the AES key first, then try again.' }
  }
  return {
    kind: 'other_aes_key',
    problem: 'The body was not encrypted with this AES key, or was changed on the way.',
    fix: 'Compare the key: another merchant’s, the live one instead of the sandbox’s, or the one before a rotation? During a rotation use both: TILLGATE_AES_KEY=new,old.',
  }
}

interface Guess {
  readonly kind: string
  readonly problem: string
  readonly plain: () => Buffer | undefined
}

function guesses(key: KeyObject, bytes: Buffer): Guess[] {
  const [n, t] = [aesNonceBytes, aesTagBytes]
  const tagOrder = (problem: string, nonce: Buffer, text: Buffer, tag: Buffer): Guess => ({
    kind: 'tag_order',
    problem,
    plain: () => gcm(key, { nonce, sealed: Buffer.concat([text, tag]) }),
  })
  return [
    tagOrder(
      'The tag stands before the ciphertext.',
      bytes.subarray(0, n),
      bytes.subarray(n + t),
      bytes.subarray(n, n + t),
    ),
    tagOrder(
      'The tag stands in front of all.',
      bytes.subarray(t, t + n),
      bytes.subarray(t + n),
      bytes.subarray(0, t),
    ),
    tagOrder(
      'The nonce stands at the end.',
      bytes.subarray(-n),
      bytes.subarray(0, -(n + t)),
      bytes.subarray(-(n + t), -n),
    ),
    {
      kind: 'nonce_length',
      problem: 'The nonce has 16 bytes.',
      plain: () => gcm(key, { nonce: bytes.subarray(0, 16), sealed: bytes.subarray(16) }),
    },
    {
      kind: 'tag_missing',
      problem: 'The tag of 16 bytes is missing: the body ends with the ciphertext.',
      plain: () => jsonOrNothing(counterMode(key, bytes.subarray(0, n), bytes.subarray(n))),
    },
    {
      kind: 'tag_wrong',
      problem:
        'The key is right, but the tag does not fit: shortened, made with associated data, or the body was changed.',
      plain: () => startsLikeJson(counterMode(key, bytes.subarray(0, n), bytes.subarray(n, -t))),
    },
    {
      kind: 'cbc_instead_of_gcm',
      problem: 'The body was encrypted in CBC mode, not in GCM.',
      plain: () =>
        jsonOrNothing(block('aes-256-cbc', key, bytes.subarray(0, 16), bytes.subarray(16))) ??
        jsonOrNothing(block('aes-256-cbc', key, Buffer.alloc(16), bytes)),
    },
    {
      kind: 'ecb_instead_of_gcm',
      problem: 'The body was encrypted in ECB mode, not in GCM.',
      plain: () => jsonOrNothing(block('aes-256-ecb', key, null, bytes)),
    },
  ]
}

function wrongKeys(texts: readonly string[], bytes: Buffer): Omit<Guess, 'kind'>[] {
  const open = (key: Buffer) =>
    gcm(createSecretKey(key), {
      nonce: bytes.subarray(0, aesNonceBytes),
      sealed: bytes.subarray(aesNonceBytes),
    })
  return texts.flatMap((text) => [
    {
      problem: 'The first 32 characters of the key’s base64 text were used as the key.',
      plain: () => (Buffer.byteLength(text) >= 32 ? open(Buffer.from(text).subarray(0, 32)) : undefined),
    },
    {
      problem: 'A SHA-256 hash of the key’s base64 text was used as the key.',
      plain: () => open(createHash('sha256').update(text).digest()),
    },
  ])
}

function gcm(key: KeyObject, { nonce, sealed }: { nonce: Buffer; sealed: Buffer }): Buffer | undefined {
  if (sealed.length < aesTagBytes || nonce.length < aesNonceBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: aesTagBytes })
  decipher.setAuthTag(sealed.subarray(-aesTagBytes))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -aesTagBytes)), decipher.final()])
  } catch {
    return undefined
  }
}

/**
 * The encryption inside GCM, with a counter that starts at 2. It does not check the tag, so it only serves for
 * diagnosis.
 */
function counterMode(key: KeyObject, nonce: Buffer, text: Buffer): Buffer | undefined {
  if (nonce.length !== aesNonceBytes) return undefined
  const decipher = createDecipheriv('aes-256-ctr', key, Buffer.concat([nonce, Buffer.from([0, 0, 0, 2])]))
  return Buffer.concat([decipher.update(text), decipher.final()])
}

function block(mode: string, key: KeyObject, iv: Buffer | null, text: Buffer): Buffer | undefined {
  if (text.length === 0 || text.length % 16 !== 0 || (iv !== null && iv.length !== 16)) return undefined
  const decipher = createDecipheriv(mode, key, iv)
  try {
    return Buffer.concat([decipher.update(text), decipher.final()])
  } catch {
    return undefined
  }
}

function jsonOrNothing(plain: Buffer | undefined): Buffer | undefined {
  return plain !== undefined && looksLikeJson(plain) ? plain : undefined
}

/** The text may be cut or changed. A wrong key produces sixteen such characters once in 10^11 times. */
function startsLikeJson(plain: Buffer | undefined): Buffer | undefined {
  const start = plain?.subarray(0, 16).toString('latin1') ?? ''
  return /^\s*\{\s*["}][\x20-\x7e\s]*$/.test(start) ? plain : undefined
}

function looksLikeJson(bytes: Buffer): boolean {
  try {
    return typeof JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, '')) === 'object'
  } catch {
    return false
  }
}
