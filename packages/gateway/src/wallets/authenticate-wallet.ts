// A consumer signs in to a wallet with login and PIN. Every try is counted in the database before it is answered, so
// that nobody gets more of them by trying in many places at once.
import type { Clock } from '../platform/clock.ts'
import { comparePinWithNobody, isRightPin } from '../platform/secret-hash.ts'
import { isPin, lockedForMs, maxTries, normaliseLogin, type Wallet } from './rules/wallet.ts'
import type { WalletStore } from './store/wallets.ts'

export type SignIn =
  | { readonly kind: 'signed_in'; readonly wallet: Wallet }
  /** A wrong PIN or a login that nobody has: the same to the letter, and at the same cost. */
  | { readonly kind: 'wrong' }
  /** By too many wrong tries; an operator's lock has no end. */
  | { readonly kind: 'locked'; readonly untilMs: number | undefined }

export type AuthenticateWallet = (given: { readonly login: string; readonly pin: string }) => Promise<SignIn>

export function makeAuthenticateWallet(parts: {
  readonly wallets: Pick<WalletStore, 'takeTry' | 'forgetTries' | 'findWalletByLogin'>
  readonly clock: Clock
}): AuthenticateWallet {
  const { wallets, clock } = parts
  return async ({ login: given, pin }) => {
    const nowMs = clock.now()
    const login = normaliseLogin(given)
    if (login === undefined) return wrong(pin)
    // The same statements for a login that nobody has as for a wrong PIN.
    const locked = lockOf(await wallets.findWalletByLogin(login), nowMs)
    if (locked) return locked
    const taken = await wallets.takeTry({ login, nowMs, maxTries, lockedForMs })
    if (!taken) return lockOf(await wallets.findWalletByLogin(login), nowMs) ?? wrong(pin)
    if (!(await isRightPin(pin, taken.pinHash)) || !isPin(pin)) return { kind: 'wrong' }
    await wallets.forgetTries(taken.wallet.walletId)
    return { kind: 'signed_in', wallet: { ...taken.wallet, tries: 0, lockedUntilMs: undefined } }
  }
}

async function wrong(pin: string): Promise<SignIn> {
  await comparePinWithNobody(pin)
  return { kind: 'wrong' }
}

function lockOf(wallet: Wallet | undefined, nowMs: number): SignIn | undefined {
  if (wallet?.status === 'locked') return { kind: 'locked', untilMs: undefined }
  if (wallet?.lockedUntilMs === undefined || wallet.lockedUntilMs <= nowMs) return undefined
  return { kind: 'locked', untilMs: wallet.lockedUntilMs }
}
