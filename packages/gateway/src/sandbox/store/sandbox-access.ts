// Counts the newcomers who recently received sandbox access, from the audit log.
import type { Pool } from '../../platform/database/pool.ts'
import { sql } from '../../platform/database/sql.ts'

export type SandboxAccessStore = ReturnType<typeof makeSandboxAccessStore>

export function makeSandboxAccessStore(database: Pool) {
  return {
    /** Uses audit_acted_at. */
    async countMerchantsAddedBy({ actor, sinceMs }: { actor: string; sinceMs: number }): Promise<number> {
      const { rows } = await database.query<{ count: string }>(sql`
select count(*) from audit where acted_at > ${sinceMs} and actor = ${actor} and act = 'merchant.add'`)
      return Number(rows[0]?.count ?? 0)
    },
  }
}
