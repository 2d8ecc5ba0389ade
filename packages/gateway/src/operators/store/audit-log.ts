// The record of what operators did, read back: the newest first, paged by key (an audit id begins with its time).
import type { Pool, Queryable } from '../../database/pool.ts'
import type { Act } from '../rules/audit.ts'

export type AuditLogStore = ReturnType<typeof makeAuditLogStore>

export interface AuditFilter {
  readonly merchantId?: string | undefined
  /** Contained in who did it. */
  readonly actor?: string | undefined
  /** Contained in what was done. */
  readonly act?: string | undefined
  readonly subject?: string | undefined
}

export function makeAuditLogStore(database: Pool) {
  return {
    listActs: (filter: AuditFilter, page: { before?: string | undefined; limit: number }) =>
      listActs(database, filter, page),
  }
}

async function listActs(
  database: Queryable,
  filter: AuditFilter,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<Act[]> {
  const values: unknown[] = [limit]
  const wanted: string[] = []
  const want = (condition: (place: string) => string, value: unknown): void => {
    if (value !== undefined) wanted.push(condition(`$${values.push(value)}`))
  }
  want((place) => `merchant_id = ${place}`, filter.merchantId)
  want((place) => `subject = ${place}`, filter.subject)
  want((place) => `position(${place} in actor) > 0`, filter.actor)
  want((place) => `position(${place} in act) > 0`, filter.act)
  want((place) => `audit_id < ${place}::uuid`, before)
  const { rows } = await database.query<{
    audit_id: string
    acted_at: string
    actor: string
    act: string
    merchant_id: string | null
    subject: string
    reason: string | null
  }>({
    text: `
select audit_id, acted_at, actor, act, merchant_id, subject, reason
  from audit
 ${wanted.length > 0 ? `where ${wanted.join(' and ')}` : ''}
 order by audit_id desc
 limit $1`,
    values,
  })
  return rows.map((row) => ({
    auditId: row.audit_id,
    actedAtMs: Number(row.acted_at),
    actor: row.actor,
    act: row.act,
    merchantId: row.merchant_id ?? undefined,
    subject: row.subject,
    reason: row.reason ?? undefined,
  }))
}
