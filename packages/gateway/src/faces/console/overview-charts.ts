// The overview's charts, each with its table. Money has a chart for each of the currencies that most orders are in:
// amounts of two currencies have no common axis.
import { toDecimalText } from '@tillgate/protocol'
import { type Content, type Html, html } from '../../http/html.ts'
import type { Overview, OverviewPoint } from '../../overview/read-overview.ts'
import { percentile } from '../../overview/rules/durations.ts'
import {
  addAmounts,
  countOrders,
  type Figures,
  isOpen,
  madeCallbacks,
  type OrderTally,
  successRate,
} from '../../overview/rules/overview.ts'
import { hourMs, sliceMs } from '../../overview/rules/time-slices.ts'
import { type Chart, chart, durationCeiling, rateCeiling, roundCeiling } from './charts.ts'
import { table } from './tables.ts'
import { amount, compact, count, percent, span } from './words.ts'

const maxMoneyCharts = 3

type Value = (point: OverviewPoint) => number | undefined

/** A line, and its column in the table. */
interface Line {
  readonly label: string
  readonly value: Value
  readonly cell: (point: OverviewPoint) => Content
}

interface ChartOf extends Pick<Chart, 'id' | 'title' | 'ceiling' | 'write'> {
  readonly lines: readonly Line[]
  /** Columns of the table that have no line. */
  readonly more?: readonly Omit<Line, 'value'>[]
}

export function overviewCharts({ points, figures }: Overview): readonly Html[] {
  const money = currenciesOf(figures).slice(0, maxMoneyCharts).map(moneyChart)
  return [orders, success, ...money, paidAfter, callbacks, deliveredAfter, rate, latency].map((of) =>
    draw(of, points),
  )
}

function draw(
  { id, title, lines, more = [], ceiling, write }: ChartOf,
  points: readonly OverviewPoint[],
): Html {
  const columns = [...lines, ...more]
  const first = points[0]?.startsAtMs ?? 0
  const middle = points[Math.floor((points.length - 1) / 2)]?.startsAtMs ?? 0
  const lengthMs = points[0]?.lengthMs ?? hourMs
  return chart({
    id,
    title,
    ceiling,
    write,
    series: lines.map(({ label, value }) => ({ label, values: points.map(value) })),
    times: [timeLabel(first, lengthMs), timeLabel(middle, lengthMs)],
    table: table(
      `${title}, the newest first`,
      ['From (UTC)', ...columns.map(({ label }) => ({ head: label, isNumber: true }))],
      points
        .toReversed()
        .map((point, index) => [
          html`<span class="nowrap">${timeLabel(point.startsAtMs, lengthMs, true)}${index === 0 && ', so far'}</span>`,
          ...columns.map(({ cell }) => cell(point)),
        ]),
    ),
  })
}

// Made once: making one takes longer than drawing a chart.
const weekdays = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' })
const dates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** As short as the window allows. */
function timeLabel(timeMs: number, lengthMs: number, isLong = false): string {
  const time = new Date(timeMs)
  const clock = time.toISOString().slice(11, 16)
  if (lengthMs <= sliceMs) return clock
  const day = weekdays.format(time)
  const date = dates.format(time)
  if (lengthMs <= hourMs) return isLong ? `${day} ${clock}` : clock
  return isLong ? `${day} ${date}, ${clock}` : `${day} ${date}`
}

const unknown = '—'

function counted(label: string, of: (figures: Figures) => number): Line {
  return {
    label,
    value: ({ figures }) => figures && of(figures),
    cell: ({ figures }) => (figures ? count(of(figures)) : unknown),
  }
}

function timed(label: string, of: (point: OverviewPoint) => number | undefined): Line {
  return {
    label,
    value: of,
    cell: (point) => {
      const ms = of(point)
      return ms === undefined ? unknown : span(ms)
    },
  }
}

function medianAndMost(
  durations: (point: OverviewPoint) => Figures['paidAfter'] | undefined,
): readonly Line[] {
  return (
    [
      ['median', 0.5],
      ['95 %', 0.95],
    ] as const
  ).map(([label, share]) => timed(label, (point) => percentile(durations(point) ?? new Map(), share)))
}

const isPaid = ({ status }: OrderTally) => status === 'success'

const orders: ChartOf = {
  id: 'chart-orders',
  title: 'Orders',
  lines: [
    counted('created', (figures) => countOrders(figures, () => true)),
    counted('paid', (figures) => countOrders(figures, isPaid)),
    counted('not paid', (figures) => countOrders(figures, (tally) => !isOpen(tally) && !isPaid(tally))),
  ],
  more: [counted('still open', (figures) => countOrders(figures, isOpen))],
  ceiling: roundCeiling,
  write: compact,
}

const success: ChartOf = {
  id: 'chart-success',
  title: 'Success rate of orders that ended',
  lines: [
    {
      label: 'paid',
      value: ({ figures }) => figures && successRate(figures),
      cell: ({ figures }) => percent(figures && successRate(figures)),
    },
  ],
  more: [counted('ended', (figures) => countOrders(figures, (tally) => !isOpen(tally)))],
  ceiling: () => 1,
  write: (share) => `${Math.round(share * 100)} %`,
}

const paidAfter: ChartOf = {
  id: 'chart-paid-after',
  title: 'From creation to payment',
  lines: medianAndMost(({ figures }) => figures?.paidAfter),
  more: [counted('paid', (figures) => countOrders(figures, isPaid))],
  ceiling: durationCeiling,
  write: span,
}

const callbacks: ChartOf = {
  id: 'chart-callbacks',
  title: 'Callbacks',
  lines: [
    counted('made', (figures) => madeCallbacks(figures.callbacks)),
    counted('delivered', (figures) => figures.callbacks.delivered),
  ],
  more: [
    counted('waiting', (figures) => figures.callbacks.waiting),
    counted('given up', (figures) => figures.callbacks.exhausted),
  ],
  ceiling: roundCeiling,
  write: compact,
}

const deliveredAfter: ChartOf = {
  id: 'chart-delivered-after',
  title: 'From event to delivered callback',
  lines: medianAndMost(({ figures }) => figures?.deliveredAfter),
  more: [counted('delivered', (figures) => figures.callbacks.delivered)],
  ceiling: durationCeiling,
  write: span,
}

function perSecond({ traffic, passedMs }: OverviewPoint): number {
  return passedMs === 0 ? 0 : (traffic.requests * 1_000) / passedMs
}

const rate: ChartOf = {
  id: 'chart-api-rate',
  title: 'API requests a second',
  lines: [{ label: 'a second', value: perSecond, cell: (point) => compact(perSecond(point)) }],
  more: [
    { label: 'requests', cell: ({ traffic }) => count(traffic.requests) },
    { label: 'refused', cell: ({ traffic }) => count(traffic.refused) },
    { label: 'failed', cell: ({ traffic }) => count(traffic.failed) },
  ],
  ceiling: rateCeiling,
  write: compact,
}

const latency: ChartOf = {
  id: 'chart-api-latency',
  title: 'API answers after',
  lines: medianAndMost(({ traffic }) => traffic.answeredAfter),
  ceiling: durationCeiling,
  write: span,
}

/** Those that most orders are in first. */
function currenciesOf({ orders: tallies }: Figures): readonly string[] {
  const byCurrency = Map.groupBy(tallies, ({ currency }) => currency)
  const sizes = [...byCurrency].map(([currency, all]) => [
    currency,
    all.reduce((sum, tally) => sum + tally.orders, 0),
  ]) as [string, number][]
  return sizes
    .toSorted(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
    .map(([currency]) => currency)
}

function moneyChart(currency: string): ChartOf {
  const paid = (figures: Figures) =>
    addAmounts(figures, (tally) => isPaid(tally) && tally.currency === currency)
  return {
    id: `chart-money-${currency}`,
    title: `Paid, in ${currency}`,
    lines: [
      {
        label: 'paid',
        // Rounded as a float rounds: it is for the eye, and the table has it exactly.
        value: ({ figures }) => figures && Number(toDecimalText(paid(figures), currency)),
        cell: ({ figures }) => (figures ? amount(paid(figures), currency) : unknown),
      },
    ],
    more: [
      counted('orders', (figures) =>
        countOrders(figures, (tally) => isPaid(tally) && tally.currency === currency),
      ),
    ],
    ceiling: roundCeiling,
    write: compact,
  }
}
