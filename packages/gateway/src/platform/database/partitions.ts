// Maintains time-partitioned tables: creates partitions ahead and drops expired ones at a cost independent of their
// size. A default partition takes rows outside all ranges, so no insert fails after a clock jump or a long downtime.
import { codeOf } from '../runtime/errors.ts'
import { firstCallbackIdAt, timeOfCallbackId } from '../runtime/time-ordered-ids.ts'
import type { Pool, Queryable } from './pool.ts'
import { deadlock } from './transient.ts'

interface PartitionedTable {
  /** A time, or an id that starts with a time. */
  readonly column: string
  readonly boundAt: (timeMs: number) => string
  readonly timeAt: (bound: string) => number
  readonly rangeDays: number
  /** Selects keys before $1 that must be kept despite their age, at most `neededAtMost`. */
  readonly needed?: { readonly key: string; readonly sql: string }
}

/** A partition with more kept rows is not dropped yet, because copying them would block writers. */
const neededAtMost = 10_000

export type PartitionedName = keyof typeof partitionedTables

/** Each default partition is named after its table. */
export const partitionedTables = {
  callback_attempts: {
    column: 'callback_id',
    boundAt: firstCallbackIdAt,
    timeAt: timeOfCallbackId,
    rangeDays: 30,
    // Callbacks that still have their text because they wait for delivery or a resend (index callbacks_kept).
    needed: {
      key: 'merchant_id, callback_id',
      sql: `select merchant_id, callback_id
  from callbacks where body is not null and callback_id < $1 order by callback_id limit ${neededAtMost}`,
    },
  },
  request_log: { column: 'answered_at', boundAt: String, timeAt: Number, rangeDays: 1 },
} as const satisfies Record<string, PartitionedTable>

const dayMs = 24 * 60 * 60 * 1000
const rangesAhead = 2
/** Shorter than deadlock_timeout, so that this job gives way and retries in its next turn. */
const lockTimeoutMs = 500
/** Includes deadlocks that Citus detects itself. */
const givenWay = new Set<unknown>(['55P03', deadlock])

export interface Range {
  readonly fromMs: number
  readonly untilMs: number
}

export interface Partition extends Range {
  readonly name: string
}

export interface KeptPartitions {
  readonly made: readonly string[]
  readonly dropped: readonly string[]
  /** The table stayed locked; the next turn retries. */
  readonly isBusy: boolean
}

export type Partitions = ReturnType<typeof makePartitions>

export function makePartitions(database: Pool) {
  return {
    /**
     * Creates missing partitions and drops those that ended before `keptSinceMs`. Safe to run in several gateways at
     * once.
     */
    keep: (name: PartitionedName, times: { readonly nowMs: number; readonly keptSinceMs: number }) =>
      keep(database, name, times),
    list: (name: PartitionedName) => readPartitions(database, name),
  }
}

async function keep(
  database: Pool,
  name: PartitionedName,
  { nowMs, keptSinceMs }: { readonly nowMs: number; readonly keptSinceMs: number },
): Promise<KeptPartitions> {
  const { rangeDays } = partitionedTables[name]
  const missing = async (from: Queryable) =>
    missingRanges(await readPartitions(from, name), { nowMs, rangeDays })
  const past = async (from: Queryable) =>
    (await readPartitions(from, name)).filter(({ untilMs }) => untilMs <= keptSinceMs)
  let made: readonly string[] = []
  let dropped: readonly string[] = []
  try {
    // The usual turn takes no lock. After locking, everything is read again, because another gateway may have acted
    // first.
    if ((await missing(database)).length > 0)
      made = await locked(database, { name, mode: 'share row exclusive' }, async (transaction) =>
        make(transaction, name, await missing(transaction)),
      )
    if ((await past(database)).length > 0)
      dropped = await locked(database, { name, mode: 'access exclusive' }, async (transaction) =>
        drop(transaction, name, await past(transaction)),
      )
  } catch (error) {
    if (!givenWay.has(codeOf(error))) throw error
    return { made, dropped, isBusy: true }
  }
  return { made, dropped, isBusy: false }
}

/** Ranges start at whole multiples of their length. */
export function missingRanges(
  partitions: readonly Range[],
  { nowMs, rangeDays }: { readonly nowMs: number; readonly rangeDays: number },
): Range[] {
  const rangeMs = rangeDays * dayMs
  const firstMs = Math.floor(nowMs / rangeMs) * rangeMs
  const missing: Range[] = []
  for (let fromMs = firstMs; fromMs < firstMs + (1 + rangesAhead) * rangeMs; ) {
    const covering = partitions.find((each) => each.fromMs <= fromMs && fromMs < each.untilMs)
    const nextMs = (Math.floor(fromMs / rangeMs) + 1) * rangeMs
    const laterMs = partitions.flatMap((each) => (each.fromMs > fromMs ? each.fromMs : []))
    const untilMs = covering?.untilMs ?? Math.min(nextMs, ...laterMs)
    if (!covering) missing.push({ fromMs, untilMs })
    fromMs = untilMs
  }
  return missing
}

async function readPartitions(database: Queryable, name: PartitionedName): Promise<readonly Partition[]> {
  const { timeAt } = partitionedTables[name]
  const { rows } = await database.query<{ name: string; bounds: string }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = $1::regclass`,
    [name],
  )
  return rows
    .flatMap((row) => {
      const [, from, until] = /^FOR VALUES FROM \((.+)\) TO \('(.+)'\)$/.exec(row.bounds) ?? []
      if (from === undefined || until === undefined) return []
      const fromMs = from === 'MINVALUE' ? Number.NEGATIVE_INFINITY : timeAt(from.replaceAll("'", ''))
      return { name: row.name, fromMs, untilMs: timeAt(until) }
    })
    .sort((a, b) => a.fromMs - b.fromMs)
}

/**
 * Uses the migrations' lock, so that gateways take turns. Writers must wait even for a new partition: an insert
 * routed to the default partition would find that its row no longer belongs there.
 */
function locked<Result>(
  database: Pool,
  { name, mode }: { readonly name: PartitionedName; readonly mode: string },
  work: (transaction: Queryable) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (transaction) => {
    await transaction.query(`set local lock_timeout = ${lockTimeoutMs}`)
    await transaction.query('lock table migrations in share row exclusive mode')
    // Excludes the partitions, because a vacuum of one of them would block the lock.
    await transaction.query(`lock table only ${name} in ${mode} mode`)
    return work(transaction)
  })
}

/**
 * Creates a table and attaches it, because creating it as a partition would block readers. Matching rows of the
 * default partition move along. On a cluster, attaching also distributes it.
 */
async function make(
  transaction: Queryable,
  name: PartitionedName,
  ranges: readonly Range[],
): Promise<readonly string[]> {
  const { column, boundAt } = partitionedTables[name]
  const made: string[] = []
  for (const { fromMs, untilMs } of ranges) {
    const partition = `${name}_${new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '')}`
    const [from, until] = [boundAt(fromMs), boundAt(untilMs)]
    const isWithin = `${column} >= '${from}' and ${column} < '${until}'`
    await transaction.query(`create table ${partition} (like ${name} including all)`)
    await transaction.query(`insert into ${partition} select * from ${name}_default where ${isWithin}`)
    await transaction.query(`delete from ${name}_default where ${isWithin}`)
    await transaction.query(
      `alter table ${name} attach partition ${partition} for values from ('${from}') to ('${until}')`,
    )
    made.push(partition)
  }
  return made
}

/**
 * PostgreSQL does not allow `detach concurrently` beside a default partition. Rows that are still needed move to the
 * default partition and leave with a later partition.
 */
async function drop(
  transaction: Queryable,
  name: PartitionedName,
  past: readonly Partition[],
): Promise<readonly string[]> {
  const { column, boundAt, needed }: PartitionedTable = partitionedTables[name]
  const last = past.at(-1)
  if (!last) return []
  const bound = boundAt(last.untilMs)
  if (needed && (await transaction.query(needed.sql, [bound])).rowCount === neededAtMost) return []
  const withNeeded = needed ? `with needed as materialized (${needed.sql})` : ''
  const { key } = needed ?? {}
  await transaction.query(
    `${withNeeded} delete from ${name}_default
      where ${column} < $1 ${needed ? `and (${key}) not in (select ${key} from needed)` : ''}`,
    [bound],
  )
  for (const partition of past) {
    await transaction.query(`alter table ${name} detach partition ${partition.name}`)
    if (needed)
      await transaction.query(
        `${withNeeded} insert into ${name} select * from ${partition.name} where (${key}) in (select ${key} from needed)`,
        [bound],
      )
    await transaction.query(`drop table ${partition.name}`)
  }
  return past.map((each) => each.name)
}
