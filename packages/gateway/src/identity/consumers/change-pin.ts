// A signed-in consumer sets a new PIN after entering the old one, which counts like a sign-in attempt. Other sessions
// end, and the owner receives an email if the login is a confirmed address.
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AuthenticateWallet, SignIn } from '../../core/wallets/authenticate-wallet.ts'
import type { NotifyOwner } from '../../core/wallets/notify-owner.ts'
import { type KnownDevice, parseNewPin, placeOfPin, type Wallet } from '../../core/wallets/rules/wallet.ts'
import type { WalletStore } from '../../core/wallets/store/wallets.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { sealHash } from '../../platform/runtime/secrets/secret-hash.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'

export interface ChangePinParts extends ClockAndRandom {
  readonly wallets: Pick<WalletStore, 'setPin'>
  readonly authenticateWallet: AuthenticateWallet
  readonly vault: Vault
  readonly notifyOwner: Pick<NotifyOwner, 'pinChanged'>
}

/** The signed-in wallet and the PIN entered again. */
export interface Proof {
  readonly wallet: Wallet
  readonly pin: string
  readonly address: string
  readonly device: KnownDevice | undefined
}

export type ChangePin = ReturnType<typeof makeChangePin>

export function makeChangePin(parts: ChangePinParts) {
  const { clock, random, vault } = parts
  /** Throws before counting an attempt if the new PIN is not allowed. */
  return async (
    { wallet, ...proof }: Proof,
    { newPin, tokenHash }: { readonly newPin: string; readonly tokenHash: Buffer },
  ): Promise<SignIn | { readonly kind: 'access_ended' }> => {
    const { walletId, login } = wallet
    const pin = parseNewPin(newPin)
    const proven = await parts.authenticateWallet({ login, ...proof })
    if (proven.kind !== 'signed_in') return proven
    const sealedPin = await sealHash({ secret: pin, place: placeOfPin(walletId) }, { vault, random })
    const consumer = { actor: `consumer@${proof.address}` }
    const { accessVersion } = proven.wallet
    const isSet = await parts.wallets.setPin(
      { walletId, accessVersion, sealedPin, tokenHash },
      makeAuditEntry({ clock, random }, consumer, 'wallet.change-pin', walletId, {
        emails: parts.notifyOwner.pinChanged(wallet),
      }),
    )
    if (!isSet) return { kind: 'access_ended' }
    return { kind: 'signed_in', wallet: { ...proven.wallet, accessVersion: accessVersion + 1 } }
  }
}
