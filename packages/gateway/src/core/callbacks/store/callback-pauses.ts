// Hosts that an operator paused, in the table that each claim reads.
import type { Pool } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { audited } from '../../audit/store/audit.ts'

export type CallbackPauseStore = ReturnType<typeof makeCallbackPauseStore>

export interface HostPause {
  readonly host: string
  readonly nowMs: number
  readonly untilMs: number
  readonly reason: string
}

export function makeCallbackPauseStore(database: Pool) {
  return {
    /** Running attempts finish. After the pause, one callback probes. */
    pauseHost: ({ host, nowMs, untilMs, reason }: HostPause, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        // At least one failure, so that the first success after the pause deletes the row.
        await transaction.query(sql`
insert into callback_hosts as h (host, failures, failing_since, reason, pauses, paused_at, paused_until)
values (${host}, 1, ${nowMs}, ${reason}, 1, ${nowMs}, ${untilMs})
    on conflict (host) do update
   set failures = greatest(h.failures, 1), reason = excluded.reason, pauses = h.pauses + 1,
       paused_at = excluded.paused_at, paused_until = excluded.paused_until`)
        return true
      }),
    /** Also clears the failures of the host and all its destinations. False if nothing was paused or failing. */
    resumeHost: (host: string, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        const { rowCount } = await transaction.query(sql`delete from callback_hosts where host = ${host}`)
        // In the order in which attempts lock them.
        await transaction.query(sql`
select from callback_destinations where host = ${host} order by merchant_id, host, destination_id for update`)
        const { rowCount: destinations } = await transaction.query(
          sql`delete from callback_destinations where host = ${host}`,
        )
        return rowCount + destinations > 0
      }),
    /** `atMost` limits the count of all hosts together. */
    countWaiting: async (
      hosts: readonly string[],
      { atMost }: { readonly atMost?: number } = {},
    ): Promise<ReadonlyMap<string, number>> => {
      if (hosts.length === 0) return new Map()
      const { rows } = await database.query<{ host: string; count: string }>(sql`
select host, count(*) as count
  from (select host from callback_queue where host = any (${hosts}::text[]) limit ${atMost}) as q
 group by host`)
      return new Map(rows.map(({ host, count }) => [host, Number(count)]))
    },
  }
}
