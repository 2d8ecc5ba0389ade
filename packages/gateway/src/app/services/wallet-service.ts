// What the wallet's pages need from operations and stores.
import type { RandomBytes } from '@tillgate/protocol'
import type { RunningCheckout } from '../../adapters/checkout/routes.ts'
import type { WalletService } from '../../adapters/wallet/wallet.ts'
import { makeSealing } from '../../platform/runtime/secrets/sealing.ts'
import { makeTokens } from '../../platform/runtime/secrets/tokens.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { Stores } from '../database/stores.ts'
import type { Operations } from '../operations.ts'
import type { Config } from '../settings/config.ts'

export function makeWalletService(parts: {
  readonly config: Pick<Config, 'takesRegistrations'>
  readonly operations: Operations
  readonly stores: Stores
  readonly vault: Vault
  readonly checkout: Pick<RunningCheckout, 'visits'>
  readonly random: RandomBytes
}): WalletService {
  const { config, operations, stores, vault, random } = parts
  return {
    sealing: makeSealing(vault.deriveKeys('wallet notes'), random),
    tokens: makeTokens(vault.deriveKeys('wallet forms')),
    authenticate: operations.authenticateWallet,
    sessions: operations.walletSessions,
    passkeys: operations.walletPasskeys,
    signInByPasskey: operations.signInByPasskey,
    resetPin: operations.resetPin,
    changePin: operations.changePin,
    askPinCode: operations.askPinCode,
    register: config.takesRegistrations ? operations.register : undefined,
    startTopUp: operations.startTopUp,
    withdraw: operations.withdraw,
    closeWallet: operations.closeWallet,
    history: stores.walletHistory,
    pending: stores.pendingEntries,
    devices: parts.checkout.visits,
    findWallet: stores.wallets.findWallet,
    listBalances: stores.wallets.listBalances,
    setLanguage: stores.wallets.setLanguage,
  }
}
