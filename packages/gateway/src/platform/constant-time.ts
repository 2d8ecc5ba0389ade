// Whether somebody knows a secret, in a time that does not tell how much of it was right. Its length is no secret.
import { timingSafeEqual } from 'node:crypto'

export function isSameSecret(given: string, expected: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(expected)
  return a.length === b.length && timingSafeEqual(a, b)
}
