// The overview: the last hour, day or week at a glance. Orders and callbacks are told by when they were made, so that
// each is in one place only and a share is a share of something.
import { type OrderStatus, orderStatuses } from '@tillgate/protocol'
import { countedAtMost, type OperatorService } from '../../../acts/service.ts'
import type { CallbackCounts } from '../../../callbacks/store/callback-history.ts'
import { type Content, type Html, html } from '../../../http/html.ts'
import type { Overview } from '../../../overview/read-overview.ts'
import { percentile } from '../../../overview/rules/durations.ts'
import {
  addAmounts,
  countOrders,
  deliveredShare,
  type Figures,
  isOpen,
  madeCallbacks,
  successRate,
} from '../../../overview/rules/overview.ts'
import { type WindowName, windows } from '../../../overview/rules/time-slices.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { overviewCharts } from '../overview-charts.ts'
import { status } from '../statuses.ts'
import { empty, table } from '../tables.ts'
import { ago, amount, count, countUpTo, duration, exact, percent, span } from '../words.ts'

export const overviewPath = '/overview'
const defaultWindow: WindowName = 'day'
const windowNames = Object.keys(windows) as WindowName[]

export function overviewArea(running: () => OperatorService): readonly ConsoleRoute[] {
  return [{ path: overviewPath, show }]

  async function show({ query, nowMs }: Visit): Promise<ConsolePage> {
    const window = windowNames.find((name) => name === query.get('last')) ?? defaultWindow
    const [overview, callbacks] = await Promise.all([
      running().overview(window),
      running().countCallbacks(nowMs),
    ])
    return {
      title: 'Overview',
      area: 'overview',
      isLive: true,
      content: html`${tabs(window)}
${about(overview, nowMs)}
${tiles(overview, callbacks, nowMs)}
<h2>Orders and money by status</h2>${byStatus(overview)}
<h2>Over time</h2><div class="charts">${overviewCharts(overview)}</div>`,
    }
  }
}

const upTo = (number: number): string => countUpTo(number, countedAtMost)

function tabs(current: WindowName): Html {
  return html`<nav class="tabs" aria-label="How far back"><ul>${windowNames.map(
    (name) =>
      html`<li><a href="${overviewPath}?last=${name}"${name === current && html` aria-current="true"`}>${windows[name].label}</a></li>`,
  )}</ul></nav>`
}

function about({ points, countedAtMs, isComplete }: Overview, nowMs: number): Html {
  const sinceMs = points[0]?.startsAtMs ?? nowMs
  return html`<p class="quiet small">What was made since ${exact(sinceMs)}, and what has become of it.
${countedAtMs === undefined ? 'The last hours cannot be counted just now.' : html`Counted ${ago(countedAtMs, nowMs)}.`}
${!isComplete && html`<strong>Not every hour is counted yet:</strong> sums lack what has no figure below; it is being counted.`}</p>`
}

function tiles({ figures, traffic, points }: Overview, callbacks: CallbackCounts, nowMs: number): Html {
  const passedMs = points.reduce((all, point) => all + point.passedMs, 0)
  const open = countOrders(figures, isOpen)
  const all = countOrders(figures, () => true)
  const made = madeCallbacks(figures.callbacks)
  const tile = (name: string, value: Content, more: Content) =>
    html`<div><dt>${name}</dt><dd>${value} <span class="quiet small">${more}</span></dd></div>`
  const paidAfter = spread(figures.paidAfter)
  const sentAfter = spread(figures.deliveredAfter)
  const answeredAfter = spread(traffic.answeredAfter)
  const [paid, ...otherPaid] = paidAmounts(figures)
  return html`<dl class="figures wide">
${tile('Orders', count(all), `${count(open)} still open`)}
${tile('Success rate', percent(successRate(figures)), all > open ? `of ${count(all - open)} that ended` : 'none has ended')}
${tile('Paid', paid ?? '—', paid === undefined ? 'nothing yet' : otherPaid.length > 0 && html`and ${otherPaid.map((each, index) => html`${index > 0 && ', '}${each}`)}`)}
${tile('Creation to payment, median', paidAfter?.median ?? '—', paidAfter ? `95 % within ${paidAfter.p95}` : 'none was paid')}
${tile('Callbacks delivered', percent(deliveredShare(figures)), [made === 0 ? 'none was due' : `of ${count(made)}`, sentAfter && `; half within ${sentAfter.median}, 95 % within ${sentAfter.p95}`])}
${tile(
  'Callbacks waiting now',
  html`<a href="/callbacks?state=waiting">${upTo(callbacks.waiting)}</a>`,
  callbacks.oldestDueAtMs === undefined
    ? `none is late, ${upTo(callbacks.exhausted)} given up`
    : `${upTo(callbacks.due)} due, the oldest for ${duration(nowMs - callbacks.oldestDueAtMs)}; ${upTo(callbacks.exhausted)} given up`,
)}
${tile('API requests', count(traffic.requests), `${perSecond(traffic.requests, passedMs)} a second; ${count(traffic.refused)} refused, ${count(traffic.failed)} failed`)}
${tile('API answers, median', answeredAfter?.median ?? '—', answeredAfter ? `95 % within ${answeredAfter.p95}` : 'nobody has asked')}
</dl>`
}

/** Undefined where nothing was measured. */
function spread(durations: Figures['paidAfter']): { median: string; p95: string } | undefined {
  const [median, p95] = [percentile(durations, 0.5), percentile(durations, 0.95)]
  return median === undefined || p95 === undefined ? undefined : { median: span(median), p95: span(p95) }
}

/** The currency that most paid orders are in first. */
function paidAmounts(figures: Figures): readonly Html[] {
  return figures.orders
    .filter(({ status: name }) => name === 'success')
    .toSorted((a, b) => b.orders - a.orders)
    .map(({ amountMinor, currency }) => amount(amountMinor, currency))
}

function perSecond(requests: number, passedMs: number): string {
  const rate = passedMs === 0 ? 0 : (requests * 1_000) / passedMs
  return rate >= 10 ? count(Math.round(rate)) : String(Math.round(rate * 100) / 100)
}

const statusNames = Object.keys(orderStatuses) as OrderStatus[]

function byStatus({ figures, isComplete }: Overview): Html {
  const currencies = [...new Set(figures.orders.map(({ currency }) => currency))].toSorted()
  if (currencies.length === 0 && !isComplete) return empty('Nothing is counted yet. Look again in a minute.')
  if (currencies.length === 0)
    return empty(
      html`No order was made in this time. Orders appear here as soon as a merchant creates one. <a href="/merchants">Merchants</a>`,
    )
  const cell = (currency: string, name?: OrderStatus): Content => {
    const isWanted = (tally: Figures['orders'][number]) =>
      tally.currency === currency && (name === undefined || tally.status === name)
    const orders = countOrders(figures, isWanted)
    if (orders === 0) return html`<span class="quiet">—</span>`
    const query = new URLSearchParams({ ...(name && { status: name }), currency })
    return html`<a href="/orders?${query.toString()}">${count(orders)}</a><br>${amount(addAmounts(figures, isWanted), currency)}`
  }
  return table(
    'Orders and their amounts by currency and status',
    [
      'Currency',
      ...['All', ...statusNames.map((name) => status(name))].map((head) => ({ head, isNumber: true })),
    ],
    currencies.map((currency) => [
      html`<strong>${currency}</strong>`,
      cell(currency),
      ...statusNames.map((name) => cell(currency, name)),
    ]),
  )
}
