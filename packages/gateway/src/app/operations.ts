// Every operation, over the stores: the one place where they are put together. Pure: time, randomness, secrets and the
// rail are passed in, so that the gateway, the command line, tests, the simulation and the benchmarks all work with
// the very same operations.
import type { SealingTools } from '@tillgate/protocol'
import { makeAuthenticate } from '../accounts/authenticate.ts'
import { makeChangePassword } from '../accounts/change-password.ts'
import { makePasskeys } from '../accounts/passkeys.ts'
import type { AccountKind } from '../accounts/rules/account.ts'
import { makeSecondStep } from '../accounts/second-step.ts'
import { makeSessions } from '../accounts/sessions.ts'
import type { Asking } from '../acts/service.ts'
import { makeApply } from '../applications/apply.ts'
import { makeDecideApplications } from '../applications/decide-applications.ts'
import { makeAskBill } from '../bills/ask-bill.ts'
import { makeMakeBills } from '../bills/make-bills.ts'
import { makeReadBill } from '../bills/read-bill.ts'
import { makeHoldCallback, makePrepareCallback, makeRecordAttempt } from '../callbacks/deliver-callbacks.ts'
import { makeManageEndpoints } from '../callbacks/manage-endpoints.ts'
import { makePauseHosts } from '../callbacks/pause-hosts.ts'
import { makeManageCallbacks, makeResendCallbacks } from '../callbacks/resend-callbacks.ts'
import { makeTidyCallbacks } from '../callbacks/tidy-callbacks.ts'
import { makeReadEvents } from '../events/read-events.ts'
import { makeTidyEvents } from '../events/tidy-events.ts'
import { makeManagePlatformKeys } from '../keys/manage-platform-keys.ts'
import { PlatformKeys } from '../keys/platform-keys.ts'
import { makeRotateMasterKey } from '../keys/rotate-master-key.ts'
import { makeReadBooks } from '../ledger/read-books.ts'
import { makeVerifyLedger } from '../ledger/run-checks.ts'
import { streamStatement } from '../ledger/write-statement.ts'
import { makeCreateLink, makeStoreLink } from '../links/create-link.ts'
import { makeManageLinks } from '../links/manage-links.ts'
import { makeOpenLink } from '../links/open-link.ts'
import { makeCloseLink, makeQueryLink } from '../links/query-link.ts'
import { makeManageMembers } from '../members/manage-members.ts'
import { makeOpenLinks } from '../members/open-links.ts'
import { makeSignInMemberByProvider } from '../members/sign-in-by-provider.ts'
import { CallbackHosts } from '../merchants/callback-hosts.ts'
import { makeManageMerchants } from '../merchants/manage-merchants.ts'
import { makeMerchantActs } from '../merchants/merchant-acts.ts'
import { MerchantDirectory } from '../merchants/merchant-directory.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import { makeAskReceipt } from '../notices/ask-receipt.ts'
import { makeMakeNotices } from '../notices/make-notices.ts'
import { makeManageNotices } from '../notices/manage-notices.ts'
import type { ClaimedNotice, NoticeState } from '../notices/rules/notice.ts'
import { normaliseEmail } from '../notices/rules/notice.ts'
import { makeSendNotices } from '../notices/send-notices.ts'
import { makeUnsubscribe } from '../notices/unsubscribe.ts'
import { makeDecideApprovals } from '../operators/decide-approvals.ts'
import { makeManageTokens } from '../operators/manage-api-tokens.ts'
import { makeManageOperators } from '../operators/manage-operators.ts'
import { normaliseOperatorLogin } from '../operators/rules/operator.ts'
import { makeSignInByProvider } from '../operators/sign-in-by-provider.ts'
import { makeCancelOrder } from '../orders/cancel-order.ts'
import { makeCreateOrder } from '../orders/create-order.ts'
import { makeCurrentOrder } from '../orders/current-order.ts'
import { makeErasePersonalData } from '../orders/erase-personal-data.ts'
import { makeExpireOrders } from '../orders/expire-orders.ts'
import { makeFindOrders } from '../orders/find-orders.ts'
import { makeManageOrders } from '../orders/manage-orders.ts'
import { makePlaceOrder } from '../orders/place-order.ts'
import { makeQueryOrder } from '../orders/query-order.ts'
import { makeReturnToShop } from '../orders/return-to-shop.ts'
import { makeShowCheckout } from '../orders/show-checkout.ts'
import { makeShowOrder } from '../orders/show-order.ts'
import { countDueHour } from '../overview/count-due-hour.ts'
import { makeReadOverview } from '../overview/read-overview.ts'
import { makeSettleDue, type SettleParts } from '../payments/settle.ts'
import { makeSubmitPayment } from '../payments/submit-payment.ts'
import { makeManageBankAccounts } from '../payouts/manage-bank-accounts.ts'
import { makeManagePayouts } from '../payouts/manage-payouts.ts'
import { makeManagePlans } from '../payouts/manage-plans.ts'
import { makeManageRuns } from '../payouts/manage-runs.ts'
import { makePayoutActs } from '../payouts/payout-acts.ts'
import { makeWithdraw } from '../payouts/withdraw.ts'
import { makeWorkPayouts } from '../payouts/work-payouts.ts'
import type { Clock, ClockAndRandom } from '../platform/clock.ts'
import type { MailSession } from '../platform/outside/mail.ts'
import { checkUrl, type OwnListeners, parseUrlPolicy, publicOnly } from '../platform/ssrf-guard.ts'
import { makeTokens } from '../platform/tokens.ts'
import type { Vault } from '../platform/vault.ts'
import { makeAskRails } from '../rails/ask-rails.ts'
import { makeHearNotice } from '../rails/hear-notice.ts'
import { makeManageRails } from '../rails/manage-rails.ts'
import { makePayByRail } from '../rails/pay-by-rail.ts'
import type { RailPost } from '../rails/rail-client.ts'
import { RailDirectory } from '../rails/rail-directory.ts'
import { makeRecordTransfers } from '../rails/record-transfers.ts'
import { makeReturnLateMoney } from '../rails/return-late-money.ts'
import type { Rail } from '../rails/rules/rail.ts'
import type { ClaimedTask } from '../rails/rules/rail-task.ts'
import { makeSandboxRail } from '../rails/sandbox-rail.ts'
import { makeTransferActs } from '../rails/transfer-acts.ts'
import { walletRail } from '../rails/wallet-rail.ts'
import { makeReconciling } from '../reconciliation/reconciling.ts'
import type { ReconciledDay } from '../reconciliation/store/days.ts'
import { makeRefundOrder } from '../refunds/refund-order.ts'
import { makeSandboxAccess, sandboxAccessActor } from '../sandbox/sandbox-access.ts'
import { makeSandboxAdvance } from '../sandbox/sandbox-advance.ts'
import { makeSandboxListen } from '../sandbox/sandbox-listen.ts'
import { makeSandboxPay } from '../sandbox/sandbox-pay.ts'
import { makeSandboxRequests } from '../sandbox/sandbox-requests.ts'
import { makeChooseAtTestBank } from '../sandbox/test-bank.ts'
import { makeRefillTestWallet, withRefills } from '../sandbox/test-wallets.ts'
import type { Config } from '../settings/config.ts'
import { makePrune } from '../system/prune.ts'
import { makeRequestLog } from '../system/request-log.ts'
import { makeCorrectBooks } from '../treasury/correct-books.ts'
import { makeManageBanks } from '../treasury/manage-banks.ts'
import { makeManagePrices } from '../treasury/manage-prices.ts'
import { makeMoneyActs } from '../treasury/money-acts.ts'
import { makeMoveFunds } from '../treasury/move-funds.ts'
import { PriceDirectory } from '../treasury/price-directory.ts'
import { makeAskPinCode } from '../wallets/ask-pin-code.ts'
import { makeAuthenticateWallet } from '../wallets/authenticate-wallet.ts'
import { makeChangePin } from '../wallets/change-pin.ts'
import { makeCloseWallet } from '../wallets/close-wallet.ts'
import { makeManageWallets } from '../wallets/manage-wallets.ts'
import { makeFindOwnMerchant } from '../wallets/own-merchant.ts'
import { makeRegister } from '../wallets/register.ts'
import { makeResetPin } from '../wallets/reset-pin.ts'
import { makeSignInByPasskey } from '../wallets/sign-in-by-passkey.ts'
import { makeStartTopUp } from '../wallets/start-top-up.ts'
import { makeTellOwner } from '../wallets/tell-owner.ts'
import { makeTellRefund } from '../wallets/tell-refund.ts'
import { makeWalletSessions } from '../wallets/wallet-sessions.ts'
import { makeMerchantScope } from './services/merchant-scope.ts'
import type { Stores } from './stores.ts'

export interface OperationParts extends ClockAndRandom {
  readonly config: OperationConfig
  readonly publicUrl: string
  readonly vault: Vault
  /** Left out, what the mode asks for. */
  readonly rail?: Rail
  /** Sends to outside rails; left out, none can be reached. */
  readonly railPost?: RailPost
  /** Sends notices; left out, they wait for a process that does. */
  readonly openMail?: (() => MailSession) | undefined
  /** No callback goes there; left out, nothing listens. */
  readonly ownListeners?: OwnListeners
  /** Seals callbacks; left out, the protocol's own. */
  readonly sealingTools?: SealingTools
  readonly hints?: Partial<OperationHints>
}

export type OperationConfig = Pick<
  Config,
  | 'mode'
  | 'approvals'
  | 'bankAccountWaitMs'
  | 'callbackAllowedTargets'
  | 'callbackHistoryDays'
  | 'callbackHostsPerDay'
  | 'eventFeedDays'
  | 'lateMoney'
  | 'personalDataDays'
  | 'mail'
  | 'openId'
  | 'operator'
  | 'operatorEmails'
  | 'requestsInFlightMax'
  | 'sandboxMerchantsPerDay'
  | 'walletLimits'
  | 'withdrawalLimits'
>

/** What operations tell of, so that nobody needs to look for it. None of it is needed for anything to be right. */
export interface OperationHints {
  /** An order was made that expires then. */
  pending(expiresAtMs: number): void
  /** A payment or a refund waits for its rail. */
  submitted(): void
  /** Something waits for an outside rail. */
  railTask(): void
  /** Payouts are to be made, or ended. */
  payouts(): void
  /** The times of an order were moved. */
  advanced(expiresAtMs: number): void
  readonly settlingFailed: SettleParts['onTrouble']
  askingFailed(error: unknown, task: ClaimedTask): void
  /** What somebody should know of a rail. */
  railAlert(message: string, about: Pick<ClaimedTask, 'merchantId' | 'paymentId' | 'railId'>): void
  /** A day of an outside account was closed with money that nobody can explain. */
  unexplained(day: ReconciledDay): void
  countingFailed(error: unknown): void
  noticeRecorded(notice: ClaimedNotice, state: NoticeState, error: string | undefined): void
}

const unheard: OperationHints = {
  pending() {},
  submitted() {},
  railTask() {},
  payouts() {},
  advanced() {},
  settlingFailed() {},
  askingFailed() {},
  railAlert() {},
  unexplained() {},
  countingFailed() {},
  noticeRecorded() {},
}

export type Operations = ReturnType<typeof makeOperations>

export function makeOperations(stores: Stores, parts: OperationParts) {
  const { config, publicUrl, vault, clock, random, sealingTools } = parts
  const { orders, refunds, merchants, wallets, treasury, operators, approvals } = stores
  const { callbackHistory: history, callbackResends: resends } = stores
  const hints = { ...unheard, ...parts.hints }
  const onTask = () => hints.railTask()
  const onPayouts = () => hints.payouts()
  const onSubmitted = (railId?: string) => {
    hints.submitted()
    if (railId !== undefined) onTask()
  }
  const directory = new MerchantDirectory({ store: merchants, vault })
  const platformKeys = new PlatformKeys({ store: stores.platformKeys, vault })
  const urlPolicy = parseUrlPolicy({
    mode: config.mode,
    allowedTargets: config.callbackAllowedTargets,
    ...(parts.ownListeners && { ownListeners: parts.ownListeners }),
  })
  const refusalOfCallbackUrl = (url: string, { isSelfRegistered }: Merchant): string | undefined => {
    const check = checkUrl(url, isSelfRegistered ? publicOnly(urlPolicy) : urlPolicy)
    return check.kind === 'refused' ? check.detail : undefined
  }
  const platformPublicKey = async () => (await platformKeys.signing(clock.now())).publicKey
  const currentOrder = makeCurrentOrder({ orders, random })
  const makeNotices = makeMakeNotices({ vault, clock, random, isMailing: config.mail !== undefined })
  const tellOwner = makeTellOwner({ makeNotices, clock })
  const noticeTokens = makeTokens(vault.deriveKeys('notices'))
  const unsubscribe = makeUnsubscribe({ notices: stores.notices, tokens: noticeTokens, publicUrl, clock })
  const linkTokens = makeTokens(vault.deriveKeys('checkout links'))
  const refill =
    config.mode === 'sandbox' ? makeRefillTestWallet({ wallets, treasury, vault, clock, random }) : undefined
  const payOnce = makeSubmitPayment({
    ...stores,
    currentOrder,
    clock,
    random,
    onSubmitted,
    defaultLimits: config.walletLimits,
  })
  const submitPayment = refill ? withRefills(payOnce, { orders, wallets, refill }) : payOnce
  const pinResetCodes = makeTokens(vault.deriveKeys('PIN reset codes'))
  const authenticateWallet = makeAuthenticateWallet({ tries: stores.pinTries, tellOwner, vault, clock })
  const walletSessions = makeWalletSessions({
    walletSessions: stores.walletSessions,
    tellOwner,
    clock,
    random,
  })
  const findOwnMerchant = makeFindOwnMerchant({
    merchants,
    clock,
    random,
    name: config.operator.name ?? 'Wallet',
  })
  const prices = new PriceDirectory({ store: stores.priceLists, clock })
  const railDirectory = new RailDirectory({ store: stores.rails, vault, clock })
  const askRails = makeAskRails({
    ...stores,
    railDirectory,
    prices,
    currentOrder,
    directory,
    linkTokens,
    publicUrl,
    clock,
    random,
    post: parts.railPost ?? noWayOut,
    makeNotices,
    lateMoney: config.lateMoney,
    onTrouble: (error, task) => hints.askingFailed(error, task),
    onAlert: (message, task) => hints.railAlert(message, task),
  })
  const payByRail = makePayByRail({
    ...stores,
    askRails,
    railDirectory,
    currentOrder,
    clock,
    random,
    onTask,
  })
  const placeOrder = makePlaceOrder({
    orders,
    callbackHosts: new CallbackHosts({ merchants, maxHostsPerDay: config.callbackHostsPerDay, clock }),
    urlPolicy: parseUrlPolicy({
      mode: config.mode,
      allowedTargets: config.callbackAllowedTargets,
      ...(parts.ownListeners && { ownListeners: parts.ownListeners }),
    }),
    onPending: (expiresAtMs) => hints.pending(expiresAtMs),
  })
  const linkParts = { links: stores.links, placeOrder, publicUrl, clock, random }
  const storeLink = makeStoreLink(linkParts)
  const readBill = makeReadBill({ bills: stores.bills, clock })
  const billDownloads = makeTokens(vault.deriveKeys('bill downloads'))
  const tidyCallbacks = makeTidyCallbacks({
    history,
    historyDays: config.callbackHistoryDays,
    tidyEvents: makeTidyEvents({ events: stores.events, feedDays: config.eventFeedDays, clock }),
    clock,
  })
  const erasePersonalData = makeErasePersonalData({
    erasure: stores.erasure,
    personalDataDays: config.personalDataDays,
    clock,
  })
  const preparing = { directory, platformKeys, vault, clock, ...(sealingTools && { tools: sealingTools }) }

  /** What may need a second operator, in the name of whoever acts. */
  const movingAs = (actor: string) => {
    const by = { clock, random, actor, balanceLimits: config.walletLimits.balance }
    return {
      orders: makeManageOrders({ ...stores, currentOrder, onSubmitted, onTask, ...by }),
      funds: makeMoveFunds({ treasury, ...by }),
      wallets: makeManageWallets({
        wallets,
        treasury,
        vault,
        ...by,
        limits: stores.walletLimits,
        consumerData: stores.consumerData,
        resets: stores.pinResets,
        pinResetCodes,
      }),
      corrections: makeCorrectBooks({ treasury, ...by }),
      merchants: makeManageMerchants({ merchants, vault, makeNotices, refusalOfCallbackUrl, ...by }),
      payouts: makeManagePayouts({ ...stores, makeNotices, tellOwner, ...by }),
      transfers: makeRecordTransfers({
        ...stores,
        currentOrder,
        prices,
        ...by,
        onAlert: (message, about) => hints.railAlert(message, about),
      }),
      bankAccounts: makeManageBankAccounts({
        ...stores,
        makeNotices,
        ...by,
        waitMs: config.bankAccountWaitMs,
      }),
    }
  }
  const reconcilingAs = (actor: string) =>
    makeReconciling({
      ...stores,
      statements: stores.bankStatements,
      makeNotices,
      clock,
      random,
      actor,
      payouts: movingAs(actor).payouts,
      transfers: movingAs(actor).transfers,
      onUnexplained: (day) => hints.unexplained(day),
    })
  const passkeyStores = {
    operator: stores.operatorPasskeys,
    member: stores.memberPasskeys,
    wallet: stores.walletPasskeys,
  }
  const passkeysOf = (kind: AccountKind) =>
    makePasskeys({
      kind,
      passkeys: passkeyStores[kind],
      tokens: makeTokens(vault.deriveKeys(`passkeys of ${kind}s`)),
      siteName: `Tillgate ${new URL(publicUrl).host}`,
      clock,
      random,
    })
  const walletPasskeys = passkeysOf('wallet')
  const manageMembers = (actor: string) =>
    makeManageMembers({
      members: stores.members,
      links: stores.memberLinks,
      merchants,
      makeNotices,
      publicUrl,
      clock,
      random,
      actor,
    })
  const askingAs = ({ operator, actor }: Asking) => ({
    ...movingAs(actor),
    approvals,
    policy: config.approvals,
    makeNotices,
    clock,
    random,
    actor,
    operator,
  })

  return {
    directory,
    platformKeys,
    platformPublicKey,

    // Merchants
    currentOrder,
    createOrder: makeCreateOrder({ placeOrder, currentOrder, linkTokens, publicUrl, clock, random }),
    queryOrder: makeQueryOrder({ refunds, currentOrder, clock }),
    cancelOrder: makeCancelOrder({ orders, currentOrder, clock, random, onTask }),
    refundOrder: makeRefundOrder({ orders, currentOrder, refunds, clock, random, onSubmitted }),
    resendCallbacks: makeResendCallbacks({ orders, resends, clock }),
    createLink: makeCreateLink(linkParts),
    queryLink: makeQueryLink(linkParts),
    closeLink: makeCloseLink(linkParts),
    bills: makeAskBill({ readBill, tokens: billDownloads, publicUrl, clock }),
    readBill,

    // Consumers
    openLink: makeOpenLink({ ...linkParts, orders, currentOrder, directory, linkTokens }),
    showCheckout: makeShowCheckout({ orders, linkTokens, currentOrder, directory, clock }),
    authenticateWallet,
    walletSessions,
    walletPasskeys,
    signInByPasskey: makeSignInByPasskey({ passkeys: walletPasskeys, wallets }),
    resetPin: makeResetPin({
      resets: stores.pinResets,
      tries: stores.pinTries,
      codes: pinResetCodes,
      vault,
      clock,
      random,
      tellOwner,
    }),
    changePin: makeChangePin({ wallets, authenticateWallet, vault, tellOwner, clock, random }),
    /** By mail alone: without it an operator gives codes out. */
    askPinCode:
      config.mail &&
      makeAskPinCode({
        wallets,
        resets: stores.pinResets,
        codes: pinResetCodes,
        makeNotices,
        clock,
        random,
      }),
    register: makeRegister({
      registrations: stores.registrations,
      wallets,
      sessions: walletSessions,
      makeNotices,
      codes: makeTokens(vault.deriveKeys('registration codes')),
      vault,
      clock,
      random,
      showsCode: config.mode === 'sandbox' && config.mail === undefined,
    }),
    startTopUp: makeStartTopUp({
      topUps: stores.topUps,
      orders,
      railDirectory,
      findOwnMerchant,
      linkTokens,
      publicUrl,
      defaultLimits: config.walletLimits,
      clock,
      random,
      onPending: (expiresAtMs) => hints.pending(expiresAtMs),
    }),
    withdraw: makeWithdraw({ ...stores, findOwnMerchant, policy: config.withdrawalLimits, clock, random }),
    closeWallet: makeCloseWallet({ closing: stores.closing, vault, clock, random }),
    submitPayment,
    payByRail,
    rails: railDirectory,
    hearNotice: makeHearNotice({ attempts: stores.attempts, railDirectory, clock, onTask }),
    returnToShop: makeReturnToShop({ platformKeys, clock }),
    /** Undefined: no mail is sent. */
    askReceipt: config.mail && makeAskReceipt({ notices: stores.notices, makeNotices, tokens: noticeTokens }),

    // What happens by itself
    expireOrders: makeExpireOrders({ orders, clock, random }),
    settleDue: makeSettleDue({
      ...stores,
      rail: parts.rail ?? railOf(config.mode, { wallets, clock }),
      prices,
      tellRefund: config.mail && makeTellRefund({ wallets, merchants, tellOwner }),
      clock,
      random,
      onTrouble: (error, settlement) => hints.settlingFailed(error, settlement),
    }),
    askRails,
    workPayouts: makeWorkPayouts({ ...stores, tellOwner, clock, random }),
    reconcile: () => reconcilingAs('reconciliation').work(),
    makeBills: makeMakeBills({ billMaker: stores.billMaker, clock }),
    prepareCallback: makePrepareCallback(preparing),
    recordAttempt: makeRecordAttempt({ outcomes: stores.callbackOutcomes, makeNotices, clock, random }),
    holdCallback: makeHoldCallback({ queue: stores.callbackQueue, clock }),
    tidyCallbacks,
    erasePersonalData,
    makeNotices,
    unsubscribe,
    sendNotices: makeSendNotices({
      notices: stores.notices,
      vault,
      clock,
      random,
      openMail: parts.openMail,
      operatorEmails: config.operatorEmails,
      unsubscribeUrl: unsubscribe.urlFor,
      onRecorded: (...told) => hints.noticeRecorded(...told),
    }),
    requestLog: makeRequestLog({ store: stores.requestLog, clock }),
    countDueHour: () => countDueHour(stores.overviewHours, clock.now()),
    prune: (signal: AbortSignal) =>
      makePrune({ ...stores, tidyCallbacks, erasePersonalData, clock, signal })(),

    // The sandbox
    refillTestWallet: refill,
    chooseAtTestBank: makeChooseAtTestBank({ payByRail, post: parts.railPost ?? noWayOut }),
    sandboxPay: makeSandboxPay({ submitPayment, payByRail, orders, wallets }),
    sandboxAdvance: makeSandboxAdvance({
      ...stores,
      currentOrder,
      clock,
      onAdvanced: ({ expiresAtMs }) => hints.advanced(expiresAtMs),
    }),
    sandboxRequests: makeSandboxRequests(stores.requestLog),
    sandboxListen: makeSandboxListen({
      listens: stores.sandboxListens,
      prepare: makePrepareCallback({ ...preparing, isFetched: true }),
      clock,
      // Whoever waits holds one of the places for requests: most of them are for others.
      maxWaiting: Math.ceil(config.requestsInFlightMax / 4),
    }),
    sandboxAccess: makeSandboxAccess({
      manage: makeManageMerchants({
        merchants,
        vault,
        makeNotices,
        clock,
        random,
        actor: sandboxAccessActor,
      }),
      members: manageMembers(sandboxAccessActor),
      access: stores.sandboxAccess,
      platformPublicKey,
      maxPerDay: config.sandboxMerchantsPerDay,
      clock,
    }),

    // Operators
    authenticateOperator: makeAuthenticate({
      kind: 'operator',
      tries: stores.operatorTries,
      normaliseLogin: normaliseOperatorLogin,
      vault,
      clock,
    }),
    operatorSessions: makeSessions({ kind: 'operator', sessions: stores.operatorSessions, clock, random }),
    signInByProvider:
      config.openId &&
      makeSignInByProvider({
        identities: stores.operatorIdentities,
        clock,
        random,
        rolesByGroup: config.openId.rolesByGroup,
      }),
    operatorPasskeys: passkeysOf('operator'),
    secondStep: makeSecondStep({
      kind: 'operator',
      totp: stores.operatorTotp,
      tries: stores.operatorTries,
      vault,
      issuer: `Tillgate ${new URL(publicUrl).host}`,
      clock,
      random,
    }),
    apiTokens: makeManageTokens({ tokens: stores.apiTokens, operators, clock, random }),
    decideApprovals: makeDecideApprovals({ approvals, operators, carryOutAs: movingAs, clock, random }),
    // Members of merchants
    authenticateMember: makeAuthenticate({
      kind: 'member',
      tries: stores.memberTries,
      normaliseLogin: normaliseEmail,
      vault,
      clock,
    }),
    memberSessions: makeSessions({ kind: 'member', sessions: stores.memberSessions, clock, random }),
    memberPasskeys: passkeysOf('member'),
    signInMemberByProvider: makeSignInMemberByProvider({
      identities: stores.memberIdentities,
      clock,
      random,
    }),
    memberSecondStep: makeSecondStep({
      kind: 'member',
      totp: stores.memberTotp,
      tries: stores.memberTries,
      vault,
      issuer: `Tillgate ${new URL(publicUrl).host}`,
      clock,
      random,
    }),
    /** By mail alone: without it an operator hands links over. */
    askRecovery: config.mail && manageMembers('portal').askRecovery,
    memberLinks: makeOpenLinks({
      links: stores.memberLinks,
      accounts: stores.memberSessions,
      merchants,
      vault,
      clock,
      random,
    }),
    apply: makeApply({
      applications: stores.applications,
      members: manageMembers('applicant'),
      clock,
      random,
    }),
    merchantScope: makeMerchantScope({
      stores,
      vault,
      publicUrl,
      platformPublicKey,
      refusalOfCallbackUrl,
      makeNotices,
      placeOrder,
      policy: config.approvals,
      bankAccountWaitMs: config.bankAccountWaitMs,
      onSubmitted,
      onTask,
      clock,
      random,
    }),

    readEvents: makeReadEvents({ events: stores.events, clock }),
    findOrders: makeFindOrders({ list: stores.orderList }),
    showOrder: makeShowOrder({
      ...stores,
      details: stores.orderDetails,
      history,
      currentOrder,
      clock,
      random,
    }),
    readBooks: makeReadBooks({ trialBalance: stores.trialBalance, clock }),
    readOverview: makeReadOverview({
      hours: stores.overviewHours,
      clock,
      onTrouble: (error) => hints.countingFailed(error),
    }),
    async findCallback(callbackId: string) {
      const callback = await history.findCallback(callbackId)
      return callback && { callback, attempts: await history.listAttempts(callback) }
    },
    writeStatement: (range: Parameters<typeof streamStatement>[1]) =>
      streamStatement(stores.statements, range),
    verifyLedger: makeVerifyLedger(stores.verifyLedger),

    // At once, or after a second operator's yes
    moneyActs: (by: Asking) => makeMoneyActs(askingAs(by)),
    merchantActs: (by: Asking) => makeMerchantActs(askingAs(by)),
    payoutActs: (by: Asking) => makePayoutActs(askingAs(by)),
    transferActs: (by: Asking) => makeTransferActs(askingAs(by)),

    /** What people do, in the name of one of them. */
    as: (actor: string) => {
      const by = { clock, random, actor }
      return {
        ...movingAs(actor),
        operators: makeManageOperators({
          operators,
          vault,
          ...by,
          hasProvider: config.openId !== undefined,
        }),
        members: manageMembers(actor),
        applications: makeDecideApplications({
          applications: stores.applications,
          publicUrl,
          makeNotices,
          ...by,
        }),
        changeMemberPassword: makeChangePassword({
          kind: 'member',
          setPassword: stores.members.setPassword,
          vault,
          ...by,
        }),
        callbacks: makeManageCallbacks({ history, resends, ...by }),
        hosts: makePauseHosts({ pauses: stores.callbackPauses, ...by }),
        endpoints: makeManageEndpoints({
          endpoints: stores.endpoints,
          merchants,
          vault,
          refusalOfCallbackUrl,
          ...by,
        }),
        notices: makeManageNotices({ noticeLog: stores.noticeLog, ...by }),
        returnLateMoney: makeReturnLateMoney({ attempts: stores.attempts, onTask, ...by }),
        links: makeManageLinks({ links: stores.links, merchants, storeLink, publicUrl, ...by }),
        reconciliation: reconcilingAs(actor),
        rails: makeManageRails({ rails: stores.rails, vault, mode: config.mode, ...by }),
        prices: makeManagePrices({ prices: stores.priceLists, merchants, rails: stores.rails, ...by }),
        banks: makeManageBanks({ banks: stores.bankAccounts, ...by }),
        payoutPlans: makeManagePlans({ ...stores, onWork: onPayouts, ...by }),
        payoutRuns: makeManageRuns({ ...stores, onWork: onPayouts, ...by }),
        platformKeys: makeManagePlatformKeys({ keys: stores.platformKeys, vault, ...by }),
        masterKey: makeRotateMasterKey({ secrets: stores.sealedSecrets, vault, ...by }),
      }
    },
  }
}

const noWayOut: RailPost = async () => ({
  kind: 'unreachable',
  reason: 'connect',
  detail: 'this program sends nothing to rails',
  durationMs: 0,
})

/** In the sandbox a wallet may have a fixed behaviour. */
function railOf(mode: Config['mode'], { wallets, clock }: Pick<Stores, 'wallets'> & { clock: Clock }): Rail {
  if (mode === 'live') return walletRail
  return makeSandboxRail({ clock, behaviourOf: async (id) => (await wallets.findWallet(id))?.behaviour })
}
