// Spreads the merchants' tables over the machines of a Citus cluster. What is to be done follows from what is there,
// so a run that was broken off is simply run again; the statements are made by a pure function that a test reads.
import { StartFailure } from '../platform/start-failure.ts'
import { faultsOf, readCatalog } from './catalog.ts'
import type { Queryable } from './pool.ts'
import { type SpreadForeignKey, spreadColumn, spreadForeignKeys, tablePlans } from './tables.ts'

/** create_distributed_table_concurrently came with it. */
const oldestCitus = [11, 1] as const

export interface ClusterState {
  /** Tables that are spread already. */
  readonly spread: ReadonlySet<string>
  /** Foreign keys that are there, by name. */
  readonly foreignKeys: ReadonlySet<string>
}

export interface DistributeStep {
  readonly about: string
  readonly sql: string
}

/**
 * Online, a table can be spread only while no table beside it points at it or is pointed at, so the foreign keys
 * go first and come back, checked, at the end. Nothing is lost meanwhile: no statement of ours deletes an order or
 * a merchant. With `isBlocking` they stay, and writers wait for each table while it is moved.
 */
export function planDistribution(
  { spread, foreignKeys }: ClusterState,
  { isBlocking = false }: { isBlocking?: boolean } = {},
): readonly DistributeStep[] {
  const names = Object.entries(tablePlans).flatMap(([name, { place }]) => (place === 'spread' ? [name] : []))
  const toSpread = names.filter((name) => !spread.has(name))
  const moving = new Set(toSpread)
  const toDrop = isBlocking
    ? []
    : spreadForeignKeys().filter(
        ({ name, table, references }) =>
          foreignKeys.has(name) && (moving.has(table) || moving.has(references)),
      )
  const dropped = new Set(toDrop.map(({ name }) => name))
  const toAdd = spreadForeignKeys().filter(({ name }) => !foreignKeys.has(name) || dropped.has(name))
  // All lie together, so that a merchant's rows are on one machine and may point at each other.
  const [first = ''] = names
  return [
    ...toDrop.map(({ table, name }) => ({
      about: `took the foreign key ${name} away for the time of the move`,
      sql: `alter table ${table} drop constraint ${name}`,
    })),
    ...toSpread.map((name) => ({
      about: `spread ${name} by ${spreadColumn}`,
      sql: `select ${isBlocking ? 'create_distributed_table' : 'create_distributed_table_concurrently'}('${name}', '${spreadColumn}', colocate_with => '${name === first ? 'none' : first}')`,
    })),
    ...toAdd.flatMap(restore),
  ]
}

function restore({ table, name, columns, references }: SpreadForeignKey): DistributeStep[] {
  const list = columns.join(', ')
  return [
    {
      about: `put the foreign key ${name} back`,
      sql: `alter table ${table} add constraint ${name} foreign key (${list}) references ${references} (${list}) not valid`,
    },
    {
      about: `checked the foreign key ${name}`,
      sql: `alter table ${table} validate constraint ${name}`,
    },
  ]
}

export interface Distributed {
  readonly citusVersion: string
  readonly done: readonly string[]
  readonly spread: readonly string[]
}

/** `database` must not bound its statements: moving a big table takes as long as it takes. */
export async function distribute(
  database: Queryable,
  { isBlocking = false, tell = () => {} }: { isBlocking?: boolean; tell?: (about: string) => void } = {},
): Promise<Distributed> {
  const citusVersion = await findCitus(database)
  if (!isBlocking) await checkLogical(database)
  const catalog = await readCatalog(database)
  const faults = faultsOf(catalog, { isMoving: true })
  if (faults.length > 0) throw refused(`The tables are not as this version knows them:\n${faults.join('\n')}`)

  const state = {
    spread: await readSpread(database),
    foreignKeys: new Set(catalog.tables.flatMap((table) => table.foreignKeys.map(({ name }) => name))),
  }
  const done: string[] = []
  for (const { about, sql } of planDistribution(state, { isBlocking })) {
    await database.query(sql)
    done.push(about)
    tell(about)
  }
  return { citusVersion, done, spread: [...(await readSpread(database))].sort() }
}

async function findCitus(database: Queryable): Promise<string> {
  const { rows } = await database.query<{ name: string; version: string | null }>(
    `select name, installed_version as version from pg_available_extensions where name = 'citus'`,
  )
  if (!rows[0]) {
    throw refused(
      'This PostgreSQL has no Citus, so there is nothing to spread the tables over.\nInstall Citus on the coordinator and the workers first (docs/operating.md), or stay on one PostgreSQL.',
    )
  }
  const { version } = rows[0]
  if (version === null) {
    throw refused(
      'Citus is installed on this server and not switched on in this database.\nRun there as its owner: create extension citus; and add the workers with citus_add_node(host, port).',
    )
  }
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number)
  if (major < oldestCitus[0] || (major === oldestCitus[0] && minor < oldestCitus[1]))
    throw refused(`Citus ${version} is too old: ${oldestCitus.join('.')} or newer is needed.`)
  return version
}

async function checkLogical(database: Queryable): Promise<void> {
  const { rows } = await database.query<{ level: string }>(`select current_setting('wal_level') as level`)
  if (rows[0]?.level === 'logical') return
  throw refused(
    `Spreading online needs wal_level = logical, and it is ${rows[0]?.level}.\nSet it on every server and restart them, or add --blocking: writers then wait while a table is moved.`,
  )
}

async function readSpread(database: Queryable): Promise<Set<string>> {
  const { rows } = await database.query<{ name: string }>(
    `select logicalrelid::regclass::text as name from pg_dist_partition where partmethod = 'h'`,
  )
  return new Set(rows.map(({ name }) => name))
}

function refused(message: string): StartFailure {
  return new StartFailure(message)
}
