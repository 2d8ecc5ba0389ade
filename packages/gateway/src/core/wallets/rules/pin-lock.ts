// Who may try a PIN. Wrong ones count for where they come from, and for the wallet. An address is locked out long before
// the wallet is locked for everybody; a device that its owner signed in with before has a count of its own, so that nobody
// else locks the owner out. Pure.
import assert from 'node:assert/strict'
import { countTry, type Tries, type TriesLimit } from '../../../platform/runtime/lockout.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const lockMs = [30_000, 5 * minuteMs, 30 * minuteMs, 4 * hourMs, dayMs]

export const pinLockLimits = {
  /** Of one address or one known device at one login: nine guesses on the first day, then one a day. */
  source: { free: 5, lockMs, forgottenAfterMs: 7 * dayMs },
  /** Of all addresses together: a thousand of them have 24 guesses in two days. One alone, at its one a day, is forgotten. */
  wallet: { free: 20, lockMs, forgottenAfterMs: dayMs },
} as const satisfies Record<string, TriesLimit>

/** So many other logins may have had a wrong PIN from one address; a right one takes its login off the list. */
export const loginsByAddress = { most: 20, withinMs: hourMs } as const

/**
 * So often operators may have wrong PINs of a wallet forgotten without a second operator. One who could do so without end
 * could guess the PIN, and spend what is in the wallet.
 */
export const forgettingWithoutApproval = { most: 3, withinMs: dayMs } as const

/** After this nobody asks for a source's tries any more. */
export const sourceKeptMs = pinLockLimits.source.forgottenAfterMs + dayMs

const { source, wallet } = pinLockLimits
assert(source.free + lockMs.length < wallet.free, 'one address alone locks no wallet on its first day')

export type PinTry =
  | { readonly kind: 'counted'; readonly source: Tries; readonly wallet: Tries | undefined }
  | { readonly kind: 'locked'; readonly untilMs: number }

/** How many more wrong PINs are free, for whoever just used one; until then it says when the next may be tried. */
export interface TriesLeft {
  readonly triesLeft: number
  readonly lockedUntilMs: number | undefined
}

/** The same for a login that nobody has: its tries are counted as a wallet's are. */
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
    /** Undefined: this try does not count for the wallet. */
    readonly wallet: Tries | undefined
    /** When so many other logins as are allowed had a wrong PIN from here, the time of the oldest of them. */
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
