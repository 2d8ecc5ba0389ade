// A consumer signs in to the wallet with a passkey, which replaces login and PIN and counts no attempts, because it
// cannot be guessed. Payments out of the wallet still require the PIN.

import type { Wallet } from '../../core/wallets/rules/wallet.ts'
import type { WalletStore } from '../../core/wallets/store/wallets.ts'
import type { Passkeys } from '../accounts/passkeys.ts'
import type { PasskeySite } from '../accounts/rules/passkey-site.ts'

export interface SignInByPasskeyParts {
  readonly passkeys: Pick<Passkeys, 'prove'>
  readonly wallets: Pick<WalletStore, 'findWalletByLogin'>
}

export type SignInByPasskey = ReturnType<typeof makeSignInByPasskey>

export function makeSignInByPasskey({ passkeys, wallets }: SignInByPasskeyParts) {
  /** Undefined if the passkey, its response or the wallet is invalid. */
  return async (
    given: { readonly credential: string; readonly boundTo: string },
    site: PasskeySite,
  ): Promise<Wallet | undefined> => {
    const proof = await passkeys.prove(given, site)
    if (proof.kind !== 'right') return undefined
    const { login, accessVersion } = proof.access
    const wallet = await wallets.findWalletByLogin(login)
    return wallet?.status === 'active' ? { ...wallet, accessVersion } : undefined
  }
}
