// What stands between the edges and the database: stores, keys and the merchants' directory over one open
// database. The gateway and the operator's command line both work through it.
import { randomBytes } from 'node:crypto'
import type { Line } from '../callbacks/rules/delivery-lanes.ts'
import { type CallbackHistory, makeCallbackHistory } from '../callbacks/store/callback-history.ts'
import { type CallbackOutcomes, makeCallbackOutcomes } from '../callbacks/store/callback-outcomes.ts'
import { type CallbackPauseStore, makeCallbackPauseStore } from '../callbacks/store/callback-pauses.ts'
import { type CallbackQueue, makeCallbackQueue } from '../callbacks/store/callback-queue.ts'
import { type CallbackResends, makeCallbackResends } from '../callbacks/store/callback-resends.ts'
import { announcingCallbacks } from '../callbacks/store/callbacks.ts'
import { parseDatabaseUrl } from '../database/connection.ts'
import { type NotificationParts, type Notifications, openNotifications } from '../database/notifications.ts'
import type { OpenDatabase } from '../database/open-database.ts'
import type { Pool } from '../database/pool.ts'
import { checkWritable, type Writability } from '../database/writable.ts'
import { PlatformKeys } from '../keys/platform-keys.ts'
import { makePlatformKeyStore, type PlatformKeyStore } from '../keys/store/platform-keys.ts'
import { makeSealedSecretStore, type SealedSecretStore } from '../keys/store/sealed-secrets.ts'
import { type Verification, verifyLedger } from '../ledger/store/ledger-verification.ts'
import { makeStatementStore, type StatementStore } from '../ledger/store/statements.ts'
import { type BalanceLine, readTrialBalance } from '../ledger/store/trial-balance.ts'
import { MerchantDirectory } from '../merchants/merchant-directory.ts'
import { type MerchantStore, makeMerchantStore } from '../merchants/store/merchants.ts'
import { type ApiTokenStore, makeApiTokenStore } from '../operators/store/api-tokens.ts'
import { type ApprovalStore, makeApprovalStore } from '../operators/store/approvals.ts'
import { type AuditLogStore, makeAuditLogStore } from '../operators/store/audit-log.ts'
import { makeOperatorTotpStore, type OperatorTotpStore } from '../operators/store/operator-totp.ts'
import { makeOperatorStore, type OperatorStore } from '../operators/store/operators.ts'
import { makeOrderDetailsStore, type OrderDetailsStore } from '../orders/store/order-details.ts'
import { makeOrderListStore, type OrderListStore } from '../orders/store/order-list.ts'
import { makeOrderStore, type OnBatch, type OrderStore } from '../orders/store/orders.ts'
import { type Figures, readFigures } from '../overview/store/figures.ts'
import { makeOverviewHours, type OverviewHours } from '../overview/store/overview-hours.ts'
import { makePaymentStore, type PaymentStore } from '../payments/store/payments.ts'
import { makeSettlingStore, type SettlingStore } from '../payments/store/settling.ts'
import { systemClock } from '../platform/clock.ts'
import { loadMasterKeys } from '../platform/master-keys.ts'
import { exitCodes, StartFailure } from '../platform/start-failure.ts'
import { makeVault, type Vault } from '../platform/vault.ts'
import { makeRefundStore, type RefundStore } from '../refunds/store/refunds.ts'
import { makeSandboxStore, type SandboxStore } from '../sandbox/store/sandbox.ts'
import { makeSandboxAccessStore, type SandboxAccessStore } from '../sandbox/store/sandbox-access.ts'
import { makeSandboxListenStore, type SandboxListenStore } from '../sandbox/store/sandbox-listens.ts'
import type { Config } from '../settings/config.ts'
import { readSystemState, type SystemState } from '../system/store/system.ts'
import { makeTreasuryStore, type TreasuryStore } from '../treasury/store/treasury.ts'
import { makeWalletStore, type WalletStore } from '../wallets/store/wallets.ts'
import { type CoreDatabaseOptions, openCoreDatabase } from './core-database.ts'

export interface Core {
  readonly orders: OrderStore
  readonly orderList: OrderListStore
  readonly orderDetails: OrderDetailsStore
  readonly merchants: MerchantStore
  readonly operators: OperatorStore
  readonly approvals: ApprovalStore
  readonly operatorTotp: OperatorTotpStore
  readonly apiTokens: ApiTokenStore
  readonly wallets: WalletStore
  readonly payments: PaymentStore
  readonly refunds: RefundStore
  readonly settling: SettlingStore
  readonly treasury: TreasuryStore
  readonly statements: StatementStore
  readonly auditLog: AuditLogStore
  readonly overviewHours: OverviewHours
  readonly sandbox: SandboxStore
  readonly sandboxListens: SandboxListenStore
  readonly sandboxAccess: SandboxAccessStore
  readonly callbacks: CallbackStores
  readonly directory: MerchantDirectory
  readonly platformKeys: PlatformKeys
  readonly platformKeyStore: PlatformKeyStore
  readonly sealedSecrets: SealedSecretStore
  readonly vault: Vault
  verifyLedger(): Promise<Verification>
  trialBalance(): Promise<readonly BalanceLine[]>
  systemState(nowMs: number): Promise<SystemState>
  figures(nowMs: number): Promise<Figures>
  poolCounts(): ReturnType<Pool['counts']>
  /** Undefined: the configuration says that nobody is to be heard. */
  openNotifications(listeners: Pick<NotificationParts, 'onMessage' | 'onDeaf'>): Notifications | undefined
  writability(): Promise<Writability>
  close(): Promise<void>
}

export interface CallbackStores {
  readonly queue: CallbackQueue
  readonly outcomes: CallbackOutcomes
  readonly history: CallbackHistory
  readonly resends: CallbackResends
  readonly pauses: CallbackPauseStore
  /** Tells of every commit that queued callbacks; a hint. */
  onQueued(listener: (lines: readonly Line[]) => void): void
}

/** Told of what happens on the way to the database. */
export interface CoreObserver {
  onBatch: OnBatch
  /** The same pool, watched. */
  overPool(pool: Pool): Pool
}

export async function openCore(options: CoreDatabaseOptions): Promise<Core> {
  const database = await openCoreDatabase(options)
  try {
    return await makeCore(database, options)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Over a database that stays open when this fails. */
export async function makeCore(
  database: OpenDatabase,
  { config, observer }: { config: Config; observer?: CoreObserver },
): Promise<Core> {
  const { schemaNumber, close } = database
  const tellQueued: ((lines: readonly Line[]) => void)[] = []
  const measured = observer?.overPool(database.pool) ?? database.pool
  const pool = announcingCallbacks(measured, (lines) => {
    for (const tell of tellQueued) tell(lines)
  })
  // After the database, which knows who must be able to enter DATA_DIR when it makes that folder.
  const vault = makeVault(...loadMasterKeys(config))
  const merchants = makeMerchantStore(pool)
  const platformKeyStore = makePlatformKeyStore(pool)
  const platformKeys = new PlatformKeys({ store: platformKeyStore, vault })
  await platformKeys.ensure({ clock: systemClock, random: randomBytes })
  const sealedSecrets = makeSealedSecretStore(pool)
  await checkMasterKey(sealedSecrets, vault)
  return {
    orders: makeOrderStore(pool, observer?.onBatch),
    orderList: makeOrderListStore(pool),
    orderDetails: makeOrderDetailsStore(pool),
    merchants,
    operators: makeOperatorStore(pool),
    approvals: makeApprovalStore(pool),
    operatorTotp: makeOperatorTotpStore(pool),
    apiTokens: makeApiTokenStore(pool),
    wallets: makeWalletStore(pool),
    payments: makePaymentStore(pool),
    refunds: makeRefundStore(pool),
    settling: makeSettlingStore(pool, observer?.onBatch),
    treasury: makeTreasuryStore(pool),
    statements: makeStatementStore(pool),
    auditLog: makeAuditLogStore(pool),
    overviewHours: makeOverviewHours(pool),
    sandbox: makeSandboxStore(pool),
    sandboxListens: makeSandboxListenStore(pool),
    sandboxAccess: makeSandboxAccessStore(pool),
    verifyLedger: () => verifyLedger(pool),
    trialBalance: () => readTrialBalance(pool),
    systemState: (nowMs) => readSystemState(pool, nowMs),
    figures: (nowMs) => readFigures(pool, nowMs),
    poolCounts: () => pool.counts(),
    openNotifications(listeners) {
      const { databaseListenUrl } = config
      if (databaseListenUrl === 'off') return undefined
      const connection =
        databaseListenUrl === undefined ? database.connection : parseDatabaseUrl(databaseListenUrl)
      return openNotifications({ connection, database: pool, ...listeners })
    },
    callbacks: {
      queue: makeCallbackQueue(pool),
      outcomes: makeCallbackOutcomes(pool),
      history: makeCallbackHistory(pool),
      resends: makeCallbackResends(pool),
      pauses: makeCallbackPauseStore(pool),
      onQueued(listener) {
        tellQueued.push(listener)
      },
    },
    directory: new MerchantDirectory({ store: merchants, vault }),
    platformKeys,
    platformKeyStore,
    sealedSecrets,
    vault,
    writability: () => checkWritable(pool, schemaNumber),
    close,
  }
}

/** A gateway with the wrong master key would turn every merchant away, so it does not start at all. */
async function checkMasterKey(secrets: SealedSecretStore, vault: Vault): Promise<void> {
  const known = vault.masterKeyIds
  const counts = await secrets.countByMasterKey()
  if (counts.every(({ masterKeyId, live }) => live === 0 || known.some((id) => id.equals(masterKeyId))))
    return
  throw new StartFailure(
    'The secrets in this database were sealed under another master key.\n' +
      'Give the one that they were made with (MASTER_KEY, MASTER_KEY_FILE, or master.key in DATA_DIR).\n' +
      'While it is replaced both are needed, the new one first.',
    { exitCode: exitCodes.settings },
  )
}
