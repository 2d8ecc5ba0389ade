// Tallies of orders and callbacks created in a time window, with their current states. Tallies can be added up; hours
// and five-minute slices are counted from 1970.
import type { OrderStatus } from '@tillgate/protocol'
import type { CallbackState } from '../../../core/callbacks/rules/callback-attempt.ts'

export const sliceMs = 5 * 60_000
export const hourMs = 60 * 60_000

/** The last point is still running. */
export const windows = {
  hour: { points: 12, pointMs: sliceMs, label: 'Last hour', before: 'the hour before' },
  day: { points: 24, pointMs: hourMs, label: 'Last day', before: 'the day before' },
  week: { points: 28, pointMs: 6 * hourMs, label: 'Last week', before: 'the week before' },
} as const
export type WindowName = keyof typeof windows

/** The longest window, the window before it, and the rest of the running point. */
export const keptMs = 15 * 24 * hourMs

export interface OrderTally {
  readonly currency: string
  readonly state: OrderStatus
  readonly many: number
  readonly amountMinor: bigint
}

export interface CallbackTally {
  readonly currency: null
  readonly state: CallbackState
  readonly many: number
}

export type Tally = OrderTally | CallbackTally
export type Tallies = readonly Tally[]

export function startOf(timeMs: number, lengthMs: number): number {
  return Math.floor(timeMs / lengthMs) * lengthMs
}

export function ordersOf(tallies: Tallies, isWanted: (tally: OrderTally) => boolean = () => true) {
  return tallies.filter((tally) => tally.currency !== null).filter(isWanted)
}

export function callbacksOf(tallies: Tallies, state?: CallbackState): readonly CallbackTally[] {
  const all = tallies.filter((tally) => tally.currency === null)
  return all.filter((tally) => state === undefined || tally.state === state)
}

export function countOf(tallies: readonly Pick<Tally, 'many'>[]): number {
  return tallies.reduce((all, { many }) => all + many, 0)
}

export function amountOf(tallies: readonly OrderTally[]): bigint {
  return tallies.reduce((all, { amountMinor }) => all + amountMinor, 0n)
}

export function isPaid({ state }: OrderTally): boolean {
  return state === 'success'
}

export function hasEnded({ state }: OrderTally): boolean {
  return state !== 'pending' && state !== 'confirming'
}

/** The paid share of the ended orders; undefined if none has ended. */
export function successRate(tallies: Tallies): number | undefined {
  const ended = countOf(ordersOf(tallies, hasEnded))
  return ended === 0 ? undefined : countOf(ordersOf(tallies, isPaid)) / ended
}

/** The most frequent currency first. */
export function currenciesOf(tallies: Tallies): readonly string[] {
  const byCurrency = Map.groupBy(ordersOf(tallies), ({ currency }) => currency)
  return [...byCurrency.keys()].toSorted(
    (a, b) => countOf(byCurrency.get(b) ?? []) - countOf(byCurrency.get(a) ?? []) || (a < b ? -1 : 1),
  )
}
