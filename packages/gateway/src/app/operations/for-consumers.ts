// What consumers do at the checkout, with a payment link, and in their wallet.

import { makeUnsubscribe } from '../../core/emails/unsubscribe.ts'
import { makeAskReceipt } from '../../core/orders/ask-receipt.ts'
import { makeSubmitPayment } from '../../core/orders/payments/submit-payment.ts'
import { makeReturnToShop } from '../../core/orders/return-to-shop.ts'
import { makeListScanned } from '../../core/orders/scans/list-scanned.ts'
import { makeShowPayCode } from '../../core/orders/scans/show-pay-code.ts'
import { makeShowCheckout } from '../../core/orders/show-checkout.ts'
import { makeAuthenticateWallet } from '../../core/wallets/authenticate-wallet.ts'
import { makeOpenLink } from '../../finance/links/open-link.ts'
import { makeHandleRailNotification } from '../../finance/rails/handle-notification.ts'
import { makeFindOwnMerchant } from '../../finance/top-ups/own-merchant.ts'
import { makeStartTopUp } from '../../finance/top-ups/start-top-up.ts'
import { makeAskPinCode } from '../../identity/consumers/ask-pin-code.ts'
import { makeChangePin } from '../../identity/consumers/change-pin.ts'
import { makeCloseWallet } from '../../identity/consumers/close-wallet.ts'
import { makeRegister } from '../../identity/consumers/register.ts'
import { makeResetPin } from '../../identity/consumers/reset-pin.ts'
import { makeSignInByPasskey } from '../../identity/consumers/sign-in-by-passkey.ts'
import { makeWalletSessions } from '../../identity/consumers/wallet-sessions.ts'
import { makeWithdraw } from '../../identity/consumers/withdraw.ts'
import { makeTokens } from '../../platform/runtime/secrets/tokens.ts'
import { makeRefillTestWallet, withRefills } from '../../sandbox/test-wallets.ts'
import type { Stores } from '../database/stores.ts'
import type { Common } from './common.ts'
import { makeFindRailName } from './for-reading.ts'
import { passkeysOf } from './signing-in.ts'

export function operationsForConsumers(stores: Stores, common: Common) {
  const { config, vault } = common
  const emailTokens = makeTokens(vault.deriveKeys('emails'))
  const refillTestWallet =
    config.mode === 'sandbox' ? makeRefillTestWallet({ ...stores, ...common }) : undefined
  const payOnce = makeSubmitPayment({ ...stores, ...common, defaultLimits: config.walletLimits })
  const authenticateWallet = makeAuthenticateWallet({ ...common, tries: stores.pinTries })
  const walletSessions = makeWalletSessions({ ...common, walletSessions: stores.walletSessions })
  const walletPasskeys = passkeysOf('wallet', stores, common)
  const findOwnMerchant = makeFindOwnMerchant({
    ...stores,
    ...common,
    name: config.operator.name ?? 'Wallet',
  })
  const pinResets = { resets: stores.pinResets, codes: common.pinResetCodes }

  return {
    openLink: makeOpenLink({ ...stores, ...common }),
    showPayCode: makeShowPayCode({ ...stores, ...common }),
    listScanned: makeListScanned({ ...stores, ...common }),
    scanLimits: config.scanLimits,
    confirmSession: stores.payCodes.confirmSession,
    showCheckout: makeShowCheckout({ ...stores, ...common }),
    submitPayment: refillTestWallet ? withRefills(payOnce, { ...stores, refill: refillTestWallet }) : payOnce,
    refillTestWallet,
    payByRail: common.payByRail,
    railDirectory: common.railDirectory,
    handleRailNotification: makeHandleRailNotification({ ...stores, ...common }),
    returnToShop: makeReturnToShop(common),
    /** Undefined if no email is sent. */
    askReceipt: config.mail && makeAskReceipt({ ...stores, ...common, tokens: emailTokens }),
    unsubscribe: makeUnsubscribe({ ...stores, ...common, tokens: emailTokens }),

    authenticateWallet,
    walletSessions,
    walletPasskeys,
    signInByPasskey: makeSignInByPasskey({ passkeys: walletPasskeys, wallets: stores.wallets }),
    resetPin: makeResetPin({ ...common, ...pinResets, tries: stores.pinTries }),
    changePin: makeChangePin({ ...stores, ...common, authenticateWallet }),
    /** Only by email; without it, an operator hands codes over. */
    askPinCode: config.mail && makeAskPinCode({ ...stores, ...common, ...pinResets }),
    register: makeRegister({
      ...stores,
      ...common,
      sessions: walletSessions,
      codes: makeTokens(vault.deriveKeys('registration codes')),
      showsCode: config.mode === 'sandbox' && config.mail === undefined,
    }),
    startTopUp: makeStartTopUp({
      ...stores,
      ...common,
      findOwnMerchant,
      defaultLimits: config.walletLimits,
    }),
    withdraw: makeWithdraw({ ...stores, ...common, findOwnMerchant, policy: config.withdrawalLimits }),
    closeWallet: makeCloseWallet({ ...stores, ...common }),
    findWallet: stores.wallets.findWallet,
    listBalances: stores.wallets.listBalances,
    setWalletLanguage: stores.wallets.setLanguage,
    listWalletHistory: stores.walletHistory.list,
    findHistoryEntry: stores.walletHistory.find,
    findRailName: makeFindRailName(common),
    listPendingEntries: stores.pendingEntries.list,
  }
}
