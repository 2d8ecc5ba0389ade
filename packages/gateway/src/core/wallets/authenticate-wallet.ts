// Signs a consumer in with login and PIN. Every try is counted in the database before its result, so that parallel
// tries gain nothing.
import type { Clock } from '../../platform/runtime/clock.ts'
import { compareWithDecoy, isRightSecret } from '../../platform/runtime/secrets/secret-hash.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { NotifyOwner } from './notify-owner.ts'
import type { TriesLeft } from './rules/pin-lock.ts'
import { isPin, type KnownDevice, normaliseLogin, placeOfPin, type Wallet } from './rules/wallet.ts'
import type { LockedTry, PinTriesStore } from './store/pin-tries.ts'

export type SignIn =
  | { readonly kind: 'signed_in'; readonly wallet: Wallet }
  /** The same for a wrong PIN and an unknown login, in content and cost. */
  | ({ readonly kind: 'wrong' } & Partial<TriesLeft>)
  | LockedTry

export type AuthenticateWallet = (given: {
  readonly login: string
  readonly pin: string
  /** As counted by limits. */
  readonly address: string
  readonly device?: KnownDevice | undefined
  /** The owner is notified of an unknown device. */
  readonly userAgent?: string | undefined
}) => Promise<SignIn>

export interface AuthenticateWalletParts {
  readonly tries: PinTriesStore
  readonly notifyOwner: Pick<NotifyOwner, 'newDevice'>
  readonly vault: Vault
  readonly clock: Clock
}

export function makeAuthenticateWallet(parts: AuthenticateWalletParts): AuthenticateWallet {
  const { tries, notifyOwner, vault, clock } = parts
  return async ({ login: typed, pin, address, device, userAgent }) => {
    const nowMs = clock.now()
    const login = normaliseLogin(typed)
    if (login === undefined) return wrong(pin, vault)
    const taken = await tries.take({ login, address, device, nowMs })
    if (taken.kind === 'locked') return taken
    if (!taken.found) return wrong(pin, vault, taken.left)
    const { wallet, sealedPin } = taken.found
    const given = { secret: pin, place: placeOfPin(wallet.walletId) }
    if (!(await isRightSecret(given, { sealed: sealedPin, vault })) || !isPin(pin))
      return { kind: 'wrong', ...taken.left }
    const isEmailed = !taken.isKnownDevice && wallet.status === 'active'
    await tries.forget(taken, isEmailed ? notifyOwner.newDevice(wallet, { address, userAgent }) : [])
    // Runs here, because correct PINs are rarer than wrong ones under attack.
    await tries.deleteForgotten(nowMs)
    return wallet.status === 'active' ? { kind: 'signed_in', wallet } : { kind: 'locked', untilMs: undefined }
  }
}

async function wrong(pin: string, vault: Vault, left?: TriesLeft): Promise<SignIn> {
  await compareWithDecoy(pin, vault)
  return { kind: 'wrong', ...left }
}
