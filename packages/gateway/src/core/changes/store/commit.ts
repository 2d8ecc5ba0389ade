// A transaction whose work returns its changes, published only after the commit.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import type { Change, Publish } from '../rules/change.ts'

export async function commitAndPublish<Result>(
  database: Pool,
  publish: Publish,
  work: (transaction: Queryable) => Promise<{ readonly result: Result; readonly changes: readonly Change[] }>,
): Promise<Result> {
  const { result, changes } = await database.transaction(work)
  if (changes.length > 0) publish(changes)
  return result
}
