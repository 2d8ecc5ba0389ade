// The code that a wallet shows in a store: 128 random bits for the QR code, and digits for typing. It is used once.
import type { RandomBytes } from '@tillgate/protocol'

/** Long enough to be scanned, too short to be passed on. */
export const payCodeLifeMs = 60_000
/** The page shows a new code before the old one ends, and a scan of the old one may be under way. */
export const codesPerSession = 2
/** Payments by code since the owner last confirmed one with the PIN or a passkey. The table has the same limit. */
export const unconfirmedScans = 5

/**
 * With 10,000 codes alive, one guess in 10^12 is right. At the limit of wrong codes below, a gateway process allows
 * 5 × 10^7 guesses a year: one chance in 20,000 to find the code of any wallet.
 */
const digitCount = 16
const tokenBytes = 16

/** Wrong codes of one merchant, and of all, in one gateway process. */
export const wrongCodes = {
  perMerchant: { perSecond: 1 / 6, burst: 20 },
  ofAll: { perSecond: 100 / 60, burst: 200 },
} as const

export interface PayCode {
  /** The content of the QR code. */
  readonly token: string
  readonly digits: string
}

export function makePayCode(random: RandomBytes): PayCode {
  return {
    token: Buffer.from(random(tokenBytes)).toString('base64url'),
    digits: randomDigits(random),
  }
}

/** Each digit is equally likely: bytes from 250 on are drawn again. */
function randomDigits(random: RandomBytes): string {
  let digits = ''
  while (digits.length < digitCount)
    for (const byte of random(digitCount)) if (byte < 250 && digits.length < digitCount) digits += byte % 10
  return digits
}

/** As typed: digits may have spaces. */
export function normaliseCode(typed: string): string {
  const code = typed.trim()
  return /^[\d\s-]+$/.test(code) ? code.replaceAll(/[\s-]/g, '') : code
}

/** In groups, as people read them. */
export function groupedDigits(digits: string): string {
  return digits.replaceAll(/(\d{4})(?=\d)/g, '$1 ')
}
