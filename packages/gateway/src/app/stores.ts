// Every store, over one pool. Whoever needs stores takes them from here: the gateway, the command line, tests, the
// simulation and the benchmarks.
import { makeAccountSessionStore } from '../accounts/store/account-sessions.ts'
import { memberTables, operatorTables } from '../accounts/store/account-tables.ts'
import { makeAccountTotpStore } from '../accounts/store/account-totp.ts'
import { makeAccountTriesStore } from '../accounts/store/account-tries.ts'
import { makePasskeyStore } from '../accounts/store/passkeys.ts'
import { makeApplicationStore } from '../applications/store/applications.ts'
import { makeBillStore } from '../bills/store/bills.ts'
import { makeBillMakerStore } from '../bills/store/make-bill.ts'
import { makeCallbackHistory } from '../callbacks/store/callback-history.ts'
import { makeCallbackOutcomes, type OutcomeGathering } from '../callbacks/store/callback-outcomes.ts'
import { makeCallbackPauseStore } from '../callbacks/store/callback-pauses.ts'
import { makeCallbackQueue } from '../callbacks/store/callback-queue.ts'
import { makeCallbackResends } from '../callbacks/store/callback-resends.ts'
import type { OnQueued } from '../callbacks/store/callbacks.ts'
import { makeEndpointStore } from '../callbacks/store/endpoints.ts'
import { makePartitions } from '../database/partitions.ts'
import type { Pool } from '../database/pool.ts'
import { makeEventStore } from '../events/store/events.ts'
import { makePlatformKeyStore } from '../keys/store/platform-keys.ts'
import { makeSealedSecretStore } from '../keys/store/sealed-secrets.ts'
import { verifyLedger } from '../ledger/store/ledger-checks.ts'
import { makeListMovements } from '../ledger/store/movements.ts'
import { makeStatementStore } from '../ledger/store/statements.ts'
import { readTrialBalance } from '../ledger/store/trial-balance.ts'
import { makeLinkStore } from '../links/store/links.ts'
import { makeMemberIdentities } from '../members/store/member-identities.ts'
import { makeMemberLinkStore } from '../members/store/member-links.ts'
import { makeMemberStore, memberAccountShape } from '../members/store/members.ts'
import { makeMerchantStore } from '../merchants/store/merchants.ts'
import { makeNoticeLog } from '../notices/store/notice-log.ts'
import { makeNoticeStore } from '../notices/store/notices.ts'
import { makeApiTokenStore } from '../operators/store/api-tokens.ts'
import { makeApprovalStore } from '../operators/store/approvals.ts'
import { makeAuditLogStore } from '../operators/store/audit-log.ts'
import { makeOperatorIdentities } from '../operators/store/operator-identities.ts'
import { makeOperatorStore, operatorShape } from '../operators/store/operators.ts'
import { makeErasureStore } from '../orders/store/erasure.ts'
import { makeOrderDetailsStore } from '../orders/store/order-details.ts'
import { makeOrderListStore } from '../orders/store/order-list.ts'
import { makeOrderStore, type OnBatch } from '../orders/store/orders.ts'
import { readFigures } from '../overview/store/figures.ts'
import { makeMerchantFigureStore } from '../overview/store/merchant-figures.ts'
import { makeOverviewHours } from '../overview/store/overview-hours.ts'
import { makePaymentStore } from '../payments/store/payments.ts'
import { makeSettlingStore } from '../payments/store/settling.ts'
import { makeMerchantBankAccountStore } from '../payouts/store/merchant-bank-accounts.ts'
import { makePayoutBatchStore } from '../payouts/store/payout-batches.ts'
import { makePayoutPlanStore } from '../payouts/store/payout-plans.ts'
import { makePayoutRunStore } from '../payouts/store/payout-runs.ts'
import { makePayoutStore } from '../payouts/store/payouts.ts'
import { makeRequestPayoutStore } from '../payouts/store/request-payout.ts'
import { makeWithdrawalStore } from '../payouts/store/request-withdrawal.ts'
import { makeRailAttemptStore } from '../rails/store/rail-attempts.ts'
import { makeRailStore } from '../rails/store/rails.ts'
import { makeTransferEntryStore } from '../rails/store/transfer-entries.ts'
import { makeBreakStore } from '../reconciliation/store/breaks.ts'
import { makeDayStore } from '../reconciliation/store/days.ts'
import { makeMatchingStore } from '../reconciliation/store/matching.ts'
import { makeStatementStore as makeBankStatementStore } from '../reconciliation/store/statements.ts'
import { makeRefundStore } from '../refunds/store/refunds.ts'
import { makeSandboxStore } from '../sandbox/store/sandbox.ts'
import { makeSandboxAccessStore } from '../sandbox/store/sandbox-access.ts'
import { makeSandboxListenStore } from '../sandbox/store/sandbox-listens.ts'
import { makeRequestLogStore } from '../system/store/request-log.ts'
import { readSystemState } from '../system/store/system.ts'
import { makeBankAccountStore } from '../treasury/store/bank-accounts.ts'
import { makeCorrectionStore } from '../treasury/store/corrections.ts'
import { makePriceStore } from '../treasury/store/prices.ts'
import { makeTreasuryStore } from '../treasury/store/treasury.ts'
import { makeClosingStore } from '../wallets/store/closing.ts'
import { makeConsumerDataStore } from '../wallets/store/consumer-data.ts'
import { makeHistoryStore } from '../wallets/store/history.ts'
import { makeWalletLimitStore } from '../wallets/store/limits.ts'
import { makePinResetStore } from '../wallets/store/pin-resets.ts'
import { makePinTriesStore } from '../wallets/store/pin-tries.ts'
import { makeRegistrationStore } from '../wallets/store/registrations.ts'
import { makeTopUpStore } from '../wallets/store/top-ups.ts'
import { makeWalletSessionStore, walletTables } from '../wallets/store/wallet-sessions.ts'
import { makeWalletStore } from '../wallets/store/wallets.ts'

export interface StoreParts {
  readonly onBatch?: OnBatch | undefined
  readonly onQueued?: OnQueued | undefined
  /** How outcomes of deliveries are gathered into batches; left out, as a gateway does. */
  readonly outcomes?: OutcomeGathering
}

const operatorAccounts = { tables: operatorTables, shape: operatorShape }
const memberAccounts = { tables: memberTables, shape: memberAccountShape }

export type Stores = ReturnType<typeof makeStores>

export function makeStores(pool: Pool, { onBatch, onQueued, outcomes }: StoreParts = {}) {
  return {
    orders: makeOrderStore(pool, { onBatch, onQueued }),
    orderList: makeOrderListStore(pool),
    erasure: makeErasureStore(pool),
    orderDetails: makeOrderDetailsStore(pool),
    payments: makePaymentStore(pool, onQueued),
    settling: makeSettlingStore(pool, { onBatch, onQueued }),
    links: makeLinkStore(pool),
    rails: makeRailStore(pool),
    attempts: makeRailAttemptStore(pool, onQueued),
    transferEntries: makeTransferEntryStore(pool, onQueued),
    listMovements: makeListMovements(pool),
    bankStatements: makeBankStatementStore(pool),
    matching: makeMatchingStore(pool),
    breaks: makeBreakStore(pool),
    days: makeDayStore(pool),
    refunds: makeRefundStore(pool),
    callbackQueue: makeCallbackQueue(pool),
    callbackOutcomes: makeCallbackOutcomes(pool, outcomes),
    callbackHistory: makeCallbackHistory(pool),
    callbackResends: makeCallbackResends(pool, onQueued),
    callbackPauses: makeCallbackPauseStore(pool),
    endpoints: makeEndpointStore(pool, onQueued),
    events: makeEventStore(pool),
    merchants: makeMerchantStore(pool),
    wallets: makeWalletStore(pool),
    consumerData: makeConsumerDataStore(pool),
    walletLimits: makeWalletLimitStore(pool),
    walletSessions: makeWalletSessionStore(pool),
    walletPasskeys: makePasskeyStore(pool, walletTables),
    walletHistory: makeHistoryStore(pool),
    registrations: makeRegistrationStore(pool),
    topUps: makeTopUpStore(pool),
    closing: makeClosingStore(pool, onQueued),
    pinTries: makePinTriesStore(pool),
    pinResets: makePinResetStore(pool),
    treasury: makeTreasuryStore(pool),
    priceLists: makePriceStore(pool),
    corrections: makeCorrectionStore(pool),
    bankAccounts: makeBankAccountStore(pool),
    merchantBankAccounts: makeMerchantBankAccountStore(pool),
    payoutPlans: makePayoutPlanStore(pool),
    payoutRuns: makePayoutRunStore(pool),
    payouts: makePayoutStore(pool),
    payoutRequests: makeRequestPayoutStore(pool),
    payoutBatches: makePayoutBatchStore(pool),
    withdrawals: makeWithdrawalStore(pool),
    statements: makeStatementStore(pool),
    bills: makeBillStore(pool),
    billMaker: makeBillMakerStore(pool),
    verifyLedger: () => verifyLedger(pool),
    trialBalance: () => readTrialBalance(pool),
    platformKeys: makePlatformKeyStore(pool),
    sealedSecrets: makeSealedSecretStore(pool),
    operators: makeOperatorStore(pool),
    operatorIdentities: makeOperatorIdentities(pool),
    operatorSessions: makeAccountSessionStore(pool, operatorAccounts),
    operatorTries: makeAccountTriesStore(pool, operatorAccounts),
    operatorTotp: makeAccountTotpStore(pool, operatorTables),
    operatorPasskeys: makePasskeyStore(pool, operatorTables),
    members: makeMemberStore(pool),
    memberSessions: makeAccountSessionStore(pool, memberAccounts),
    memberTries: makeAccountTriesStore(pool, memberAccounts),
    memberTotp: makeAccountTotpStore(pool, memberTables),
    memberIdentities: makeMemberIdentities(pool),
    memberPasskeys: makePasskeyStore(pool, memberTables),
    memberLinks: makeMemberLinkStore(pool),
    apiTokens: makeApiTokenStore(pool),
    approvals: makeApprovalStore(pool),
    auditLog: makeAuditLogStore(pool),
    notices: makeNoticeStore(pool),
    noticeLog: makeNoticeLog(pool),
    overviewHours: makeOverviewHours(pool),
    sandbox: makeSandboxStore(pool, onQueued),
    sandboxListens: makeSandboxListenStore(pool),
    sandboxAccess: makeSandboxAccessStore(pool),
    applications: makeApplicationStore(pool),
    requestLog: makeRequestLogStore(pool),
    partitions: makePartitions(pool),
    merchantFigures: makeMerchantFigureStore(pool),
    systemState: (nowMs: number) => readSystemState(pool, nowMs),
    figures: (nowMs: number) => readFigures(pool, nowMs),
  }
}
