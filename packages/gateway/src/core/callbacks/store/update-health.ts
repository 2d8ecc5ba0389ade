// Updates the health of hosts and destinations in the transaction of attempts' outcomes. Successful attempts cost
// nothing here unless something failed when they were claimed.
import type { Queryable } from '../../../platform/database/pool.ts'
import { columnsOf, prepared, sql } from '../../../platform/database/sql.ts'
import type { Outcome } from '../rules/callback-attempt.ts'
import { laneKey } from '../rules/delivery-lanes.ts'
import { addressOf } from '../rules/destination.ts'
import {
  type Failing,
  failingAfter,
  isDestinationDown,
  isDestinationFailure,
  isHostAnswer,
  isHostFault,
} from '../rules/host-health.ts'
import { destinationShape, hostShape } from './callback-health.ts'
import type { ClaimedCallback } from './callback-queue.ts'

export interface HealthSign {
  readonly callback: ClaimedCallback
  readonly outcome: Outcome
  readonly startedAtMs: number
  readonly nowMs: number
}

export type FailingOf = (
  sign: HealthSign,
) => { readonly what: 'host' | 'destination'; readonly state: Failing } | undefined

/** Locks hosts before destinations, each in a fixed order, so that batches never deadlock. */
export async function updateHealth(transaction: Queryable, signs: readonly HealthSign[]): Promise<FailingOf> {
  const hosts = await update(transaction, hostTable, {
    failed: signs.filter(({ outcome }) => isHostFault(outcome.verdict)),
    good: signs.filter(
      ({ callback, outcome }) => callback.health.host.failures > 0 && isHostAnswer(outcome.verdict),
    ),
  })
  const destinations = await update(transaction, destinationTable, {
    failed: signs.filter(({ outcome }) => isDestinationFailure(outcome.verdict)),
    good: signs.filter(
      ({ callback, outcome }) =>
        callback.health.destination.failures > 0 && outcome.verdict.kind === 'acknowledged',
    ),
  })
  return ({ callback, outcome: { verdict } }) => {
    const what = isHostFault(verdict) ? 'host' : 'destination'
    if (what === 'destination' && !isDestinationFailure(verdict)) return undefined
    const state = what === 'host' ? hosts.get(callback.host) : destinations.get(laneKey(callback))
    return state && { what, state }
  }
}

interface HealthTable {
  readonly keyOf: (callback: ClaimedCallback) => string
  readonly isDown: (outcome: Outcome) => boolean
  /** Inserts missing rows and locks all of them in key order. */
  readonly lock: (
    transaction: Queryable,
    lanes: { readonly failed: readonly ClaimedCallback[]; readonly good: readonly ClaimedCallback[] },
    nowMs: number,
  ) => Promise<ReadonlyMap<string, Failing>>
  readonly write: (transaction: Queryable, rows: readonly Written[]) => Promise<void>
  readonly forget: (transaction: Queryable, lanes: readonly ClaimedCallback[]) => Promise<void>
}

interface Written extends Failing {
  readonly callback: ClaimedCallback
  readonly failedAtMs: number
}

async function update(
  transaction: Queryable,
  table: HealthTable,
  signs: { readonly failed: readonly HealthSign[]; readonly good: readonly HealthSign[] },
): Promise<ReadonlyMap<string, Failing>> {
  const after = new Map<string, Failing>()
  const good = Map.groupBy(signs.good, ({ callback }) => table.keyOf(callback))
  const failed = Map.groupBy(
    signs.failed.filter(({ callback }) => !good.has(table.keyOf(callback))),
    ({ callback }) => table.keyOf(callback),
  )
  if (good.size === 0 && failed.size === 0) return after
  const nowMs = (signs.failed[0] ?? signs.good[0])?.nowMs ?? 0
  const lanes = { failed: inOrder(failed), good: inOrder(good) }
  const before = await table.lock(transaction, lanes, nowMs)
  // Attempts from before a pause say nothing about the time since and do not end it.
  const isNews = (key: string, those: readonly HealthSign[]) =>
    latestStartOf(those) >= (before.get(key)?.pausedAtMs ?? Number.NEGATIVE_INFINITY)
  await table.forget(
    transaction,
    inOrder(new Map([...good].filter(([key, those]) => before.has(key) && isNews(key, those)))),
  )
  const written: Written[] = []
  for (const [key, those] of failed) {
    const [first] = those
    if (!first) continue
    const seen = {
      count: those.length,
      startedAtMs: latestStartOf(those),
      reason: reasonOf(first),
      isDown: those.some(({ outcome }) => table.isDown(outcome)),
      nowMs: first.nowMs,
    }
    const state = failingAfter(before.get(key), seen)
    after.set(key, state)
    written.push({ ...state, callback: first.callback, failedAtMs: first.nowMs })
  }
  if (written.length > 0) await table.write(transaction, written)
  return after
}

function inOrder(groups: ReadonlyMap<string, readonly HealthSign[]>): ClaimedCallback[] {
  return [...groups.keys()].sort().flatMap((key) => groups.get(key)?.[0]?.callback ?? [])
}

function latestStartOf(signs: readonly HealthSign[]): number {
  return Math.max(...signs.map(({ startedAtMs }) => startedAtMs))
}

function reasonOf({ outcome: { verdict } }: HealthSign): string {
  if (verdict.kind === 'unreachable') return verdict.reason
  return verdict.kind === 'refused' ? `HTTP ${verdict.httpStatus}` : ''
}

const hostTable: HealthTable = {
  keyOf: ({ host }) => host,
  isDown: () => true,
  async lock(transaction, { failed, good }, nowMs) {
    const [hosts] = columnsOf(failed, 'host')
    if (failed.length > 0)
      await transaction.query(prepared('note-failing-hosts')`
insert into callback_hosts (host, failures, failing_since, reason)
select host, 0, ${nowMs}, '' from unnest(${hosts}::text[]) as h (host)
    on conflict do nothing`)
    const { rows } = await transaction.query(prepared('lock-failing-hosts')`
select ${hostShape.columns}
  from callback_hosts
 where host = any (${[...failed, ...good].map(({ host }) => host)}::text[])
 order by host
   for update`)
    return new Map(rows.map(hostShape.read).map((each) => [each.host, each]))
  },
  async write(transaction, rows) {
    await transaction.query({
      name: 'write-failing-hosts',
      text: `
update callback_hosts h
   set failures = n.failures, reason = n.reason, pauses = n.pauses, paused_at = n.paused_at,
       paused_until = n.paused_until
  from unnest($1::text[], $2::integer[], $3::text[], $4::integer[], $5::bigint[], $6::bigint[])
    as n (host, failures, reason, pauses, paused_at, paused_until)
 where h.host = n.host`,
      values: [
        rows.map(({ callback }) => callback.host),
        ...columnsOf(rows, 'failures', 'reason', 'pauses', 'pausedAtMs', 'pausedUntilMs'),
      ],
    })
  },
  async forget(transaction, lanes) {
    if (lanes.length === 0) return
    const [hosts] = columnsOf(lanes, 'host')
    await transaction.query(sql`delete from callback_hosts where host = any (${hosts}::text[])`)
  },
}

const destinationTable: HealthTable = {
  keyOf: laneKey,
  isDown: ({ verdict }) => isDestinationDown(verdict),
  async lock(transaction, { failed, good }, nowMs) {
    if (failed.length > 0)
      await transaction.query({
        name: 'note-failing-destinations',
        text: `
insert into callback_destinations (merchant_id, host, destination_id, endpoint_id, url, failures, failing_since,
                                   failed_at, reason)
select merchant_id, host, destination_id, endpoint_id, url, 0, $6, $6, ''
  from unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[])
    as d (merchant_id, host, destination_id, endpoint_id, url)
    on conflict do nothing`,
        values: [
          ...columnsOf(failed, 'merchantId', 'host', 'destinationId'),
          failed.map(({ endpoint }) => endpoint?.endpointId ?? ''),
          failed.map(({ callbackUrl }) => addressOf(callbackUrl)),
          nowMs,
        ],
      })
    const { rows } = await transaction.query({
      name: 'lock-failing-destinations',
      text: `
select ${destinationShape.columns.text}
  from callback_destinations
 where (merchant_id, host, destination_id) in (select * from unnest($1::text[], $2::text[], $3::uuid[]))
 order by merchant_id, host, destination_id
   for update`,
      values: columnsOf([...failed, ...good], 'merchantId', 'host', 'destinationId'),
    })
    return new Map(rows.map(destinationShape.read).map((each) => [laneKey(each), each]))
  },
  async write(transaction, rows) {
    const lanes = rows.map(({ callback }) => callback)
    await transaction.query({
      name: 'write-failing-destinations',
      text: `
update callback_destinations d
   set failures = n.failures, failed_at = n.failed_at, reason = n.reason, pauses = n.pauses, paused_at = n.paused_at,
       paused_until = n.paused_until
  from unnest($1::text[], $2::text[], $3::uuid[], $4::integer[], $5::bigint[], $6::text[], $7::integer[], $8::bigint[],
              $9::bigint[])
    as n (merchant_id, host, destination_id, failures, failed_at, reason, pauses, paused_at, paused_until)
 where d.merchant_id = n.merchant_id and d.host = n.host and d.destination_id = n.destination_id`,
      values: [
        ...columnsOf(lanes, 'merchantId', 'host', 'destinationId'),
        ...columnsOf(rows, 'failures', 'failedAtMs', 'reason', 'pauses', 'pausedAtMs', 'pausedUntilMs'),
      ],
    })
  },
  async forget(transaction, lanes) {
    if (lanes.length === 0) return
    const [merchantIds, hosts, destinationIds] = columnsOf(lanes, 'merchantId', 'host', 'destinationId')
    await transaction.query(sql`
delete from callback_destinations
 where (merchant_id, host, destination_id) in
       (select * from unnest(${merchantIds}::text[], ${hosts}::text[], ${destinationIds}::uuid[]))`)
  },
}
