// Records when the last backup was made, for tillgate_last_backup_timestamp_seconds.
import type { Queryable } from '../pool.ts'

export const ownBackupTool = 'tillgate'
export const backupToolPattern = /^[a-z0-9_.-]{1,32}$/

/** A day for the backup, and a day in which to notice that it is missing. */
export const backupWithinMs = 2 * 86_400_000

export async function readLastBackup(database: Queryable): Promise<number | undefined> {
  const { rows } = await database.query<{ last: string | null }>('select max(taken_at) as last from backups')
  return rows[0]?.last == null ? undefined : Number(rows[0].last)
}

/** Returns false if the database's schema predates the table. */
export async function noteBackup(
  database: Queryable,
  { tool, takenAtMs }: { readonly tool: string; readonly takenAtMs: number },
): Promise<boolean> {
  const { rows } = await database.query<{ there: boolean }>(
    `select to_regclass('backups') is not null as there`,
  )
  if (!rows[0]?.there) return false
  await database.query({
    text: `
insert into backups (tool, taken_at) values ($1, $2)
on conflict (tool) do update set taken_at = greatest(backups.taken_at, excluded.taken_at)`,
    values: [tool, takenAtMs],
  })
  return true
}
