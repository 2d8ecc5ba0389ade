// Creates every store over one pool, for the gateway, the command line, tests, the simulation and the benchmarks.

import { makeApprovalStore } from '../../actions/approvals/store/approvals.ts'
import { makeAuditLogStore } from '../../core/audit/store/audit-log.ts'
import { makeEventStore } from '../../core/callbacks/events/store/events.ts'
import { makeCallbackHistory } from '../../core/callbacks/store/callback-history.ts'
import { makeCallbackOutcomes, type OutcomeGathering } from '../../core/callbacks/store/callback-outcomes.ts'
import { makeCallbackPauseStore } from '../../core/callbacks/store/callback-pauses.ts'
import { makeCallbackQueue } from '../../core/callbacks/store/callback-queue.ts'
import { makeCallbackResends } from '../../core/callbacks/store/callback-resends.ts'
import { makeEndpointStore } from '../../core/callbacks/store/endpoints.ts'
import type { Publish } from '../../core/changes/rules/change.ts'
import { makeEmailLog } from '../../core/email-log/store/email-log.ts'
import { makeEmailStore } from '../../core/emails/store/emails.ts'
import { makePlatformKeyStore } from '../../core/keys/store/platform-keys.ts'
import { makeSealedSecretStore } from '../../core/keys/store/sealed-secrets.ts'
import { makeMerchantStatementStore } from '../../core/ledger/store/merchant-statements.ts'
import { makeListMovements } from '../../core/ledger/store/movements.ts'
import { readTrialBalance } from '../../core/ledger/store/trial-balance.ts'
import { makeMerchantStore } from '../../core/merchants/store/merchants.ts'
import { makeCaptureStore } from '../../core/orders/captures/store/captures.ts'
import { makePaymentStore } from '../../core/orders/payments/store/payments.ts'
import { makeSettlingStore } from '../../core/orders/payments/store/settling.ts'
import { makeRefundStore } from '../../core/orders/refunds/store/refunds.ts'
import { makePayCodeStore } from '../../core/orders/scans/store/pay-codes.ts'
import { makeErasureStore } from '../../core/orders/store/erasure.ts'
import { makeOrderDetailsStore } from '../../core/orders/store/order-details.ts'
import { makeOrderListStore } from '../../core/orders/store/order-list.ts'
import { makeOrderStore, type OnBatch } from '../../core/orders/store/orders.ts'
import { makeHistoryStore } from '../../core/wallets/store/history.ts'
import { makeWalletLimitStore } from '../../core/wallets/store/limits.ts'
import { makePinTriesStore } from '../../core/wallets/store/pin-tries.ts'
import { makeWalletStore } from '../../core/wallets/store/wallets.ts'
import { makeBillStore } from '../../finance/bills/store/bills.ts'
import { makeBillMakerStore } from '../../finance/bills/store/make-bill.ts'
import { makeLinkStore } from '../../finance/links/store/links.ts'
import { readFigures } from '../../finance/overview/store/figures.ts'
import { makeMerchantFigureStore } from '../../finance/overview/store/merchant-figures.ts'
import { makeReadNames } from '../../finance/overview/store/names.ts'
import { makeOverviewHours } from '../../finance/overview/store/overview-hours.ts'
import { makeSearchBooks } from '../../finance/overview/store/search.ts'
import { readSystemState } from '../../finance/overview/store/system-state.ts'
import { verifyLedger } from '../../finance/overview/store/verify-ledger.ts'
import { makeMerchantBankAccountStore } from '../../finance/payouts/store/merchant-bank-accounts.ts'
import { makePayoutBatchStore } from '../../finance/payouts/store/payout-batches.ts'
import { makePayoutPlanStore } from '../../finance/payouts/store/payout-plans.ts'
import { makePayoutRunStore } from '../../finance/payouts/store/payout-runs.ts'
import { makePayoutStore } from '../../finance/payouts/store/payouts.ts'
import { makeRequestPayoutStore } from '../../finance/payouts/store/request-payout.ts'
import { makeDebtStore } from '../../finance/rails/disputes/store/debts.ts'
import { makeDisputeStore } from '../../finance/rails/disputes/store/disputes.ts'
import { makeRailAttemptStore } from '../../finance/rails/store/rail-attempts.ts'
import { makeRailStore } from '../../finance/rails/store/rails.ts'
import { makeTransferEntryStore } from '../../finance/rails/store/transfer-entries.ts'
import { makeBreakStore } from '../../finance/reconciliation/store/breaks.ts'
import { makeDayStore } from '../../finance/reconciliation/store/days.ts'
import { makeMatchingStore } from '../../finance/reconciliation/store/matching.ts'
import { makeStatementStore } from '../../finance/reconciliation/store/statements.ts'
import { makeTopUpStore } from '../../finance/top-ups/store/top-ups.ts'
import { makeBankAccountStore } from '../../finance/treasury/store/bank-accounts.ts'
import { makeCorrectionStore } from '../../finance/treasury/store/corrections.ts'
import { makePriceStore } from '../../finance/treasury/store/prices.ts'
import { makeTreasuryStore } from '../../finance/treasury/store/treasury.ts'
import { makeAccountSessionStore } from '../../identity/accounts/store/account-sessions.ts'
import { memberTables, operatorTables } from '../../identity/accounts/store/account-tables.ts'
import { makeAccountTotpStore } from '../../identity/accounts/store/account-totp.ts'
import { makeAccountTriesStore } from '../../identity/accounts/store/account-tries.ts'
import { makePasskeyStore } from '../../identity/accounts/store/passkeys.ts'
import { makeApplicationStore } from '../../identity/applications/store/applications.ts'
import { makeClosingStore } from '../../identity/consumers/store/closing.ts'
import { makeConsumerDataStore } from '../../identity/consumers/store/consumer-data.ts'
import { makePendingEntries } from '../../identity/consumers/store/pending-entries.ts'
import { makePinResetStore } from '../../identity/consumers/store/pin-resets.ts'
import { makeRegistrationStore } from '../../identity/consumers/store/registrations.ts'
import { makeWithdrawalStore } from '../../identity/consumers/store/request-withdrawal.ts'
import { makeWalletSessionStore, walletTables } from '../../identity/consumers/store/wallet-sessions.ts'
import { makeMemberIdentities } from '../../identity/members/store/member-identities.ts'
import { makeMemberLinkStore } from '../../identity/members/store/member-links.ts'
import { makeMemberStore, memberAccountShape } from '../../identity/members/store/members.ts'
import { makeApiTokenStore } from '../../identity/operators/store/api-tokens.ts'
import { makeIdempotencyKeyStore } from '../../identity/operators/store/idempotency-keys.ts'
import { makeOperatorIdentities } from '../../identity/operators/store/operator-identities.ts'
import { makeOperatorStore, operatorShape } from '../../identity/operators/store/operators.ts'
import { readLastBackup } from '../../platform/database/backup/backup-notes.ts'
import { makePartitions } from '../../platform/database/partitions.ts'
import type { Pool } from '../../platform/database/pool.ts'
import { makeRequestLogStore } from '../../platform/request-log/store/request-log.ts'
import { makeSandboxStore } from '../../sandbox/store/sandbox.ts'
import { makeSandboxAccessStore } from '../../sandbox/store/sandbox-access.ts'
import { makeSandboxListenStore } from '../../sandbox/store/sandbox-listens.ts'

export interface StoreParts {
  readonly onBatch?: OnBatch | undefined
  readonly publish?: Publish | undefined
  /** How outcomes of deliveries are batched; by default as in a gateway. */
  readonly outcomes?: OutcomeGathering
}

const operatorAccounts = { tables: operatorTables, shape: operatorShape }
const memberAccounts = { tables: memberTables, shape: memberAccountShape }

export type Stores = ReturnType<typeof makeStores>

export function makeStores(pool: Pool, { onBatch, publish, outcomes }: StoreParts = {}) {
  return {
    orders: makeOrderStore(pool, { onBatch, publish }),
    orderList: makeOrderListStore(pool),
    erasure: makeErasureStore(pool),
    orderDetails: makeOrderDetailsStore(pool),
    payments: makePaymentStore(pool, publish),
    payCodes: makePayCodeStore(pool, publish),
    settling: makeSettlingStore(pool, { onBatch, publish }),
    links: makeLinkStore(pool),
    rails: makeRailStore(pool),
    attempts: makeRailAttemptStore(pool, publish),
    disputes: makeDisputeStore(pool, publish),
    debts: makeDebtStore(pool),
    transferEntries: makeTransferEntryStore(pool, publish),
    listMovements: makeListMovements(pool),
    bankStatements: makeStatementStore(pool),
    matching: makeMatchingStore(pool),
    breaks: makeBreakStore(pool),
    days: makeDayStore(pool),
    refunds: makeRefundStore(pool, publish),
    captures: makeCaptureStore(pool, publish),
    callbackQueue: makeCallbackQueue(pool),
    callbackOutcomes: makeCallbackOutcomes(pool, outcomes),
    callbackHistory: makeCallbackHistory(pool),
    callbackResends: makeCallbackResends(pool, publish),
    callbackPauses: makeCallbackPauseStore(pool),
    endpoints: makeEndpointStore(pool, publish),
    events: makeEventStore(pool),
    merchants: makeMerchantStore(pool),
    wallets: makeWalletStore(pool),
    consumerData: makeConsumerDataStore(pool),
    walletLimits: makeWalletLimitStore(pool),
    walletSessions: makeWalletSessionStore(pool),
    walletPasskeys: makePasskeyStore(pool, walletTables),
    walletHistory: makeHistoryStore(pool),
    pendingEntries: makePendingEntries(pool),
    registrations: makeRegistrationStore(pool),
    topUps: makeTopUpStore(pool, publish),
    closing: makeClosingStore(pool, publish),
    pinTries: makePinTriesStore(pool),
    pinResets: makePinResetStore(pool),
    treasury: makeTreasuryStore(pool),
    priceLists: makePriceStore(pool),
    corrections: makeCorrectionStore(pool),
    bankAccounts: makeBankAccountStore(pool),
    merchantBankAccounts: makeMerchantBankAccountStore(pool),
    payoutPlans: makePayoutPlanStore(pool, publish),
    payoutRuns: makePayoutRunStore(pool, publish),
    payouts: makePayoutStore(pool),
    payoutRequests: makeRequestPayoutStore(pool),
    payoutBatches: makePayoutBatchStore(pool),
    withdrawals: makeWithdrawalStore(pool),
    statements: makeMerchantStatementStore(pool),
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
    idempotencyKeys: makeIdempotencyKeyStore(pool),
    approvals: makeApprovalStore(pool),
    auditLog: makeAuditLogStore(pool),
    emails: makeEmailStore(pool),
    emailLog: makeEmailLog(pool),
    overviewHours: makeOverviewHours(pool),
    searchBooks: makeSearchBooks(pool),
    readNames: makeReadNames(pool),
    sandbox: makeSandboxStore(pool, publish),
    sandboxListens: makeSandboxListenStore(pool),
    sandboxAccess: makeSandboxAccessStore(pool),
    applications: makeApplicationStore(pool),
    requestLog: makeRequestLogStore(pool),
    partitions: makePartitions(pool),
    merchantFigures: makeMerchantFigureStore(pool),
    lastBackupAtMs: () => readLastBackup(pool),
    systemState: (nowMs: number) => readSystemState(pool, nowMs),
    figures: (nowMs: number) => readFigures(pool, nowMs),
  }
}
