// A consumer signs in to the wallet with a passkey. It stands for login and PIN here, and counts no tries: nobody guesses one.
// Where money leaves, the PIN is still asked for.

import type { Wallet } from '../../core/wallets/rules/wallet.ts'
import type { WalletStore } from '../../core/wallets/store/wallets.ts'
import type { Passkeys } from '../accounts/passkeys.ts'
import type { PasskeySite } from '../accounts/rules/passkey.ts'

export interface SignInByPasskeyParts {
  readonly passkeys: Pick<Passkeys, 'prove'>
  readonly wallets: Pick<WalletStore, 'findWalletByLogin'>
}

export type SignInByPasskey = ReturnType<typeof makeSignInByPasskey>

export function makeSignInByPasskey({ passkeys, wallets }: SignInByPasskeyParts) {
  /** Undefined, whatever is wrong: the passkey, its answer, or the wallet. */
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
