// The overview: the last hour, day or week at a glance. Orders and callbacks are told by when they were made, so that
// each is in one place only and a share is a share of something.
import { type OrderStatus, orderStatuses } from '@tillgate/protocol'
import { countedAtMost } from '../../../actions/operations.ts'
import type { CallbackCounts } from '../../../core/callbacks/store/callback-history.ts'
import type { Overview } from '../../../finance/overview/read-overview.ts'
import {
  amountOf,
  callbacksOf,
  countOf,
  currenciesOf,
  hasEnded,
  isPaid,
  ordersOf,
  successRate,
  type WindowName,
  windows,
} from '../../../finance/overview/rules/overview.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { empty, number, table, urlWith } from '../../kit/pages/tables.ts'
import { attention } from '../attention.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { overviewCharts } from '../overview-charts.ts'
import { status } from '../statuses.ts'
import { ago, amount, count, countUpTo, duration, exact, percent } from '../words.ts'
import { orderTable } from './orders.ts'

export const overviewPath = '/overview'
const defaultWindow: WindowName = 'day'
const recentOrders = 8
const windowNames = Object.keys(windows) as WindowName[]

export const overviewArea: readonly ConsoleRoute[] = [{ path: overviewPath, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query, nowMs, operations, context } = visit
  const window = windowNames.find((name) => name === query.get('last')) ?? defaultWindow
  const [overview, callbacks, recent] = await Promise.all([
    operations.readOverview(window),
    operations.countCallbacks(context, nowMs),
    operations.orders.listOrders(context, {}, { limit: recentOrders, before: undefined }),
  ])
  const currencies = currenciesOf(overview.tallies)
  const currency = currencies.find((each) => each === query.get('currency')) ?? currencies[0]
  return {
    title: 'Overview',
    area: 'overview',
    isLive: true,
    content: html`${await attention(visit, callbacks)}
${tabs(
  'How far back',
  window,
  windowNames.map((name) => [name, windows[name].label, urlWith(overviewPath, query, { last: name })]),
)}
${about(overview, nowMs)}
${tiles(overview, callbacks, nowMs)}
<h2>Over time</h2>
${
  currencies.length > 1 &&
  tabs(
    'Money in',
    currency,
    currencies.map((each) => [each, each, urlWith(overviewPath, query, { currency: each })]),
  )
}
<div class="charts">${overviewCharts(overview, currency)}</div>
<h2>Orders and money by status</h2>${byStatus(overview, currencies)}
${recent.orders.length > 0 && html`<h2>Recent orders</h2>${orderTable(recent.orders, nowMs)}<p class="acts"><a class="button" href="/orders">All orders</a></p>`}`,
  }
}

const upTo = (number: number): string => countUpTo(number, countedAtMost)

function tabs(
  label: string,
  current: string | undefined,
  choices: readonly (readonly [name: string, label: string, url: string])[],
): Html {
  return html`<nav class="tabs" aria-label="${label}"><ul>${choices.map(
    ([name, words, url]) =>
      html`<li><a href="${url}"${name === current && html` aria-current="true"`}>${words}</a></li>`,
  )}</ul></nav>`
}

function about({ points, countedAtMs, isComplete }: Overview, nowMs: number): Html {
  const sinceMs = points[0]?.startsAtMs ?? nowMs
  return html`<p class="quiet small">What was made since ${exact(sinceMs)}, and what has become of it.
${countedAtMs === undefined ? 'The last hours cannot be counted just now.' : html`Counted ${ago(countedAtMs, nowMs)}.`}
${!isComplete && html`<strong>Not every hour is counted yet:</strong> sums lack what has no figure below; it is being counted.`}</p>`
}

function tiles({ tallies }: Overview, callbacks: CallbackCounts, nowMs: number): Html {
  const all = countOf(ordersOf(tallies))
  const ended = countOf(ordersOf(tallies, hasEnded))
  const made = countOf(callbacksOf(tallies))
  const delivered = countOf(callbacksOf(tallies, 'delivered'))
  const tile = (name: string, value: Content, more: Content) =>
    html`<div><dt>${name}</dt><dd>${value} <span class="quiet small">${more}</span></dd></div>`
  const paid = ordersOf(tallies, isPaid)
  const [most, ...others] = currenciesOf(paid).map((currency) =>
    amount(amountOf(ordersOf(paid, (tally) => tally.currency === currency)), currency),
  )
  return html`<dl class="figures wide">
${tile('Orders', count(all), `${count(all - ended)} still open`)}
${tile('Success rate', percent(successRate(tallies)), ended > 0 ? `of ${count(ended)} that ended` : 'none has ended')}
${tile('Paid', most ?? '—', most === undefined ? 'nothing yet' : others.length > 0 && html`and ${others.map((each, index) => html`${index > 0 && ', '}${each}`)}`)}
${tile('Callbacks delivered', percent(made === 0 ? undefined : delivered / made), made === 0 ? 'none was due' : `of ${count(made)}`)}
${tile(
  'Callbacks waiting now',
  html`<a href="/callbacks?state=waiting">${upTo(callbacks.waiting)}</a>`,
  callbacks.oldestDueAtMs === undefined
    ? `none is late, ${upTo(callbacks.exhausted)} given up`
    : `${upTo(callbacks.due)} due, the oldest for ${duration(nowMs - callbacks.oldestDueAtMs)}; ${upTo(callbacks.exhausted)} given up`,
)}
</dl>`
}

const statusNames = Object.keys(orderStatuses) as OrderStatus[]

function byStatus({ tallies, isComplete }: Overview, currencies: readonly string[]): Html {
  if (currencies.length === 0 && !isComplete) return empty('Nothing is counted yet. Look again in a minute.')
  if (currencies.length === 0)
    return empty(
      html`No order was made in this time. Orders appear here as soon as a merchant creates one. <a href="/merchants">Merchants</a>`,
    )
  const cell = (currency: string, name?: OrderStatus): Content => {
    const wanted = ordersOf(
      tallies,
      (tally) => tally.currency === currency && (name === undefined || tally.state === name),
    )
    if (wanted.length === 0) return html`<span class="quiet">—</span>`
    const query = new URLSearchParams({ ...(name && { status: name }), currency })
    return html`<a href="/orders?${query.toString()}">${count(countOf(wanted))}</a><br>${amount(amountOf(wanted), currency)}`
  }
  return table(
    'Orders and their amounts by currency and status',
    ['Currency', number('All'), ...statusNames.map((name) => number(status(name)))],
    currencies.map((currency) => [
      html`<strong>${currency}</strong>`,
      cell(currency),
      ...statusNames.map((name) => cell(currency, name)),
    ]),
    { isMatrix: true },
  )
}
