// Reads the audit log, newest first, paged by audit id (an id starts with its time).
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, sql } from '../../../platform/database/sql.ts'
import { firstCallbackIdAt as firstAuditIdAt } from '../../../platform/runtime/time-ordered-ids.ts'
import { effectsOfActions } from '../../authority/rules/effects.ts'
import type { AuditEntry } from '../rules/audit.ts'

export type AuditLogStore = ReturnType<typeof makeAuditLogStore>

export interface AuditFilter {
  readonly merchantId?: string | undefined
  /** Part of the actor's name. */
  readonly actor?: string | undefined
  /** An action's name for an exact match; any other text matches part of the name. */
  readonly act?: string | undefined
  readonly subject?: string | undefined
  /** Part of the reason, in any case. */
  readonly reason?: string | undefined
  readonly sinceMs?: number | undefined
  /** Exclusive. */
  readonly untilMs?: number | undefined
}

export interface AuditPage {
  readonly before?: string | undefined
  readonly limit: number
}

export function makeAuditLogStore(database: Pool) {
  return {
    listEntries: (filter: AuditFilter, page: AuditPage) => listEntries(database, filter, page),
  }
}

const entryShape = rowShape<Omit<AuditEntry, 'authority' | 'needsApproval' | 'approval' | 'emails'>>(
  'entry',
  {
    auditId: 'audit_id',
    actedAtMs: number('acted_at'),
    actor: 'actor',
    action: 'act',
    merchantId: 'merchant_id',
    subject: 'subject',
    reason: 'reason',
  },
)

async function listEntries(
  database: Queryable,
  { merchantId, subject, actor, act, reason, sinceMs, untilMs }: AuditFilter,
  { before, limit }: AuditPage,
): Promise<AuditEntry[]> {
  const wanted = allOf([
    merchantId !== undefined && sql`merchant_id = ${merchantId}`,
    subject !== undefined && sql`subject = ${subject}`,
    actor !== undefined && sql`position(${actor} in actor) > 0`,
    act !== undefined && (act in effectsOfActions ? sql`act = ${act}` : sql`position(${act} in act) > 0`),
    reason !== undefined && sql`position(lower(${reason}) in lower(reason)) > 0`,
    sinceMs !== undefined && sql`audit_id >= ${firstAuditIdAt(sinceMs)}::uuid`,
    untilMs !== undefined && sql`audit_id < ${firstAuditIdAt(untilMs)}::uuid`,
    before !== undefined && sql`audit_id < ${before}::uuid`,
  ])
  const { rows } = await database.query(sql`
select ${entryShape.columns} from audit where ${wanted} order by audit_id desc limit ${limit}`)
  return rows.map(entryShape.read)
}
