// The overview's charts: orders, money, success and callbacks, each beside the window before. Amounts of two currencies
// have no common axis, so money is shown in one currency at a time.
import { toDecimalText } from '@tillgate/protocol'
import type { Content, Html } from '../../http/html.ts'
import type { Overview, OverviewPoint } from '../../overview/read-overview.ts'
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
} from '../../overview/rules/overview.ts'
import { type Chart, chart, type Line } from './charts.ts'
import { amount, compact, count, percent } from './words.ts'

type Spec = Pick<Chart<OverviewPoint>, 'id' | 'title' | 'top' | 'write'> & {
  readonly first: Figure
  readonly second?: Figure
}

/** What is read from the tallies of a point, or of them all. */
interface Figure {
  readonly label: string
  readonly value: (tallies: Tallies) => number | undefined
  readonly text: (tallies: Tallies) => Content
}

export function overviewCharts(overview: Overview, currency: string | undefined): readonly Html[] {
  const { points, window } = overview
  const before = points.flatMap((point) => point.before ?? [])
  const line = ({ label, value, text }: Figure, look: 'first' | 'second'): Line<OverviewPoint> => ({
    label,
    look,
    value: ({ tallies }) => tallies && value(tallies),
    cell: ({ tallies }) => (tallies ? text(tallies) : '—'),
    whole: text(overview.tallies),
  })
  return [orders, ...(currency === undefined ? [] : [money(currency)]), success, callbacks].map(
    ({ first, second, ...spec }) =>
      chart({
        ...spec,
        points,
        timeOf: ({ startsAtMs }) => timeLabel(startsAtMs, windows[window].pointMs),
        lines: [
          line(first, 'first'),
          ...(second ? [line(second, 'second')] : []),
          {
            label: `${first.label}, ${windows[window].before}`,
            look: 'before',
            value: (point) => point.before && first.value(point.before),
            cell: (point) => (point.before ? first.text(point.before) : '—'),
            whole: points.every((point) => point.before) ? first.text(before) : '—',
          },
        ],
      }),
  )
}

// Made once: making one takes longer than drawing a chart.
const weekdays = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' })
const dates = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})

function timeLabel(timeMs: number, pointMs: number): string {
  const time = new Date(timeMs)
  const clock = time.toISOString().slice(11, 16)
  if (pointMs <= sliceMs) return clock
  return pointMs <= hourMs ? `${weekdays.format(time)} ${clock}` : `${dates.format(time)}, ${clock}`
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
  title: 'Success rate of orders that ended',
  first: { label: 'paid', value: successRate, text: (tallies) => percent(successRate(tallies)) },
  top: 1,
  write: (share) => `${Math.round(share * 100)} %`,
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
      // Rounded as a float rounds: it is for the eye, and the table has it exactly.
      value: (tallies) => Number(toDecimalText(paid(tallies), currency)),
      text: (tallies) => amount(paid(tallies), currency),
    },
    write: compact,
  }
}
