// The overview's figures, one row per hour, counted from orders and callbacks by one statement, so that the next
// count corrects any error.
import { orderStatuses } from '@tillgate/protocol'
import type { Pool } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { bindAll } from '../../../platform/runtime/bind-all.ts'
import { firstCallbackIdAt, firstPaymentIdAt } from '../../../platform/runtime/time-ordered-ids.ts'
import { countOf, hourMs, sliceMs, startOf, type Tally } from '../rules/overview.ts'

export type OverviewHours = ReturnType<typeof makeOverviewHours>

/** An order's status has a currency, a callback's state has none. `minor` is text, because JSON numbers are inexact. */
type Figure = { readonly at: number; readonly minor: string } & Omit<Tally, 'amountMinor'>

/** Hours that can be shown in five-minute slices: the running hour and the two before it. */
const slicedMs = 3 * hourMs

export function makeOverviewHours(database: Pool) {
  return bindAll(database, { claimDue, count, read, removeBefore })
}

/**
 * Claims the newest due hour by moving its due time, so that no other process takes it and a failing hour does not
 * block others.
 */
async function claimDue(
  database: Pool,
  range: { fromMs: number; toMs: number; nowMs: number; againAtMs: number },
) {
  const { rows } = await database.query<{ starts_at: string }>({
    text: `
insert into overview_hours (starts_at, due_at)
select hour, $4
  from generate_series($1::bigint, $2::bigint, ${hourMs}) as hour
  left join overview_hours on starts_at = hour
 where starts_at is null or due_at <= $3
 order by hour desc
 limit 1
    on conflict (starts_at) do update
   set due_at = excluded.due_at
 where overview_hours.due_at <= $3
returning starts_at`,
    values: [range.fromMs, range.toMs, range.nowMs, range.againAtMs],
  })
  return rows[0] && Number(rows[0].starts_at)
}

/**
 * Counts consecutive hours. Ids start with their time, so an hour is a range of orders_by_status and callbacks_kept.
 * An hour with open items is due again when its age has grown by an eighth: every minute at first, every two days at
 * the end.
 */
async function count(
  database: Pool,
  hoursMs: readonly number[],
  { nowMs, timeoutMs }: { nowMs: number; timeoutMs: number },
) {
  const slices = hoursMs.flatMap((hour) => {
    const lengthMs = nowMs - hour < slicedMs ? sliceMs : hourMs
    return Array.from({ length: hourMs / lengthMs }, (_, index) => hour + index * lengthMs)
  })
  const endsAtMs = (hoursMs.at(-1) ?? 0) + hourMs
  await database.transaction(
    (transaction) =>
      transaction.query({
        text: `
insert into overview_hours (starts_at, figures, counted_at, due_at)
select hour,
       coalesce(jsonb_agg(jsonb_build_object('at', at, 'currency', currency, 'state', state, 'many', many, 'minor', minor::text))
                filter (where state is not null), '[]'),
       $6, case when count(distinct at) > 1 or bool_or(state in ('pending', 'confirming', 'waiting'))
                then $6 + greatest(60000, ($6 - hour - ${hourMs}) / 8) end
  from (select at, slice, at / ${hourMs} * ${hourMs} as hour
          from unnest($1::bigint[]) with ordinality as s (at, slice)) as slices
  left join (
       select width_bucket(payment_id, $2::text[]) as slice, currency, status as state, count(*) as many,
              sum(payment_amount_minor) as minor
         from orders
        where status = any ($3::text[]) and payment_id >= ($2::text[])[1] and payment_id < $4
        group by 1, 2, 3
        union all
       select width_bucket(callback_id, $5::uuid[]), null,
              case when delivered_at is not null then 'delivered'
                   when exhausted_at is not null then 'exhausted' else 'waiting' end, count(*), 0
         from callbacks_with_progress
        where body is not null and callback_id >= ($5::uuid[])[1] and callback_id < $7
        group by 1, 3
       ) as made using (slice)
 group by hour
    on conflict (starts_at) do update
   set figures = excluded.figures, counted_at = excluded.counted_at, due_at = excluded.due_at`,
        values: [
          slices,
          slices.map(firstPaymentIdAt),
          Object.keys(orderStatuses),
          firstPaymentIdAt(endsAtMs),
          slices.map(firstCallbackIdAt),
          nowMs,
          firstCallbackIdAt(endsAtMs),
        ],
      }),
    { statementTimeoutMs: timeoutMs },
  )
}

/**
 * Returns the window in points of this length. Summed here, because splitting two weeks of hours in SQL takes three
 * times as long as sending them.
 */
async function read(
  database: Pool,
  { fromMs, toMs, pointMs }: { fromMs: number; toMs: number; pointMs: number },
) {
  const { rows } = await database.query<{ starts_at: string; counted_at: string; figures: Figure[] }>(sql`
select starts_at, counted_at, figures from overview_hours
 where starts_at >= ${startOf(fromMs, hourMs)} and starts_at < ${toMs} and counted_at is not null`)
  const figures = rows.flatMap((row) => row.figures).filter(({ at }) => at >= fromMs)
  const pointOf = ({ at }: Figure) => Math.floor((at - fromMs) / pointMs)
  const alike = Map.groupBy(figures, (each) => `${pointOf(each)} ${each.currency} ${each.state}`)
  return {
    tallies: [...alike.values()].map((each) => toTally(each, pointOf)),
    countedAtMs: new Map(rows.map((row) => [Number(row.starts_at), Number(row.counted_at)])),
  }
}

async function removeBefore(database: Pool, timeMs: number): Promise<void> {
  await database.query(sql`delete from overview_hours where starts_at < ${timeMs}`)
}

function toTally(figures: readonly Figure[], pointOf: (figure: Figure) => number): Tally & { point: number } {
  const [first] = figures
  if (!first) throw new Error('a group has a member')
  const amountMinor = figures.reduce((all, { minor }) => all + BigInt(minor), 0n)
  // Safe: the counting statement writes only these pairs of currency and state.
  const tally = { currency: first.currency, state: first.state, many: countOf(figures), amountMinor } as Tally
  return { ...tally, point: pointOf(first) }
}
