// Keys as objects that are made once. Given the bytes themselves, Node 24 makes such an object for every use, which takes
// seven times as long as the HMAC or the cipher that it is for. It may go when both take the same (key-objects.test.ts).
import { createSecretKey, type KeyObject } from 'node:crypto'

/** As the vault derives them. */
export type DerivedKeys = readonly [Buffer, ...Buffer[]]

export function keyObjects([first, ...others]: DerivedKeys): readonly [KeyObject, ...KeyObject[]] {
  return [createSecretKey(first), ...others.map((key) => createSecretKey(key))]
}
