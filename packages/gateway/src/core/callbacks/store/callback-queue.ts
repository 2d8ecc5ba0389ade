// The queue of callbacks to deliver. Workers find lanes with due work and claim from them. Every later write carries
// the claim, so a worker that lost its claim writes nothing.
import type { WebhookEventName } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { plainArray } from '../../../platform/runtime/node-workarounds/plain-array.ts'
import type { Progress } from '../rules/callback-attempt.ts'
import {
  type Health,
  type Lane,
  type LaneHealth,
  type LaneRequest,
  laneKey,
} from '../rules/delivery-lanes.ts'
import type { EndpointKey } from '../rules/endpoint.ts'
import { stateOf } from './callback-state.ts'
import { type DeliveryEndpoint, loadEndpoints } from './endpoints.ts'

export type CallbackQueue = ReturnType<typeof makeCallbackQueue>

export interface DueLane extends Lane {
  readonly health: LaneHealth
}

export interface DueLanes {
  readonly lanes: readonly DueLane[]
  /** More is due than was examined, so some lanes may be missing. */
  readonly isFull: boolean
  readonly nextDueAtMs: number | undefined
}

export interface LanePage {
  readonly lanes: readonly DueLane[]
  /** Where to continue; undefined at the end. */
  readonly after: Lane | undefined
}

export interface Claim {
  readonly claimId: string
  readonly claimedUntilMs: number
}

export interface ClaimedCallback extends Lane, Claim {
  readonly callbackId: string
  readonly paymentId: string
  readonly eventName: WebhookEventName
  readonly callbackUrl: string
  /** Undefined: the order's own callbackUrl. */
  readonly endpoint: DeliveryEndpoint | undefined
  /** Undefined if it was pruned. */
  readonly body: string | undefined
  readonly dueAtMs: number
  readonly isResend: boolean
  /** The row is marked as held. */
  readonly wasHeld: boolean
  readonly progress: Progress
  readonly health: LaneHealth
}

export interface Claimed {
  readonly callbacks: readonly ClaimedCallback[]
  /** Lanes of claimed callbacks and lanes that currently fail. */
  readonly lanes: readonly DueLane[]
}

export const dueRowsLooked = 500
const lanesPerPage = 500
const unseenForMs = 1_000
const nilId = '00000000-0000-0000-0000-000000000000'

export function makeCallbackQueue(database: Pool) {
  return {
    findDueLanes: (nowMs: number) => findDueLanes(database, nowMs),
    pageOfLanes: (nowMs: number, after: Lane | undefined) => pageOfLanes(database, nowMs, after),
    claim: (request: ClaimRequest) => claim(database, request),
    /** Returns unsent callbacks to the queue, still due. */
    release: (claimed: readonly ClaimedCallback[]) => release(database, claimed),
    /** Postpones a callback that cannot be sent, with the reason, without counting an attempt. */
    hold: (held: Hold) => hold(database, held),
  }
}

interface LaneRow {
  merchant_id: string
  host: string
  destination_id: string
  host_failures: number | null
  host_paused_until: string | null
  failures: number | null
  paused_until: string | null
}

const healthColumns =
  'h.failures as host_failures, h.paused_until as host_paused_until, d.failures, d.paused_until'
const joinHealth = `left join callback_hosts h on h.host = l.host
  left join callback_destinations d
    on d.merchant_id = l.merchant_id and d.host = l.host and d.destination_id = l.destination_id`

/** Uses callback_queue_due, oldest first. */
async function findDueLanes(database: Queryable, nowMs: number): Promise<DueLanes> {
  const { rows } = await database.query<LaneRow & { count: string }>({
    name: 'find-due-lanes',
    text: `
select l.merchant_id, l.host, l.destination_id, l.count, ${healthColumns}
  from (select merchant_id, host, destination_id, min(due_at) as due_at, count(*) as count
          from (select merchant_id, host, destination_id, due_at
                  from callback_queue
                 where due_at <= $1 and (claimed_until is null or claimed_until <= $1)
                 order by due_at
                 limit ${dueRowsLooked}) as due
         group by merchant_id, host, destination_id) as l
  ${joinHealth}
 order by l.due_at, l.merchant_id, l.host, l.destination_id`,
    values: [nowMs],
  })
  const { rows: next } = await database.query<{ due_at: string }>({
    name: 'next-due-callback',
    text: 'select due_at from callback_queue where due_at > $1 order by due_at limit 1',
    values: [nowMs],
  })
  return {
    lanes: rows.map(toDueLane),
    isFull: rows.reduce((sum, { count }) => sum + Number(count), 0) >= dueRowsLooked,
    nextDueAtMs: next[0] && Number(next[0].due_at),
  }
}

/**
 * Walks callback_queue_lines lane by lane, one step per lane, so that a lane is found even behind a million due
 * callbacks of others.
 */
async function pageOfLanes(database: Queryable, nowMs: number, after: Lane | undefined): Promise<LanePage> {
  const { rows } = await database.query<LaneRow & { due_at: string }>({
    name: 'page-of-callback-lanes',
    text: `
with recursive lanes as (
  (select merchant_id, host, destination_id, due_at
     from callback_queue
    where (merchant_id, host, destination_id) > ($1, $2, $3)
    order by merchant_id, host, destination_id, due_at
    limit 1)
  union all
  select next.*
    from lanes
   cross join lateral (select q.merchant_id, q.host, q.destination_id, q.due_at
                         from callback_queue q
                        where (q.merchant_id, q.host, q.destination_id)
                            > (lanes.merchant_id, lanes.host, lanes.destination_id)
                        order by q.merchant_id, q.host, q.destination_id, q.due_at
                        limit 1) as next
), page as (
  select * from lanes limit ${lanesPerPage}
)
select l.merchant_id, l.host, l.destination_id, l.due_at, ${healthColumns}
  from page l
  ${joinHealth}
 order by l.merchant_id, l.host, l.destination_id`,
    values: [after?.merchantId ?? '', after?.host ?? '', after?.destinationId ?? nilId],
  })
  const last = rows.length < lanesPerPage ? undefined : rows.at(-1)
  return {
    lanes: rows.filter(({ due_at }) => Number(due_at) <= nowMs).map(toDueLane),
    after: last && laneOf(last),
  }
}

export interface ClaimRequest extends Claim {
  readonly lanes: readonly LaneRequest[]
  readonly nowMs: number
  /** Until then, no other worker probes a host or destination after its pause. */
  readonly probeUntilMs: number
}

async function claim(database: Queryable, request: ClaimRequest): Promise<Claimed> {
  const { rows } = await database.query<ClaimRow>(claimStatement(request))
  const lanes = new Map<string, DueLane>()
  const taken: TakenRow[] = []
  for (const row of rows) {
    if (row.callback_id !== null) taken.push(row)
    else lanes.set(laneKey(laneOf(row)), toDueLane(row))
  }
  // The statement returns rows in storage order. Sorted by age, equal runs stay equal.
  taken.sort(
    (one, other) =>
      Number(one.due_at) - Number(other.due_at) || (one.callback_id < other.callback_id ? -1 : 1),
  )
  for (const row of taken) {
    const key = laneKey(laneOf(row))
    if (!lanes.has(key)) lanes.set(key, { ...laneOf(row), health: healthyLane })
  }
  const callbacks = taken.length === 0 ? [] : await load(database, { taken, lanes }, request)
  return { callbacks, lanes: [...lanes.values()] }
}

const healthy: Health = { failures: 0, pausedUntilMs: undefined }
const healthyLane: LaneHealth = { host: healthy, destination: healthy }

type ClaimRow = TakenRow | (LaneRow & { callback_id: null })

interface TakenRow {
  callback_id: string
  merchant_id: string
  host: string
  destination_id: string
  due_at: string
  is_resend: boolean
  endpoint_id: string
}

/**
 * Claims up to the requested number per lane by callback_queue_lines. The worker that extends a pause
 * probes with one callback. Returns a row per claimed callback, and a row without one per failing lane with its state.
 */
export function claimStatement({ lanes, nowMs, claimId, claimedUntilMs, probeUntilMs }: ClaimRequest) {
  return {
    name: 'claim-callbacks',
    text: `
with asked as (
  select l.merchant_id, l.host, l.destination_id, l.most, ${healthColumns}
    from unnest($1::text[], $2::text[], $3::uuid[], $4::integer[]) as l (merchant_id, host, destination_id, most)
    ${joinHealth}
), probed_hosts as (
  update callback_hosts h
     set paused_until = $8
   where h.host in (select host
                      from callback_hosts
                     where host = any ($2::text[]) and paused_until <= $5
                       for update skip locked)
  returning h.host
), sent_to as (
  select * from asked where host_paused_until is null or host in (select host from probed_hosts)
), probed as (
  update callback_destinations d
     set paused_until = $8
   where (d.merchant_id, d.host, d.destination_id) in (select p.merchant_id, p.host, p.destination_id
                                                         from callback_destinations p
                                                         join sent_to s using (merchant_id, host, destination_id)
                                                        where p.paused_until <= $5
                                                          for update of p skip locked)
  returning d.merchant_id, d.host, d.destination_id
), picked as (
  select q.place
    from sent_to s
   cross join lateral (select q.ctid as place
                         from callback_queue q
                        where q.merchant_id = s.merchant_id and q.host = s.host and q.destination_id = s.destination_id
                          and q.due_at <= $5 and (q.claimed_until is null or q.claimed_until <= $5)
                        order by q.due_at
                        limit case when s.host_paused_until is null and s.paused_until is null then s.most else 1 end
                          for update skip locked) as q
   where s.paused_until is null
      or (s.merchant_id, s.host, s.destination_id) in (select merchant_id, host, destination_id from probed)
), claimed as (
  update callback_queue q
     set claim_id = $6, claimed_until = $7
   where q.ctid = any (array(select place from picked))
  returning q.callback_id, q.merchant_id, q.host, q.destination_id, q.due_at, q.is_resend, q.endpoint_id
)
select callback_id, merchant_id, host, destination_id, due_at, is_resend, endpoint_id,
       null as host_failures, null as host_paused_until, null as failures, null as paused_until
  from claimed
union all
select null, merchant_id, host, destination_id, null, null, null,
       host_failures, host_paused_until, failures, paused_until
  from asked
 where host_failures is not null or failures is not null`,
    values: [
      lanes.map(({ merchantId }) => merchantId),
      lanes.map(({ host }) => host),
      lanes.map(({ destinationId }) => destinationId),
      lanes.map(({ most }) => most),
      nowMs,
      claimId,
      claimedUntilMs,
      probeUntilMs,
    ],
  }
}

interface LoadedRow {
  callback_id: string
  payment_id: string
  event_name: WebhookEventName
  callback_url: string
  body: string | null
  attempts_made: number
  retries_made: number
  first_attempt_at: string | null
  next_attempt_at: string | null
  delivered_at: string | null
  exhausted_at: string | null
  held_reason: string | null
}

async function load(
  database: Queryable,
  { taken, lanes }: { taken: readonly TakenRow[]; lanes: ReadonlyMap<string, DueLane> },
  { claimId, claimedUntilMs, nowMs }: ClaimRequest,
): Promise<ClaimedCallback[]> {
  const { rows } = await database.query<LoadedRow>({
    name: 'load-claimed-callbacks',
    text: `
select c.callback_id, c.payment_id, c.event_name, c.callback_url, c.body, c.attempts_made, c.retries_made,
       c.first_attempt_at, c.next_attempt_at, c.delivered_at, c.exhausted_at, c.held_reason
  from unnest($1::text[], $2::uuid[]) as k (merchant_id, callback_id)
  join callbacks c using (merchant_id, callback_id)
 where c.merchant_id = any ($1::text[])`,
    values: [
      plainArray(taken.map((row) => row.merchant_id)),
      plainArray(taken.map((row) => row.callback_id)),
    ],
  })
  const endpoints = await loadEndpoints(
    database,
    taken.filter(({ endpoint_id }) => endpoint_id !== ''),
  )
  const found = new Map(rows.map((row) => [row.callback_id, row]))
  const unseen = taken.flatMap(({ callback_id }) => (found.has(callback_id) ? [] : callback_id))
  if (unseen.length > 0) await putOff(database, unseen, { claimId, dueAtMs: nowMs + unseenForMs })
  return taken
    .flatMap((claimed) => {
      const row = found.get(claimed.callback_id)
      if (!row) return []
      return {
        claimId,
        claimedUntilMs,
        ...laneOf(claimed),
        callbackId: row.callback_id,
        paymentId: row.payment_id,
        eventName: row.event_name,
        callbackUrl: row.callback_url,
        endpoint: endpoints.get(`${claimed.merchant_id} ${claimed.endpoint_id}`),
        body: row.body ?? undefined,
        dueAtMs: Number(claimed.due_at),
        isResend: claimed.is_resend,
        wasHeld: row.held_reason !== null,
        health: lanes.get(laneKey(laneOf(claimed)))?.health ?? healthyLane,
        progress: {
          state: stateOf(row),
          attemptsMade: row.attempts_made,
          retriesMade: row.retries_made,
          firstAttemptAtMs: toTime(row.first_attempt_at),
          nextAttemptAtMs: toTime(row.next_attempt_at),
        },
      }
    })
    .sort((a, b) => a.dueAtMs - b.dueAtMs || (a.callbackId < b.callbackId ? -1 : 1))
}

/**
 * On a cluster, a queue row may be visible before its callback, or the callback may have been deleted by hand. Either
 * way it must not block the others.
 */
async function putOff(
  database: Queryable,
  callbackIds: readonly string[],
  { claimId, dueAtMs }: { claimId: string; dueAtMs: number },
): Promise<void> {
  await database.query(sql`
update callback_queue set due_at = ${dueAtMs}, claim_id = null, claimed_until = null
 where callback_id = any (${callbackIds}::uuid[]) and claim_id = ${claimId}`)
}

async function release(database: Queryable, claimed: readonly ClaimedCallback[]): Promise<void> {
  if (claimed.length === 0) return
  await database.query({
    name: 'release-callbacks',
    text: `
update callback_queue q
   set claim_id = null, claimed_until = null
  from unnest($1::uuid[], $2::uuid[]) as k (callback_id, claim_id)
 where q.callback_id = k.callback_id and q.claim_id = k.claim_id`,
    values: [claimed.map(({ callbackId }) => callbackId), claimed.map(({ claimId }) => claimId)],
  })
}

export interface Hold {
  readonly callback: Pick<ClaimedCallback, 'merchantId' | 'callbackId' | 'claimId' | 'endpoint' | 'isResend'>
  readonly reason: string
  readonly untilMs: number
}

/** A held resend leaves the next retry as scheduled. */
async function hold(database: Pool, { callback, reason, untilMs }: Hold): Promise<void> {
  await database.transaction(async (transaction) => {
    if (reason === endpointPaused && !(await isStillPaused(transaction, callback.endpoint))) return
    const { rowCount } = await transaction.query({
      text: `
update callback_queue
   set due_at = $3, claim_id = null, claimed_until = null
 where callback_id = $1 and claim_id = $2`,
      values: [callback.callbackId, callback.claimId, untilMs],
    })
    if (rowCount === 0) return
    await transaction.query({
      text: `
update callbacks
   set held_reason = $3,
       next_attempt_at = case when delivered_at is not null or exhausted_at is not null then null
                              when $5 then next_attempt_at else $4::bigint end
 where merchant_id = $1 and callback_id = $2`,
      values: [callback.merchantId, callback.callbackId, reason, untilMs, callback.isResend],
    })
  })
}

export const endpointPaused = 'endpoint_paused'

/** If the endpoint was resumed meanwhile, the claim expires and the callback is sent. */
async function isStillPaused(transaction: Queryable, endpoint: EndpointKey | undefined): Promise<boolean> {
  const { rowCount } = await transaction.query({
    text: `
select from callback_endpoints
 where merchant_id = $1 and endpoint_id = $2 and paused_at is not null
   for share`,
    values: [endpoint?.merchantId, endpoint?.endpointId],
  })
  return rowCount === 1
}

function toDueLane(row: LaneRow): DueLane {
  return {
    ...laneOf(row),
    health: {
      host: { failures: row.host_failures ?? 0, pausedUntilMs: toTime(row.host_paused_until) },
      destination: { failures: row.failures ?? 0, pausedUntilMs: toTime(row.paused_until) },
    },
  }
}

function laneOf(row: Pick<LaneRow, 'merchant_id' | 'host' | 'destination_id'>): Lane {
  return { merchantId: row.merchant_id, host: row.host, destinationId: row.destination_id }
}

function toTime(text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}
