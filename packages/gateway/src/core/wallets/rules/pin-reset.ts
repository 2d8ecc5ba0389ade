// The one-time code for setting a new PIN: eight digits, shown once, valid for 15 minutes and five tries, a chance of
// one in twenty million.

import type { RandomBytes } from '@tillgate/protocol'
import { randomDigits } from './wallet.ts'

export const pinResetLimits = {
  digits: 8,
  tries: 5,
  lifeMs: 15 * 60_000,
  mailEveryMs: 2 * 60_000,
} as const

export function makePinResetCode(random: RandomBytes): string {
  return randomDigits(pinResetLimits.digits, random)
}

/** Accepts spaces and dashes. */
export function normaliseCode(typed: string): string {
  return typed.normalize('NFKC').replace(/[\s-]/g, '')
}
