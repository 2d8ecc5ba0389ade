// The readiness query: the database accepts durable writes and has the schema.

import { codeOf } from '../runtime/errors.ts'
import type { Pool } from './pool.ts'

export type Writability =
  | { readonly kind: 'writable' }
  | { readonly kind: 'schema_missing' }
  | { readonly kind: 'not_writable'; readonly reason: string }

/**
 * Sorting this many rows writes a temporary file of a few hundred kilobytes. It fails on a full disk, whereas a row
 * lock still fits into preallocated log.
 */
const roomOnDisk = 'select count(*) from generate_series(1, 10000)'

/**
 * A row lock is the smallest durable write, so a standby or a read-only database rejects it. It does not wait for a
 * running migration. A newer schema also counts as ready.
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
