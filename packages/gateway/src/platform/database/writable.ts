// What readiness asks of the database: does it take writes, durably, and is the schema there?

import { codeOf } from '../runtime/errors.ts'
import type { Pool } from './pool.ts'

export type Writability =
  | { readonly kind: 'writable' }
  | { readonly kind: 'schema_missing' }
  | { readonly kind: 'not_writable'; readonly reason: string }

/**
 * More than its memory holds, so that a temporary file of a few hundred kilobytes is written. A disk that is full has no
 * room for it, nor for another page of a table, while a row lock still fits into the log that was laid out before.
 */
const roomOnDisk = 'select count(*) from generate_series(1, 10000)'

/**
 * A row lock is the smallest real write: it needs a transaction number and a commit record on disk, so a
 * standby or a read-only database refuses it. It does not wait for a running migration. A database
 * that a newer gateway has taken further in the meantime still counts as ours.
 */
export async function checkWritable(pool: Pool, schemaNumber: number): Promise<Writability> {
  try {
    if (schemaNumber === 0) {
      await pool.query('select pg_current_xact_id()')
      return { kind: 'writable' }
    }
    const isThere = await pool.transaction(async (client) => {
      await client.query(`set local work_mem = '64kB'`)
      await client.query(roomOnDisk)
      const { rowCount } = await client.query(
        'select number from migrations where number = $1 for no key update',
        [schemaNumber],
      )
      return rowCount === 1
    })
    return isThere ? { kind: 'writable' } : { kind: 'schema_missing' }
  } catch (error) {
    if (codeOf(error) === '42P01') return { kind: 'schema_missing' }
    return { kind: 'not_writable', reason: error instanceof Error ? error.message : String(error) }
  }
}
