// What readiness asks of the database: does it take writes, durably, and is the schema there?
import type { Pool } from './pool.ts'

export type Writability =
  | { readonly kind: 'writable' }
  | { readonly kind: 'schema_missing' }
  | { readonly kind: 'not_writable'; readonly reason: string }

/**
 * A row lock is the smallest real write: it needs a transaction number and a commit record on disk, so a
 * standby, a read-only or a full database refuses it. It does not wait for a running migration. A database
 * that a newer gateway has taken further in the meantime still counts as ours.
 */
export async function checkWritable(pool: Pool, schemaNumber: number): Promise<Writability> {
  try {
    if (schemaNumber === 0) {
      await pool.query('select pg_current_xact_id()')
      return { kind: 'writable' }
    }
    const { rowCount } = await pool.query(
      'select number from migrations where number = $1 for no key update',
      [schemaNumber],
    )
    return rowCount === 1 ? { kind: 'writable' } : { kind: 'schema_missing' }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === '42P01') return { kind: 'schema_missing' }
    return { kind: 'not_writable', reason: error instanceof Error ? error.message : String(error) }
  }
}
