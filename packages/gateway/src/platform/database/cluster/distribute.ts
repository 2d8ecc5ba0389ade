// Distributes the merchants' tables over a Citus cluster in one transaction with a time limit. No statement ever sees
// some tables distributed and others not, and an interrupted run changes nothing.
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf } from '../../runtime/errors.ts'
import { StartFailure } from '../../runtime/start-failure.ts'
import { faultsOf, readCatalog } from '../catalog.ts'
import type { Pool, Queryable } from '../pool.ts'
import { type SpreadForeignKey, spreadForeignKeys, tablePlans } from '../tables.ts'
import { clusterFaults, findCitus } from './cluster-checks.ts'
import { spreadTable } from './migration-statements.ts'
import { readSpread } from './spread-state.ts'

export interface ClusterState {
  readonly spread: ReadonlySet<string>
  readonly foreignKeys: ReadonlyMap<string, { readonly isValid: boolean }>
  readonly settings: ReadonlySet<string>
}

export interface DistributeStep {
  readonly about: string
  readonly sql: string
}

export const spreadTables: readonly string[] = Object.entries(tablePlans).flatMap(([name, { place }]) =>
  place === 'spread' ? name : [],
)

/**
 * Applies to every session of the gateway. Without it, changes of several merchants would wait for each other;
 * instead, deadlocks are detected and retried. One connection per worker avoids prepared transactions over several
 * shards: the workers' CPU time per order fell from 11.7 to 7.0 ms (bench/citus.ts).
 */
export const databaseSettings: readonly (readonly [name: string, value: string])[] = [
  ['citus.enable_deadlock_prevention', 'off'],
  ['citus.multi_shard_modify_mode', 'sequential'],
]

export function planDistribution({ spread, foreignKeys, settings }: ClusterState): readonly DistributeStep[] {
  return [
    ...spreadTables
      .filter((name) => !spread.has(name))
      .map((name) => ({ about: `spread ${name}`, sql: spreadTable(name) })),
    ...spreadForeignKeys().flatMap((key) => restore(key, foreignKeys.get(key.name))),
    ...databaseSettings
      .filter(([name, value]) => !settings.has(`${name}=${value}`))
      .map(([name, value]) => ({
        about: `set ${name} = ${value} for the database`,
        sql: `do $$ begin execute format('alter database %I set ${name} = ${value}', current_database()); end $$`,
      })),
  ]
}

function restore(key: SpreadForeignKey, there: { readonly isValid: boolean } | undefined): DistributeStep[] {
  const { table, name, columns, references } = key
  if (there?.isValid) return []
  const list = columns.join(', ')
  const put = {
    about: `put the foreign key ${name} back`,
    sql: `alter table ${table} add constraint ${name} foreign key (${list}) references ${references} (${list}) not valid`,
  }
  const check = {
    about: `checked the foreign key ${name}`,
    sql: `alter table ${table} validate constraint ${name}`,
  }
  return there ? [check] : [put, check]
}

export interface DistributionPlan {
  readonly citusVersion: string
  readonly steps: readonly DistributeStep[]
  readonly bytes: number
  readonly withinSeconds: number
}

/**
 * Measured: 5 MB/s at the slowest, tables with their indexes, coordinator and workers on the same two cores; plus the
 * setup.
 */
const slowestBytesPerSecond = 5_000_000
const setUpSeconds = 20

/** Throws a StartFailure that lists every missing requirement with its remedy. Changes nothing. */
export async function prepareDistribution(
  database: Queryable,
  { withinSeconds }: { readonly withinSeconds?: number | undefined } = {},
): Promise<DistributionPlan> {
  const citusVersion = await findCitus(database)
  const catalog = await readCatalog(database)
  const faults = [...(await clusterFaults(database)), ...faultsOf(catalog, { isMoving: true })]
  if (faults.length > 0)
    throw new StartFailure(`Nothing was changed. Before the tables can be spread:\n- ${faults.join('\n- ')}`)
  const steps = planDistribution(await readState(database))
  const { rows } = await database.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes
       from pg_class c left join pg_inherits i on i.inhrelid = c.oid
      where coalesce(i.inhparent, c.oid) = any ($1::regclass[])`,
    [spreadTables],
  )
  const bytes = Number(rows[0]?.bytes ?? 0)
  const estimate = setUpSeconds + Math.ceil(bytes / slowestBytesPerSecond)
  return { citusVersion, steps, bytes, withinSeconds: withinSeconds ?? estimate }
}

/** Shorter than PostgreSQL's deadlock_timeout, so that payments never lose a deadlock against this transaction. */
const lockTimeoutMs = 500
const lockTries = 60
const betweenTriesMs = 250

/** `database` must have no statement timeout. */
export async function distribute(
  database: Pool,
  { steps, withinSeconds }: Pick<DistributionPlan, 'steps' | 'withinSeconds'>,
  report: (about: string) => void = () => {},
): Promise<void> {
  for (let triesLeft = lockTries; ; triesLeft--) {
    try {
      await database.transaction((transaction) => carryOut(transaction, { steps, withinSeconds }, report), {
        statementTimeoutMs: 0,
      })
      break
    } catch (error) {
      const code = codeOf(error)
      if (code === '57014')
        throw new StartFailure(
          `It took longer than ${withinSeconds} seconds and was given up. Nothing was changed: give more time with --within.`,
        )
      if (code !== lockNotAvailable || triesLeft === 0) throw error
      await pause(betweenTriesMs)
    }
  }
}

const lockNotAvailable = '55P03'

async function carryOut(
  transaction: Queryable,
  { steps, withinSeconds }: Pick<DistributionPlan, 'steps' | 'withinSeconds'>,
  report: (about: string) => void,
): Promise<void> {
  await transaction.query(`set local citus.multi_shard_modify_mode = 'sequential'`)
  await transaction.query(`set local lock_timeout = ${lockTimeoutMs}`)
  await transaction.query(`lock table ${spreadTables.join(', ')} in access exclusive mode`)
  await transaction.query('set local lock_timeout = 0')
  const endsAtMs = performance.now() + withinSeconds * 1000
  for (const [index, { about, sql }] of steps.entries()) {
    // At least 1 ms, because a statement timeout of 0 means no limit.
    const leftMs = Math.max(1, Math.ceil(endsAtMs - performance.now()))
    await transaction.query(`set local statement_timeout = ${leftMs}`)
    await transaction.query(sql)
    report(`${about} (${index + 1} of ${steps.length})`)
  }
}

async function readState(database: Queryable): Promise<ClusterState> {
  const { rows } = await database.query<{ name: string; is_valid: boolean }>(
    `select conname as name, convalidated as is_valid
       from pg_constraint where contype = 'f' and connamespace = current_schema::regnamespace and conparentid = 0`,
  )
  const { rows: set } = await database.query<{ setting: string }>(
    `select unnest(setconfig) as setting from pg_db_role_setting
      where setrole = 0 and setdatabase = (select oid from pg_database where datname = current_database())`,
  )
  return {
    spread: await readSpread(database),
    foreignKeys: new Map(rows.map(({ name, is_valid }) => [name, { isValid: is_valid }])),
    settings: new Set(set.map(({ setting }) => setting)),
  }
}
