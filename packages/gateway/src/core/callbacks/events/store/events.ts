// The feed in PostgreSQL. Transactions write events without a position; readers assign positions to committed events
// under the lock of the feed's row and then read by position.

import type { Pool, Queryable } from '../../../../platform/database/pool.ts'
import { number, rowShape } from '../../../../platform/database/row-shape.ts'
import { columnsOf, prepared, sql } from '../../../../platform/database/sql.ts'
import type { Callback } from '../../rules/callback.ts'
import { type FeedEvent, type FeedState, stepOf } from '../rules/event.ts'

export type EventStore = ReturnType<typeof makeEventStore>

export function makeEventStore(database: Pool) {
  return {
    readState: () => readState(database),
    /** Whether events are written from now on. */
    setKept: (isKept: boolean) => setKept(database, isKept),
    /** Returns how many events got a position. */
    giveNumbers: (limit: number) => giveNumbers(database, limit),
    listAfter: (position: number, limit: number) => listAfter(database, position, limit),
    prune: (options: { readonly olderThanMs: number; readonly limit: number }) => prune(database, options),
  }
}

export async function insertEvents(transaction: Queryable, events: readonly Callback[]): Promise<void> {
  await transaction.query({
    name: 'insert-events',
    text: `
insert into events (event_id, merchant_id, payment_id, refund_id, event_name, body, created_at, step)
select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::smallint[])`,
    values: columnsOf(
      events.map((each) => ({ ...each, refundId: each.refundId ?? '', step: stepOf(each.eventName) })),
      ...([
        'callbackId',
        'merchantId',
        'paymentId',
        'refundId',
        'eventName',
        'body',
        'createdAtMs',
        'step',
      ] as const),
    ),
  })
}

const stateShape = rowShape<FeedState>('feed', {
  isKept: 'is_kept',
  lastPosition: number('last_position'),
  prunedPosition: number('pruned_position'),
})

async function readState(database: Queryable): Promise<FeedState> {
  const { rows } = await database.query(prepared('read-feed-state')`
select ${stateShape.columns} from event_feed`)
  return rows[0] ? stateShape.read(rows[0]) : { isKept: false, lastPosition: 0, prunedPosition: 0 }
}

/** Switching the feed off uses up a position, so that readers notice the gap. */
async function setKept(database: Queryable, isKept: boolean): Promise<void> {
  await database.query(sql`
insert into event_feed as f (feed_id, is_kept) values (1, ${isKept})
    on conflict (feed_id) do update
   set is_kept = excluded.is_kept, last_position = f.last_position + case when f.is_kept then 1 else 0 end
 where f.is_kept <> excluded.is_kept`)
}

/**
 * After the lock, every earlier commit is visible. An order's lower step commits first, so it is visible whenever a
 * higher one is.
 */
async function giveNumbers(database: Pool, limit: number): Promise<number> {
  const { rows: waiting } = await database.query(prepared('find-event-without-position')`
select from events where position is null limit 1`)
  if (waiting.length === 0) return 0
  return database.transaction(async (transaction) => {
    await transaction.query(prepared('lock-feed')`select from event_feed for update`)
    const { rowCount } = await transaction.query(prepared('give-positions')`
with waiting as (
  select event_id, row_number() over (order by step, event_id) as place
    from (select event_id, step from events where position is null order by step, event_id limit ${limit}) as w
)
update events e
   set position = f.last_position + w.place
  from waiting w, event_feed f
 where e.event_id = w.event_id`)
    await transaction.query(prepared('advance-feed')`
update event_feed set last_position = last_position + ${rowCount}`)
    return rowCount
  })
}

const shape = rowShape<FeedEvent>('event', {
  position: number('position'),
  eventId: 'event_id',
  eventName: 'event_name',
  merchantId: 'merchant_id',
  paymentId: 'payment_id',
  refundId: "nullif(refund_id, '')",
  body: 'body',
  createdAtMs: number('created_at'),
})

async function listAfter(database: Queryable, position: number, limit: number): Promise<FeedEvent[]> {
  const { rows } = await database.query(prepared('list-events')`
select ${shape.columns} from events where position > ${position} order by position limit ${limit}`)
  return rows.map(shape.read)
}

/** Never skips a younger event, so that the rest has no gaps. */
function prune(
  database: Pool,
  { olderThanMs, limit }: { readonly olderThanMs: number; readonly limit: number },
): Promise<number> {
  return database.transaction(async (transaction) => {
    await transaction.query(sql`select from event_feed for update`)
    const { rows } = await transaction.query<{ position: string; created_at: string }>(sql`
select position, created_at from events where position is not null order by position limit ${limit}`)
    const young = rows.findIndex((row) => Number(row.created_at) >= olderThanMs)
    const count = young < 0 ? rows.length : young
    const last = rows[count - 1]?.position
    if (last === undefined) return 0
    await transaction.query(sql`delete from events where position <= ${last}`)
    await transaction.query(sql`update event_feed set pruned_position = ${last}`)
    return count
  })
}
