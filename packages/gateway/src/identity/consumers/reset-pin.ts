// A consumer who forgot the PIN sets a new one with a code from an operator or an email. Any error (login, code or
// expiry) has the same response, and every attempt counts like a wrong PIN.
import { makeUuid } from '@tillgate/protocol'
import type { NotifyOwner } from '../../core/wallets/notify-owner.ts'
import { normaliseCode } from '../../core/wallets/rules/pin-reset.ts'
import {
  type KnownDevice,
  normaliseLogin,
  parseNewPin,
  placeOfPin,
  type Wallet,
} from '../../core/wallets/rules/wallet.ts'
import type { LockedTry, PinTriesStore } from '../../core/wallets/store/pin-tries.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { sealHash } from '../../platform/runtime/secrets/secret-hash.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { PinResetStore } from './store/pin-resets.ts'

export interface ResetPinParts extends ClockAndRandom {
  readonly resets: PinResetStore
  readonly tries: PinTriesStore
  readonly codes: Tokens
  readonly vault: Vault
  readonly notifyOwner: Pick<NotifyOwner, 'pinChanged'>
}

export type PinReset =
  | { readonly kind: 'changed'; readonly wallet: Wallet }
  | { readonly kind: 'wrong' }
  | LockedTry

export type ResetPin = ReturnType<typeof makeResetPin>

export function makeResetPin(parts: ResetPinParts) {
  const { resets, tries, codes, clock, random } = parts
  /** Throws before counting an attempt if the new PIN is not allowed. */
  return async (given: {
    readonly login: string
    readonly code: string
    readonly pin: string
    readonly address: string
    readonly device?: KnownDevice | undefined
  }): Promise<PinReset> => {
    const pin = parseNewPin(given.pin)
    const nowMs = clock.now()
    const login = normaliseLogin(given.login)
    if (login === undefined) return { kind: 'wrong' }
    const { address, device } = given
    const taken = await tries.takeWithCode({ login, address, device, nowMs })
    if (taken.kind === 'locked') return taken
    const { codeHash } = taken
    const wallet = taken.found?.wallet
    if (!wallet || codeHash === undefined) return { kind: 'wrong' }
    const { walletId } = wallet
    if (!codes.isRight(codeHash, [walletId, normaliseCode(given.code)])) return { kind: 'wrong' }
    const sealedPin = await sealHash({ secret: pin, place: placeOfPin(walletId) }, parts)
    const isUsed = await resets.use(
      { walletId, codeHash, login: wallet.login, sealedPin },
      {
        auditId: makeUuid(nowMs, random),
        actedAtMs: nowMs,
        actor: `consumer@${address}`,
        action: 'wallet.new-pin',
        merchantId: undefined,
        subject: walletId,
        reason: 'with a one-time code',
        emails: parts.notifyOwner.pinChanged(wallet),
      },
    )
    if (!isUsed) return { kind: 'wrong' }
    const { accessVersion } = wallet
    return wallet.status === 'active'
      ? { kind: 'changed', wallet: { ...wallet, accessVersion: accessVersion + 1 } }
      : { kind: 'locked', untilMs: undefined }
  }
}
