// Creates key objects once. From raw bytes, Node 24 creates one per use, which takes seven times as long as the HMAC
// or the cipher itself. Remove when both take the same time (key-objects.test.ts).
import { createSecretKey, type KeyObject } from 'node:crypto'

export type DerivedKeys = readonly [Buffer, ...Buffer[]]

export function keyObjects([first, ...others]: DerivedKeys): readonly [KeyObject, ...KeyObject[]] {
  return [createSecretKey(first), ...others.map((key) => createSecretKey(key))]
}
