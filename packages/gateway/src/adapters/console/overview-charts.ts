// The overview's charts: orders, money, success and callbacks, each compared with the previous period. Two currencies
// have no common axis, so money is shown in one currency at a time.
import { toDecimalText } from '@tillgate/protocol'
import type { Overview } from '../../finance/overview/read-overview.ts'
import {
  amountOf,
  callbacksOf,
  countOf,
  hourMs,
  isPaid,
  ordersOf,
  sliceMs,
  successRate,
  type Tallies,
  windows,
} from '../../finance/overview/rules/overview.ts'
import type { Content, Html } from '../kit/html.ts'
import { type Chart, chart, type Line } from '../kit/pages/charts.ts'
import { amount, compact, count, percent } from './words.ts'

type Spec = Pick<Chart, 'id' | 'title' | 'top' | 'write'> & {
  readonly first: Figure
  readonly second?: Figure
}

/** A value computed from the tallies of a point or of all points. */
interface Figure {
  readonly label: string
  readonly value: (tallies: Tallies) => number | undefined
  readonly text: (tallies: Tallies) => Content
}

export function overviewCharts({ points, window }: Overview, currency: string | undefined): readonly Html[] {
  const { pointMs, before } = windows[window]
  const now = points.map((point) => point.tallies)
  const then = points.map((point) => point.before)
  const hasBefore = then.some((tallies) => tallies !== undefined && tallies.length > 0)
  const line = (figure: Figure, look: Line['look'], all: readonly (Tallies | undefined)[] = now): Line => ({
    label: look === 'before' ? `${figure.label}, ${before}` : figure.label,
    look,
    values: all.map((tallies) => tallies && figure.value(tallies)),
    texts: all.map((tallies) => (tallies ? figure.text(tallies) : '—')),
    // A previous period that is only partly counted would look too small.
    whole:
      look === 'before' && all.includes(undefined)
        ? '—'
        : figure.text(all.flatMap((tallies) => tallies ?? [])),
  })
  return [orders, ...(currency === undefined ? [] : [money(currency)]), success, callbacks].map(
    ({ first, second, ...spec }) =>
      chart({
        ...spec,
        times: points.map(({ startsAtMs }) => timeLabel(startsAtMs, pointMs)),
        lines: [
          line(first, 'first'),
          ...(second ? [line(second, 'second')] : []),
          // Nothing to compare with on the first day.
          ...(hasBefore ? [line(first, 'before', then)] : []),
        ],
      }),
  )
}

/** Nothing happened in the period, nor in the one before. */
export function isQuiet({ points }: Overview): boolean {
  return points.every(({ tallies, before }) => (tallies ?? []).length === 0 && (before ?? []).length === 0)
}

/** Such as "09:00", "Thu 09:00" and "Thu, 14 Jan 06:00". */
function timeLabel(timeMs: number, pointMs: number): string {
  const text = new Date(timeMs).toUTCString()
  const day = pointMs <= sliceMs ? '' : text.slice(0, pointMs <= hourMs ? 3 : 11)
  return `${day} ${text.slice(17, 22)}`.trim()
}

function counted(label: string, of: (tallies: Tallies) => Tallies): Figure {
  const value = (tallies: Tallies) => countOf(of(tallies))
  return { label, value, text: (tallies) => count(value(tallies)) }
}

const orders: Spec = {
  id: 'chart-orders',
  title: 'Orders',
  first: counted('created', ordersOf),
  second: counted('paid', (tallies) => ordersOf(tallies, isPaid)),
  write: compact,
}

const success: Spec = {
  id: 'chart-success',
  title: 'Success rate of ended orders',
  first: { label: 'paid', value: successRate, text: (tallies) => percent(successRate(tallies)) },
  top: 1,
  write: (share) => `${Math.round(share * 100)}%`,
}

const callbacks: Spec = {
  id: 'chart-callbacks',
  title: 'Callbacks',
  first: counted('delivered', (tallies) => callbacksOf(tallies, 'delivered')),
  second: counted('not delivered', (tallies) => [
    ...callbacksOf(tallies, 'waiting'),
    ...callbacksOf(tallies, 'exhausted'),
  ]),
  write: compact,
}

function money(currency: string): Spec {
  const paid = (tallies: Tallies) =>
    amountOf(ordersOf(tallies, (tally) => isPaid(tally) && tally.currency === currency))
  return {
    id: 'chart-money',
    title: `Paid, in ${currency}`,
    first: {
      label: 'paid',
      // Rounded by floating point, which is enough for the chart; the table is exact.
      value: (tallies) => Number(toDecimalText(paid(tallies), currency)),
      text: (tallies) => amount(paid(tallies), currency),
    },
    write: compact,
  }
}
