// The one-time code by which a consumer sets a new PIN: eight digits, told once, good for a quarter of an hour and five
// tries. One in twenty million guesses it.

import type { RandomBytes } from '@tillgate/protocol'
import { randomDigits } from './wallet.ts'

export const pinResetLimits = {
  digits: 8,
  tries: 5,
  lifeMs: 15 * 60_000,
  /** However often somebody asks. */
  mailEveryMs: 2 * 60_000,
} as const

export function makePinResetCode(random: RandomBytes): string {
  return randomDigits(pinResetLimits.digits, random)
}

/** As people copy it: with spaces or dashes. */
export function normaliseCode(typed: string): string {
  return typed.normalize('NFKC').replace(/[\s-]/g, '')
}
