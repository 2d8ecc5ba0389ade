// Backs up a running database from one snapshot as lines of JSON, which any later version can restore into any
// PostgreSQL. pg_dump is not used: the embedded server has none, and pg_dump cannot read a newer server.
import { createHash } from 'node:crypto'
import type { Mode } from '../../runtime/ssrf-guard.ts'
import { type Catalog, readCatalog } from '../catalog.ts'
import { readMode } from '../mode.ts'
import type { Pool, Queryable } from '../pool.ts'

// The file holds a header line, then for each table a name line, its rows as objects, and an end line. The last line
// marks the backup as complete. Lines that are not rows are arrays.
export const backupFormat = 1

export interface BackupHeader {
  readonly format: number
  readonly madeAtMs: number
  readonly madeBy: string
  readonly migrations: readonly {
    readonly number: number
    readonly name: string
    readonly checksum: string
  }[]
  readonly masterKeyIds: readonly string[]
  readonly mode?: Mode | undefined
}

export type BackupLine =
  | readonly ['tillgate backup', BackupHeader]
  | readonly ['table', string]
  | readonly ['end', { readonly rows: number; readonly sha256: string }]
  | readonly ['complete', { readonly tables: number; readonly rows: number }]

export interface TableCount {
  readonly table: string
  readonly rows: number
}

export interface BackupOptions {
  readonly madeAtMs: number
  readonly madeBy: string
  readonly write: (text: string) => Promise<void>
}

const rowsAtOnce = 500

export function writeBackup(database: Pool, options: BackupOptions): Promise<readonly TableCount[]> {
  const { madeAtMs, madeBy, write } = options
  const line = (content: BackupLine) => write(`${JSON.stringify(content)}\n`)
  return database.transaction(
    async (client) => {
      await client.query('set transaction isolation level repeatable read, read only')
      await client.query(`set local bytea_output = 'hex'`)
      const catalog = await readCatalog(client)
      const header: BackupHeader = {
        format: backupFormat,
        madeAtMs,
        madeBy,
        migrations: await readMigrations(client),
        masterKeyIds: await readMasterKeyIds(client, catalog),
        mode: await readMode(client),
      }
      await line(['tillgate backup', header])
      const counts: TableCount[] = []
      for (const table of tablesInOrder(catalog)) {
        await line(['table', table])
        const hash = createHash('sha256')
        const rows = await eachRow(client, table, async (text) => {
          hash.update(text)
          await write(text)
        })
        await line(['end', { rows, sha256: hash.digest('hex') }])
        counts.push({ table, rows })
      }
      await line([
        'complete',
        { tables: counts.length, rows: counts.reduce((sum, { rows }) => sum + rows, 0) },
      ])
      return counts
    },
    // A large database takes as long as it takes; memory is bounded instead.
    { statementTimeoutMs: 0 },
  )
}

async function readMigrations(client: Queryable): Promise<BackupHeader['migrations']> {
  const { rows } = await client.query<BackupHeader['migrations'][number]>(
    'select number, name, checksum from migrations order by number',
  )
  return rows
}

// Bytes 2 to 9 of a sealed secret are the id of its master key (see vault.ts).
async function readMasterKeyIds(client: Queryable, { tables }: Catalog): Promise<string[]> {
  const ids = new Set<string>()
  for (const { name, columns } of tables) {
    for (const column of columns.filter((each) => each.name.startsWith('sealed_'))) {
      const { rows } = await client.query<{ id: string }>(
        `select distinct encode(substring(${column.name} from 2 for 8), 'hex') as id
           from ${name} where ${column.name} is not null`,
      )
      for (const { id } of rows) ids.add(id)
    }
  }
  return [...ids].sort()
}

async function eachRow(
  client: Queryable,
  table: string,
  take: (text: string) => Promise<void>,
): Promise<number> {
  await client.query(
    `declare backup_rows no scroll cursor for select row_to_json(t)::text as row from ${table} t`,
  )
  let count = 0
  for (;;) {
    const { rows } = await client.query<{ row: string }>(`fetch ${rowsAtOnce} from backup_rows`)
    if (rows.length === 0) break
    count += rows.length
    // row_to_json escapes line feeds, so each row is one line.
    await take(`${rows.map(({ row }) => row).join('\n')}\n`)
  }
  await client.query('close backup_rows')
  return count
}

const ofThisDatabase: ReadonlySet<string> = new Set(['migrations', 'backups'])

/** Lists parents before children, so that a restore satisfies every foreign key. */
export function tablesInOrder({ tables }: Catalog): string[] {
  const waiting = tables.filter(({ name }) => !ofThisDatabase.has(name))
  const done: string[] = []
  while (waiting.length > 0) {
    const at = waiting.findIndex(({ name, foreignKeys }) =>
      foreignKeys.every(({ references }) => references === name || done.includes(references)),
    )
    const [next] = waiting.splice(at, at === -1 ? 0 : 1)
    if (!next) throw new Error(`tables point at each other in a circle: ${waiting.map(({ name }) => name)}`)
    done.push(next.name)
  }
  return done
}
