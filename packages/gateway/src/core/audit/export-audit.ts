// The audit log as a file, for auditors and for systems that keep it elsewhere.
import { csvRow } from '../../platform/runtime/csv.ts'
import type { AnyContext } from '../authority/context.ts'
import type { AuditEntry } from './rules/audit.ts'
import type { AuditFilter, AuditLogStore } from './store/audit-log.ts'

const exportedAtOnce = 1_000

export type ExportAudit = ReturnType<typeof makeExportAudit>

/** Newest first, as in the list. */
export function makeExportAudit({ listEntries }: AuditLogStore) {
  return async function* exportAuditCsv(
    _context: AnyContext,
    filter: AuditFilter,
  ): AsyncGenerator<string, void, undefined> {
    yield csvRow(['time', 'actor', 'action', 'subject', 'merchantId', 'reason', 'auditId'])
    for (let before: string | undefined; ; ) {
      const entries = await listEntries(filter, { before, limit: exportedAtOnce })
      if (entries.length > 0) yield entries.map((entry) => csvRow(cellsOf(entry))).join('')
      if (entries.length < exportedAtOnce) return
      before = entries.at(-1)?.auditId
    }
  }
}

function cellsOf({ actedAtMs, actor, action, subject, merchantId, reason, auditId }: AuditEntry): string[] {
  return [new Date(actedAtMs).toISOString(), actor, action, subject, merchantId ?? '', reason ?? '', auditId]
}
