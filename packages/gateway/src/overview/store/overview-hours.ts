// Hours that were counted already, so that a day or a week is read and not counted; and the claim by which one process
// at a time counts.
import type { Pool } from '../../database/pool.ts'
import type { Figures, OrderTally } from '../rules/overview.ts'
import { durationsOf, jsonOf } from './durations-json.ts'

export type OverviewHours = ReturnType<typeof makeOverviewHours>

export interface CountedHour {
  readonly startsAtMs: number
  readonly figures: Figures
  readonly countedAtMs: number
  /** When to count it again; undefined: nothing in it changes any more. */
  readonly dueAtMs: number | undefined
}

interface StoredFigures {
  readonly orders: readonly (Omit<OrderTally, 'amountMinor'> & { readonly amountMinor: string })[]
  readonly paidAfter: Record<string, number>
  readonly callbacks: Figures['callbacks']
  readonly deliveredAfter: Record<string, number>
}

export function makeOverviewHours(database: Pool) {
  return {
    /** The oldest first. */
    async read({ fromMs, toMs }: { fromMs: number; toMs: number }): Promise<readonly CountedHour[]> {
      const { rows } = await database.query<{
        starts_at: string
        figures: StoredFigures
        counted_at: string
        due_at: string | null
      }>({
        text: `
select starts_at, figures, counted_at, due_at
  from overview_hours
 where starts_at >= $1 and starts_at < $2
 order by starts_at`,
        values: [fromMs, toMs],
      })
      return rows.map((row) => ({
        startsAtMs: Number(row.starts_at),
        figures: toFigures(row.figures),
        countedAtMs: Number(row.counted_at),
        dueAtMs: row.due_at === null ? undefined : Number(row.due_at),
      }))
    },

    /** When each hour is to be counted again, without what was counted. */
    async readDueTimes(fromMs: number): Promise<ReadonlyMap<number, number | undefined>> {
      const { rows } = await database.query<{ starts_at: string; due_at: string | null }>({
        text: 'select starts_at, due_at from overview_hours where starts_at >= $1',
        values: [fromMs],
      })
      return new Map(
        rows.map((row) => [Number(row.starts_at), row.due_at === null ? undefined : Number(row.due_at)]),
      )
    },

    async write(hours: readonly CountedHour[]): Promise<void> {
      await database.query({
        text: `
insert into overview_hours (starts_at, figures, counted_at, due_at)
select * from unnest($1::bigint[], $2::jsonb[], $3::bigint[], $4::bigint[])
    on conflict (starts_at) do update
   set figures = excluded.figures, counted_at = excluded.counted_at, due_at = excluded.due_at`,
        values: [
          hours.map(({ startsAtMs }) => startsAtMs),
          hours.map(({ figures }) => JSON.stringify(toStored(figures))),
          hours.map(({ countedAtMs }) => countedAtMs),
          hours.map(({ dueAtMs }) => dueAtMs ?? null),
        ],
      })
    },

    async removeBefore(timeMs: number): Promise<void> {
      await database.query({ text: 'delete from overview_hours where starts_at < $1', values: [timeMs] })
    },

    /**
     * False while another process counts. A claim that ran out is nobody's, nor is one that lasts longer than any may,
     * made by a clock that has been put right since: counting twice does no harm.
     */
    async claim({ nowMs, untilMs }: { nowMs: number; untilMs: number }): Promise<boolean> {
      const { rowCount } = await database.query({
        text: 'update overview_claim set claimed_until = $2 where claimed_until <= $1 or claimed_until > $2',
        values: [nowMs, untilMs],
      })
      return rowCount === 1
    },

    async release(untilMs: number): Promise<void> {
      await database.query({
        text: 'update overview_claim set claimed_until = 0 where claimed_until = $1',
        values: [untilMs],
      })
    },
  }
}

function toStored({ orders, paidAfter, callbacks, deliveredAfter }: Figures): StoredFigures {
  return {
    orders: orders.map((tally) => ({ ...tally, amountMinor: String(tally.amountMinor) })),
    paidAfter: jsonOf(paidAfter),
    callbacks,
    deliveredAfter: jsonOf(deliveredAfter),
  }
}

function toFigures({ orders, paidAfter, callbacks, deliveredAfter }: StoredFigures): Figures {
  return {
    orders: orders.map((tally) => ({ ...tally, amountMinor: BigInt(tally.amountMinor) })),
    paidAfter: durationsOf(paidAfter),
    callbacks,
    deliveredAfter: durationsOf(deliveredAfter),
  }
}
