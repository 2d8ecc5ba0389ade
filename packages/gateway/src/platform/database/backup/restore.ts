// Restores a backup into an empty database: the schema of the backup's version, all rows in one transaction, each
// table verified by its checksum, then the newer migrations.
import { createHash } from 'node:crypto'
import { messageOf } from '../../runtime/errors.ts'
import { StartFailure } from '../../runtime/start-failure.ts'
import { readCatalog } from '../catalog.ts'
import { migrate, readMigrations } from '../migrate.ts'
import type { Pool, Queryable } from '../pool.ts'
import { tablePlans } from '../tables.ts'
import { type BackupHeader, type BackupLine, backupFormat, type TableCount, tablesInOrder } from './backup.ts'

export interface RestoreOptions {
  readonly lines: AsyncIterable<string>
  readonly migrationsFolder: string
  readonly nowMs: number
  /** Throws if this backup must not be restored here. Nothing has been changed yet. */
  readonly checkHeader: (header: BackupHeader) => void
}

export interface Restored {
  readonly header: BackupHeader
  readonly tables: readonly TableCount[]
  /** Tables in the backup that are not part of the gateway's schema. */
  readonly leftOut: readonly TableCount[]
  /** Access that was revoked, used or ended after the backup must not become valid again. */
  readonly ended: {
    readonly sessions: number
    readonly links: number
    readonly apiTokens: number
    readonly requests: number
  }
  readonly migrated: readonly string[]
}

const rowsAtOnce = 500
const bytesAtOnce = 4 * 1024 * 1024

export async function restoreBackup(database: Pool, options: RestoreOptions): Promise<Restored> {
  const { migrationsFolder, checkHeader } = options
  const lines = options.lines[Symbol.asyncIterator]()
  const header = await readHeader(lines)
  await checkKnown(header, migrationsFolder)
  checkHeader(header)
  await checkEmpty(database, header)
  await migrate(database, migrationsFolder, { upTo: header.migrations.length })
  const loaded = await database.transaction(
    async (client) => {
      const { known, ...counts } = await load(client, lines)
      return { ...counts, ended: await endAccess(client, known, options.nowMs) }
    },
    { statementTimeoutMs: 0 },
  )
  const { applied } = await migrate(database, migrationsFolder)
  await database.query('analyze')
  return { header, ...loaded, migrated: applied }
}

async function readHeader(lines: AsyncIterator<string>): Promise<BackupHeader> {
  const line = await lines.next().catch(unreadable)
  const parsed = line.done ? undefined : parseLine(line.value)
  if (parsed?.[0] !== 'tillgate backup') throw refused('This is not a backup that `tillgate db backup` made.')
  const [, header] = parsed
  if (header.format !== backupFormat)
    throw refused(
      `This backup has format ${header.format}, which this version does not know. Use a newer one.`,
    )
  return header
}

async function checkKnown({ migrations }: BackupHeader, folder: string): Promise<void> {
  const known = await readMigrations(folder)
  if (migrations.length > known.length)
    throw refused(
      'This backup was made by a newer version of Tillgate. Restore it with that one, or a later one.',
    )
  const other = migrations.find(({ checksum }, index) => known[index]?.checksum !== checksum)
  if (other)
    throw refused(`This backup was made on another schema: migration ${other.number} is not the same.`)
}

async function checkEmpty(database: Queryable, { migrations }: BackupHeader): Promise<void> {
  const catalog = await readCatalog(database)
  for (const table of tablesInOrder(catalog)) {
    if (tablePlans[table]?.isFilledByMigration) continue
    const { rowCount } = await database.query(`select from ${table} limit 1`)
    if (rowCount > 0) throw notEmpty(`table ${table} has rows`)
  }
  if (!catalog.tables.some(({ name }) => name === 'migrations')) return
  const { rows } = await database.query<{ newest: number | null }>(
    'select max(number) as newest from migrations',
  )
  if ((rows[0]?.newest ?? 0) > migrations.length) throw notEmpty('its schema is newer than the backup')
}

async function load(
  client: Queryable,
  lines: AsyncIterator<string>,
): Promise<Pick<Restored, 'tables' | 'leftOut'> & { readonly known: readonly string[] }> {
  // The backup also contains the rows that migrations inserted.
  const tables = tablesInOrder(await readCatalog(client))
  for (const table of tables.toReversed()) await client.query(`delete from ${table}`)
  const loaded: TableCount[] = []
  let current: TableLoad | undefined
  for (;;) {
    const { done, value } = await lines.next().catch(unreadable)
    if (done) throw damaged('it ends too early')
    if (value.startsWith('{')) {
      if (!current) throw damaged('a row stands outside of a table')
      await current.add(value)
      continue
    }
    const line = parseLine(value)
    switch (line?.[0]) {
      case 'table':
        if (current) throw damaged(`table ${line[1]} begins inside of another`)
        current = new TableLoad(line[1], tables.includes(line[1]) ? client : undefined)
        break
      case 'end':
        if (!current) throw damaged('a table ends that did not begin')
        loaded.push(await current.end(line[1]))
        current = undefined
        break
      case 'complete':
        if (loaded.length !== line[1].tables) throw damaged('tables are missing')
        // Reads to the end of the file, where the checksum of the compression is.
        if (!(await lines.next().catch(unreadable)).done) throw damaged('something follows its last line')
        return {
          known: tables,
          tables: loaded.filter(({ table }) => tables.includes(table)),
          leftOut: loaded.filter(({ table }) => !tables.includes(table)),
        }
      default:
        throw damaged('a line in it cannot be read')
    }
  }
}

async function endAccess(
  client: Queryable,
  tables: readonly string[],
  nowMs: number,
): Promise<Restored['ended']> {
  const count = async (table: string, text: string, ...values: number[]) =>
    tables.includes(table) ? (await client.query({ text, values })).rowCount : 0
  const empty = async (...names: string[]) => {
    let rows = 0
    for (const table of names) rows += await count(table, `delete from ${table}`)
    return rows
  }
  return {
    sessions: await empty('operator_sessions', 'member_sessions', 'pay_codes', 'wallet_sessions'),
    links: await empty('member_links', 'pin_resets', 'registrations'),
    apiTokens: await count(
      'api_tokens',
      'update api_tokens set revoked_at = $1 where revoked_at is null',
      nowMs,
    ),
    requests: await count(
      'approvals',
      "update approvals set status = 'expired', decided_at = $1 where status = 'waiting'",
      nowMs,
    ),
  }
}

class TableLoad {
  readonly #client: Queryable | undefined
  readonly #table: string
  readonly #hash = createHash('sha256')
  #batch: string[] = []
  #batchBytes = 0
  #rows = 0

  /** Without a client, rows are read and counted but not inserted. */
  constructor(table: string, client: Queryable | undefined) {
    this.#table = table
    this.#client = client
  }

  async add(row: string): Promise<void> {
    this.#hash.update(`${row}\n`)
    this.#batch.push(row)
    this.#batchBytes += row.length
    if (this.#batch.length >= rowsAtOnce || this.#batchBytes >= bytesAtOnce) await this.#flush()
  }

  async end({ rows, sha256 }: { rows: number; sha256: string }): Promise<TableCount> {
    await this.#flush()
    if (this.#rows !== rows || this.#hash.digest('hex') !== sha256)
      throw damaged(`table ${this.#table} is not as it was written`)
    return { table: this.#table, rows }
  }

  async #flush(): Promise<void> {
    if (this.#batch.length === 0) return
    this.#rows += this.#client ? await this.#insert(this.#client) : this.#batch.length
    this.#batch = []
    this.#batchBytes = 0
  }

  async #insert(client: Queryable): Promise<number> {
    // Rows stay text, so that no number passes through a float.
    const { rowCount } = await client
      .query({
        text: `insert into ${this.#table} select * from json_populate_recordset(null::${this.#table}, $1::json)`,
        values: [`[${this.#batch.join(',')}]`],
      })
      .catch((cause: unknown) => {
        throw damaged(`rows of table ${this.#table} do not fit: ${messageOf(cause)}`, cause)
      })
    return rowCount
  }
}

function parseLine(text: string): BackupLine | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isLine(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isLine(value: unknown): value is BackupLine {
  return Array.isArray(value)
}

function notEmpty(why: string): StartFailure {
  return refused(
    `The database is not empty: ${why}.\nA backup is restored into a new database: another DATA_DIR, or another one in DATABASE_URL.`,
  )
}

function damaged(why: string, cause?: unknown): StartFailure {
  return new StartFailure(`The backup is damaged: ${why}. Nothing was restored.`, { cause })
}

function unreadable(cause: unknown): never {
  if (cause instanceof StartFailure) throw cause
  throw new StartFailure(`The backup cannot be read: ${messageOf(cause)}. Nothing was restored.`, {
    cause,
  })
}

function refused(message: string): StartFailure {
  return new StartFailure(message)
}
