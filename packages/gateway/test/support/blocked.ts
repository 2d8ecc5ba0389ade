// Waits until queries wait: for tests that hold a lock and want others to run into it.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from '../../src/platform/database/pool.ts'

const waiting = `
select from pg_stat_activity
 where datname = current_database() and wait_event_type = 'Lock' and query like $1`
/** On a cluster a statement may wait at a worker, while at the coordinator it only waits for that worker. */
const waitingAtWorkers = ' union all select from citus_lock_waits where blocked_statement like $1'

/** So many queries of this kind, given as for `like`, wait for a lock. Not asked by the transaction that holds it. */
export async function untilBlocked(pool: Pool, count: number, query: string): Promise<void> {
  const text = process.env['TEST_CITUS_URLS'] ? `${waiting}${waitingAtWorkers}` : waiting
  // A command that is just being started may take seconds to its first statement.
  for (const endsAtMs = performance.now() + 30_000; performance.now() < endsAtMs; await pause(2))
    if ((await pool.query(text, [query])).rowCount >= count) return
  assert.fail(`fewer than ${count} wait: ${query}`)
}
