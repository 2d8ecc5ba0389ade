// How many requests the merchant API answered and how long that took, as each process counted its own; read as the sum
// over all processes.
import type { Pool } from '../../database/pool.ts'
import { addTraffic, noTraffic, type Traffic } from '../rules/overview.ts'
import type { Stretch } from '../rules/time-slices.ts'
import { durationsOf, jsonOf } from './durations-json.ts'

export type ApiTraffic = ReturnType<typeof makeApiTraffic>

export interface CountedTraffic extends Stretch {
  readonly traffic: Traffic
}

export function makeApiTraffic(database: Pool) {
  return {
    /** Replaces what this process wrote of the same stretches before. */
    async write(processId: string, counted: readonly CountedTraffic[]): Promise<void> {
      await database.query({
        name: 'write-api-traffic',
        text: `
insert into api_traffic (process_id, length_ms, starts_at, requests, refused, failed, answered_after)
select $1, c.*
  from unnest($2::integer[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::jsonb[]) as c
    on conflict (length_ms, starts_at, process_id) do update
   set requests = excluded.requests, refused = excluded.refused, failed = excluded.failed,
       answered_after = excluded.answered_after`,
        values: [
          processId,
          counted.map(({ lengthMs }) => lengthMs),
          counted.map(({ startsAtMs }) => startsAtMs),
          counted.map(({ traffic }) => traffic.requests),
          counted.map(({ traffic }) => traffic.refused),
          counted.map(({ traffic }) => traffic.failed),
          counted.map(({ traffic }) => JSON.stringify(jsonOf(traffic.answeredAfter))),
        ],
      })
    },

    /** By the beginning of each stretch of that length in which there was any. */
    async read(range: {
      lengthMs: number
      fromMs: number
      toMs: number
    }): Promise<ReadonlyMap<number, Traffic>> {
      const { rows } = await database.query<{
        starts_at: string
        requests: string
        refused: string
        failed: string
        answered_after: Record<string, number>
      }>({
        text: `
select starts_at, requests, refused, failed, answered_after
  from api_traffic
 where length_ms = $1 and starts_at >= $2 and starts_at < $3`,
        values: [range.lengthMs, range.fromMs, range.toMs],
      })
      const found = new Map<number, Traffic>()
      for (const row of rows) {
        const startsAtMs = Number(row.starts_at)
        const traffic = {
          requests: Number(row.requests),
          refused: Number(row.refused),
          failed: Number(row.failed),
          answeredAfter: durationsOf(row.answered_after),
        }
        found.set(startsAtMs, addTraffic([found.get(startsAtMs) ?? noTraffic, traffic]))
      }
      return found
    },

    async removeBefore({ lengthMs, timeMs }: { lengthMs: number; timeMs: number }): Promise<void> {
      await database.query({
        text: 'delete from api_traffic where length_ms = $1 and starts_at < $2',
        values: [lengthMs, timeMs],
      })
    },
  }
}
