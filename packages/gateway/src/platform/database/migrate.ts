// Applies numbered SQL migrations, each in its own transaction. Gateways that start together take turns by a table
// lock, because a session lock is unreliable behind a transaction pooler.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf } from '../runtime/errors.ts'
import { exitCodes, StartFailure } from '../runtime/start-failure.ts'
import { forCluster, splitStatements } from './cluster/migration-statements.ts'
import { readSpread } from './cluster/spread-state.ts'
import type { Pool, Queryable } from './pool.ts'
import { isTransient } from './transient.ts'

const retryFirstMs = 100
const retryMaxMs = 10_000

/**
 * A migration that waits for a table lock blocks all later statements, and a backup holds tables for long. So a
 * migration waits this long, lets the others pass, and doubles its wait up to the longest.
 */
const lockWaitMs = { first: 1_000, longest: 30_000 }
const lockNotAvailable = '55P03'

// "if not exists" does not cover a concurrent session: depending on its progress, the index, the table or its type
// "already exists".
const raceSqlStates = new Set(['23505', '42P07', '42710'])

const fileNamePattern = /^(\d{4})-([a-z0-9]+(?:-[a-z0-9]+)*)\.sql$/

/** The checksum of the first migration before 1.0, and the last commit that has those migrations. */
export const developmentChecksum = '03536ee30eb405fb0d5fdef88739635751e2163fccd121ea89a51ae3ca1a5236'
const lastDevelopmentCommit = '539d52eb'

export type MigrationTrouble = 'files' | 'development' | 'edited' | 'newer' | 'unknown' | 'failed'

export class MigrationFailure extends StartFailure {
  readonly trouble: MigrationTrouble

  constructor(trouble: MigrationTrouble, message: string, cause?: unknown) {
    super(message, { exitCode: trouble === 'failed' ? exitCodes.other : exitCodes.settings, cause })
    this.name = 'MigrationFailure'
    this.trouble = trouble
  }
}

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

export interface Migrated {
  /** The schema that this program needs; 0 without migrations. */
  readonly schemaNumber: number
  /** Excludes migrations that another gateway applied meanwhile. */
  readonly applied: readonly string[]
}

export interface MigrateOptions {
  readonly now?: () => number
  readonly upTo?: number
  /** Called when a lock wait ends without the lock; the migration is retried. */
  readonly onBlocked?: () => void
}

export async function migrate(
  pool: Pool,
  folder: string,
  { now = Date.now, upTo, onBlocked }: MigrateOptions = {},
): Promise<Migrated> {
  const migrations = (await readMigrations(folder)).slice(0, upTo)
  const applied: string[] = []
  let lockTimeoutMs = lockWaitMs.first
  for (let retryInMs = retryFirstMs; ; ) {
    try {
      await createTable(pool)
      while (firstMissing(migrations, await readApplied(pool)) !== undefined) {
        const migration = await pool.transaction(
          (client) => applyNext(client, { migrations, now, lockTimeoutMs }),
          {
            statementTimeoutMs: 0,
          },
        )
        if (migration !== undefined) applied.push(fileName(migration))
      }
      return { schemaNumber: migrations.length, applied }
    } catch (error) {
      if (codeOf(error) === lockNotAvailable) {
        onBlocked?.()
        await pause(lockTimeoutMs)
        lockTimeoutMs = Math.min(2 * lockTimeoutMs, lockWaitMs.longest)
        continue
      }
      // After a database restart, the table shows which migrations committed.
      if (!isTransient(error)) throw error
      if (retryInMs > retryMaxMs) throw lostWhileMigrating(error)
      await pause(retryInMs)
      retryInMs *= 2
    }
  }
}

/** What a start would do, which it leaves to the start; throws where database and program do not belong together. */
export async function countMigrations(
  pool: Pool,
  folder: string,
): Promise<{ readonly applied: number; readonly missing: number }> {
  const migrations = await readMigrations(folder)
  const { rows } = await pool.query<{ there: boolean }>(
    `select to_regclass('migrations') is not null as there`,
  )
  const applied = rows[0]?.there ? await readApplied(pool) : []
  firstMissing(migrations, applied)
  return { applied: applied.length, missing: migrations.length - applied.length }
}

function lostWhileMigrating(error: unknown): StartFailure {
  const reason = error instanceof Error ? error.message : String(error)
  return new StartFailure(`The database went away while its schema was brought up to date: ${reason}.`, {
    exitCode: exitCodes.unavailable,
    cause: error,
  })
}

export async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const migrations: Migration[] = []
  for (const [index, name] of names.entries()) {
    const [, digits, title] = fileNamePattern.exec(name) ?? []
    if (digits === undefined || title === undefined) {
      throw new MigrationFailure(
        'files',
        `${path.join(folder, name)} is not named like 0001-what-it-does.sql.`,
      )
    }
    if (Number(digits) !== index + 1) {
      const wanted = String(index + 1).padStart(4, '0')
      const what = Number(digits) <= index ? `number ${digits} is there twice` : `number ${wanted} is missing`
      throw new MigrationFailure('files', `The migrations in ${folder} have a gap or a double: ${what}.`)
    }
    const sql = await readFile(path.join(folder, name), 'utf8')
    const checksum = createHash('sha256').update(sql).digest('hex')
    migrations.push({ number: index + 1, name: title, sql, checksum })
  }
  return migrations
}

async function createTable(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ there: boolean }>(
    `select to_regclass('migrations') is not null as there`,
  )
  if (rows[0]?.there) return
  try {
    await pool.query(
      `create table if not exists migrations (
         number     integer primary key,
         name       text    not null,
         checksum   text    not null,
         applied_at bigint  not null
       )`,
    )
  } catch (error) {
    const code = codeOf(error)
    if (code !== undefined && raceSqlStates.has(code)) return
    if (isTransient(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new MigrationFailure(
      'failed',
      `The table of migrations could not be made: ${reason}.\nThe user of DATABASE_URL needs the right to create tables.`,
      error,
    )
  }
}

interface AppliedRow {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

async function readApplied(client: Queryable): Promise<readonly AppliedRow[]> {
  const { rows } = await client.query<AppliedRow>(
    'select number, name, checksum from migrations order by number',
  )
  return rows
}

/** Returns the first migration to apply. Throws if the database and the program do not belong together. */
function firstMissing(
  migrations: readonly Migration[],
  applied: readonly AppliedRow[],
): Migration | undefined {
  if (applied[0]?.checksum === developmentChecksum)
    throw new MigrationFailure(
      'development',
      'A development version of Tillgate from before 1.0 made this database, and 1.0 cannot upgrade it.\n' +
        `Start commit ${lastDevelopmentCommit} to export what you need, and give 1.0 an empty database.`,
    )
  const newest = applied.at(-1)
  if (newest !== undefined && newest.number > migrations.length) {
    throw new MigrationFailure(
      'newer',
      `The database is newer than this program: it has migration ${fileName(newest)}, the program knows ${migrations.length}.\n` +
        'Start the newer Tillgate again, or restore a backup from before the upgrade.',
    )
  }
  for (const [index, row] of applied.entries()) {
    const migration = migrations[index]
    if (migration === undefined || row.number !== migration.number) {
      throw new MigrationFailure(
        'unknown',
        `The database lacks migration ${index + 1} although later ones are applied: its table "migrations" was changed by hand.`,
      )
    }
    if (row.checksum !== migration.checksum) {
      throw new MigrationFailure(
        'edited',
        `Migration ${fileName(migration)} is not the one that was applied to this database (${fileName(row)}).\n` +
          'An applied migration must stay as it was: restore the file, and put the change into a new one.',
      )
    }
  }
  return migrations[applied.length]
}

async function applyNext(
  client: Queryable,
  options: { migrations: readonly Migration[]; now: () => number; lockTimeoutMs: number },
): Promise<Migration | undefined> {
  const { migrations, now, lockTimeoutMs } = options
  // Waits here while another gateway migrates. Readers are not blocked.
  await client.query('lock table migrations in share row exclusive mode')
  const migration = firstMissing(migrations, await readApplied(client))
  if (migration === undefined) return undefined
  const { number, name, sql, checksum } = migration
  await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
  const isSpread = (await readSpread(client)).size > 0
  // Tables that reference each other must change one after the other, or the workers would wait for themselves.
  if (isSpread) await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`)
  for (const { text, offset } of splitStatements(sql)) {
    try {
      for (const statement of isSpread ? forCluster(text) : [text]) await client.query(statement)
    } catch (error) {
      if (isTransient(error)) throw error
      throw new MigrationFailure(
        'failed',
        `Migration ${fileName(migration)} failed: ${where(error, sql, offset)}`,
        error,
      )
    }
  }
  await client.query(
    `insert into migrations (number, name, checksum, applied_at)
     values ($1, $2, $3, $4)`,
    [number, name, checksum, now()],
  )
  return migration
}

function where(error: unknown, sql: string, offset: number): string {
  if (!(error instanceof Error)) return String(error)
  const position = 'position' in error ? Number(error.position) : Number.NaN
  const at = offset + (Number.isInteger(position) ? position : 0)
  return `${error.message} (line ${sql.slice(0, at).split('\n').length})`
}

function fileName({ number, name }: { number: number; name: string }): string {
  return `${String(number).padStart(4, '0')}-${name}.sql`
}
