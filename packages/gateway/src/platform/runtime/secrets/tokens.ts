// Tokens derived from the master key for what they name: a session's forms, an order's link. Nothing is stored, and
// every process can verify them. During a rotation, the first key creates tokens and all verify.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { type DerivedKeys, keyObjects } from '../node-workarounds/key-objects.ts'

export interface Tokens {
  make(parts: readonly string[]): string
  isRight(given: string, parts: readonly string[]): boolean
}

export function makeTokens(given: DerivedKeys): Tokens {
  const keys = keyObjects(given)
  const tokenOf = (key: KeyObject, parts: readonly string[]) =>
    createHmac('sha256', key).update(parts.join('\n')).digest('base64url')
  return {
    make: (parts) => tokenOf(keys[0], parts),
    isRight: (given, parts) => keys.some((key) => isSameSecret(given, tokenOf(key, parts))),
  }
}

/** Constant time. The length is not secret. */
function isSameSecret(given: string, expected: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(expected)
  return a.length === b.length && timingSafeEqual(a, b)
}
