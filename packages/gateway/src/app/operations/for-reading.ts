// What the operators' pages show.
import { countedAtMost } from '../../actions/operations.ts'
import { makeExportAudit } from '../../core/audit/export-audit.ts'
import { type AnyContext, reading } from '../../core/authority/context.ts'
import { makeReadBooks } from '../../core/ledger/read-books.ts'
import { makeVerifyLedger } from '../../core/ledger/run-checks.ts'
import { streamStatement } from '../../core/ledger/write-statement.ts'
import { makeReadMerchant } from '../../finance/overview/read-merchant.ts'
import { makeReadOverview } from '../../finance/overview/read-overview.ts'
import { makeShowOrder } from '../../finance/overview/show-order.ts'
import { nameIn } from '../../finance/rails/rules/outside-rail.ts'
import { backupWithinMs } from '../../platform/database/backup/backup-notes.ts'
import { build } from '../../platform/runtime/version.ts'
import type { Stores } from '../database/stores.ts'
import type { Common } from './common.ts'

/** The name that consumers see; for a rail that no longer exists, its ID. */
export function makeFindRailName({ railDirectory }: Pick<Common, 'railDirectory'>) {
  return async (railId: string, language: string): Promise<string> => {
    const known = await railDirectory.find(railId)
    return known ? nameIn(known.rail, language) : railId
  }
}

export function operationsForReading(stores: Stores, common: Common) {
  const { clock, log, config, publicUrl } = common
  const { callbackHistory: history, treasury } = stores
  return {
    showOrder: makeShowOrder({ ...common, stores: { ...stores, details: stores.orderDetails, history } }),
    readMerchant: makeReadMerchant({ stores }),
    findRailName: makeFindRailName(common),
    readBooks: makeReadBooks({ trialBalance: stores.trialBalance, clock }),
    readOverview: makeReadOverview({
      hours: stores.overviewHours,
      clock,
      log,
    }),
    async findCallback(_context: AnyContext, callbackId: string) {
      const callback = await history.findCallback(callbackId)
      return callback && { callback, attempts: await history.listAttempts(callback) }
    },
    countCallbacks: (_context: AnyContext, nowMs: number) =>
      history.countCallbacks(nowMs, { atMost: countedAtMost }),
    countFailedEmails: (_context: AnyContext, sinceMs: number) =>
      stores.emailLog.countFailed(sinceMs, { atMost: countedAtMost }),
    listAuditEntries: reading(stores.auditLog.listEntries),
    exportAuditCsv: makeExportAudit(stores.auditLog),
    listRequests: reading(stores.requestLog.list),
    listMerchantAccounts: (_context: AnyContext, merchantId: string) =>
      treasury.listAccounts({ ownerKind: 'merchant', ownerId: merchantId }),
    listSuspenseAccounts: (_context: AnyContext) =>
      treasury.listAccounts({ ownerKind: 'suspense', ownerId: 'late' }),
    listRailAccounts: (_context: AnyContext, railId: string) =>
      treasury.listAccounts({ ownerKind: 'rail', ownerId: railId }),
    searchBooks: reading(stores.searchBooks),
    readNames: reading(stores.readNames),
    listMovements: reading(stores.listMovements),
    listBills: reading(stores.bills.listBills),
    writeStatement: (_context: AnyContext, range: Parameters<typeof streamStatement>[1]) =>
      streamStatement(stores.statements, range),
    readStatement: reading(stores.statements.read),
    trialBalance: reading(stores.trialBalance),
    verifyLedger: makeVerifyLedger(stores.verifyLedger),
    async backup(_context: AnyContext, nowMs: number) {
      const lastAtMs = await stores.lastBackupAtMs()
      return { lastAtMs, isOverdue: config.mode === 'live' && nowMs - (lastAtMs ?? 0) > backupWithinMs }
    },
    system: async (_context: AnyContext, nowMs: number) => ({
      about: {
        version: build,
        mode: config.mode,
        publicUrl,
        node: process.version,
        pid: process.pid,
        upMs: Math.round(process.uptime() * 1000),
        memoryBytes: process.memoryUsage.rss(),
      },
      state: await stores.systemState(nowMs),
    }),
  }
}
