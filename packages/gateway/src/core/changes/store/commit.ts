// A transaction whose work says what it changes: published once it has committed, and not before.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import type { Change, Publish } from '../rules/change.ts'

/** Commits the work, then publishes what it changed. */
export async function commitAndPublish<Result>(
  database: Pool,
  publish: Publish,
  work: (transaction: Queryable) => Promise<{ readonly result: Result; readonly changes: readonly Change[] }>,
): Promise<Result> {
  const { result, changes } = await database.transaction(work)
  if (changes.length > 0) publish(changes)
  return result
}
