// Tokens that only this gateway makes, each for what it names: forms of one session, the link of one order. They are
// derived by a key of their own from the master key, so nothing is stored and every process knows them. While the
// master key is replaced there are several: the first makes tokens, all of them are right.
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

/** In a time that does not tell how much of it was right. Its length is no secret. */
function isSameSecret(given: string, expected: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(expected)
  return a.length === b.length && timingSafeEqual(a, b)
}
