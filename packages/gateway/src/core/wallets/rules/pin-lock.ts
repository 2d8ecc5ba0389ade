// Limits PIN tries by source and by wallet. An address is locked long before the wallet is, and a known device has
// its own count, so that strangers cannot lock the owner out. Pure.
import assert from 'node:assert/strict'
import { countTry, type Tries, type TriesLimit } from '../../../platform/runtime/lockout.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const lockMs = [30_000, 5 * minuteMs, 30 * minuteMs, 4 * hourMs, dayMs]

export const pinLockLimits = {
  /** Per address or known device and login: nine tries on the first day, then one a day. */
  source: { free: 5, lockMs, forgottenAfterMs: 7 * dayMs },
  /**
   * All addresses together, even a thousand, have 24 tries in two days. A single address with one try a day never reaches
   * this limit, because tries are forgotten after a day.
   */
  wallet: { free: 20, lockMs, forgottenAfterMs: dayMs },
} as const satisfies Record<string, TriesLimit>

/** How many other logins may have a wrong PIN from one address; a correct PIN removes its login. */
export const loginsByAddress = { most: 20, withinMs: hourMs } as const

/**
 * How often operators may reset wrong PINs of a wallet without approval. Unlimited resets would allow guessing the
 * PIN.
 */
export const forgettingWithoutApproval = { most: 3, withinMs: dayMs } as const

/** After this time, a source's tries no longer matter. */
export const sourceKeptMs = pinLockLimits.source.forgottenAfterMs + dayMs

const { source, wallet } = pinLockLimits
assert(source.free + lockMs.length < wallet.free, 'one address alone locks no wallet on its first day')

export type PinTry =
  | { readonly kind: 'counted'; readonly source: Tries; readonly wallet: Tries | undefined }
  | { readonly kind: 'locked'; readonly untilMs: number }

/** How many free tries remain after a wrong one; then when the next is allowed. */
export interface TriesLeft {
  readonly triesLeft: number
  readonly lockedUntilMs: number | undefined
}

/** Also for an unknown login, whose tries are counted like a wallet's. */
export function triesLeft({
  source: ofSource,
  wallet: ofWallet,
}: Extract<PinTry, { kind: 'counted' }>): TriesLeft {
  const left = [source.free - ofSource.count, ofWallet ? wallet.free - ofWallet.count : Infinity]
  const ends = [ofSource.lockedUntilMs ?? 0, ofWallet?.lockedUntilMs ?? 0]
  return {
    triesLeft: Math.max(0, Math.min(...left)),
    lockedUntilMs: Math.max(...ends) || undefined,
  }
}

export function decidePinTry(
  tries: {
    readonly source: Tries
    /** Undefined if the try does not count for the wallet. */
    readonly wallet: Tries | undefined
    /** The time of the oldest wrong PIN if the maximum of other logins is reached. */
    readonly othersSinceMs: number | undefined
  },
  nowMs: number,
): PinTry {
  const ofSource = countTry(tries.source, source, nowMs)
  const ofWallet = tries.wallet && countTry(tries.wallet, wallet, nowMs)
  const ends = [ofSource, ofWallet].map((each) => (each?.kind === 'locked' ? each.untilMs : 0))
  const untilMs = Math.max((tries.othersSinceMs ?? -Infinity) + loginsByAddress.withinMs, ...ends)
  if (ofSource.kind === 'locked' || ofWallet?.kind === 'locked' || untilMs > nowMs)
    return { kind: 'locked', untilMs }
  return { kind: 'counted', source: ofSource.tries, wallet: ofWallet?.tries }
}
