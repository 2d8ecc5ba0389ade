// What consumers do at the checkout, with a payment link, and in their wallet.
import { makeOpenLink } from '../../links/open-link.ts'
import { makeAskReceipt } from '../../notices/ask-receipt.ts'
import { makeUnsubscribe } from '../../notices/unsubscribe.ts'
import { makeReturnToShop } from '../../orders/return-to-shop.ts'
import { makeShowCheckout } from '../../orders/show-checkout.ts'
import { makeSubmitPayment } from '../../payments/submit-payment.ts'
import { makeWithdraw } from '../../payouts/withdraw.ts'
import { makeTokens } from '../../platform/tokens.ts'
import { makeHearNotice } from '../../rails/hear-notice.ts'
import { makeRefillTestWallet, withRefills } from '../../sandbox/test-wallets.ts'
import { makeAskPinCode } from '../../wallets/ask-pin-code.ts'
import { makeAuthenticateWallet } from '../../wallets/authenticate-wallet.ts'
import { makeChangePin } from '../../wallets/change-pin.ts'
import { makeCloseWallet } from '../../wallets/close-wallet.ts'
import { makeFindOwnMerchant } from '../../wallets/own-merchant.ts'
import { makeRegister } from '../../wallets/register.ts'
import { makeResetPin } from '../../wallets/reset-pin.ts'
import { makeSignInByPasskey } from '../../wallets/sign-in-by-passkey.ts'
import { makeStartTopUp } from '../../wallets/start-top-up.ts'
import { makeWalletSessions } from '../../wallets/wallet-sessions.ts'
import type { Stores } from '../stores.ts'
import type { Common } from './common.ts'
import { passkeysOf } from './signing-in.ts'

export function operationsForConsumers(stores: Stores, common: Common) {
  const { config, vault } = common
  const noticeTokens = makeTokens(vault.deriveKeys('notices'))
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
    showCheckout: makeShowCheckout({ ...stores, ...common }),
    submitPayment: refillTestWallet ? withRefills(payOnce, { ...stores, refill: refillTestWallet }) : payOnce,
    refillTestWallet,
    payByRail: common.payByRail,
    rails: common.railDirectory,
    hearNotice: makeHearNotice({ ...stores, ...common }),
    returnToShop: makeReturnToShop(common),
    /** Undefined: no mail is sent. */
    askReceipt: config.mail && makeAskReceipt({ ...stores, ...common, tokens: noticeTokens }),
    unsubscribe: makeUnsubscribe({ ...stores, ...common, tokens: noticeTokens }),

    authenticateWallet,
    walletSessions,
    walletPasskeys,
    signInByPasskey: makeSignInByPasskey({ passkeys: walletPasskeys, wallets: stores.wallets }),
    resetPin: makeResetPin({ ...common, ...pinResets, tries: stores.pinTries }),
    changePin: makeChangePin({ ...stores, ...common, authenticateWallet }),
    /** By mail alone: without it an operator gives codes out. */
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
  }
}
