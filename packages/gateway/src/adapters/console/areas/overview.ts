// The overview of the last hour, day or week on one screen. Orders and callbacks count in the period in which they were
// created, so that each counts once and a rate has one base.
import { type OrderStatus, orderStatuses } from '@tillgate/protocol'
import { countedAtMost } from '../../../actions/operations.ts'
import type { CallbackCounts } from '../../../core/callbacks/store/callback-history.ts'
import type { ListedOrder } from '../../../core/orders/store/order-list.ts'
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
import { empty, emptyState, number, segments, table, urlWith } from '../../kit/pages/tables.ts'
import { attention } from '../attention.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { isQuiet, overviewCharts } from '../overview-charts.ts'
import { orderStatus, status } from '../statuses.ts'
import { ago, amount, count, countUpTo, duration, exact, percent } from '../words.ts'

export const overviewPath = '/overview'
const defaultWindow: WindowName = 'day'
const recentOrders = 6
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
    beside: html`<div class="acts">${
      currencies.length > 1 &&
      segments(
        'Currency',
        currency,
        currencies.map((each) => [each, each, urlWith(overviewPath, query, { currency: each })]),
      )
    }${segments(
      'Period',
      window,
      windowNames.map((name) => [name, windows[name].label, urlWith(overviewPath, query, { last: name })]),
    )}</div>`,
    content: html`${await attention(visit, callbacks)}
${tiles(overview, callbacks, nowMs)}
<div class="dashboard">${isQuiet(overview) ? quiet() : html`<div class="charts">${overviewCharts(overview, currency)}</div>`}
${recentList(recent.orders, nowMs)}</div>
<details class="fold behind" id="by-status"><summary>Orders and money by status <span class="quiet small">${about(overview, nowMs)}</span></summary><div>${byStatus(overview, currencies)}</div></details>`,
  }
}

function quiet(): Html {
  return emptyState('receipt-text', {
    heading: 'No orders in this period',
    text: 'Charts of orders, money, success, and callbacks start with the first order of a merchant.',
    next: html`<a class="button" href="/merchants">View merchants</a>`,
  })
}

function recentList(orders: readonly ListedOrder[], nowMs: number): Html | undefined {
  if (orders.length === 0) return undefined
  return html`<section class="card recent"><h2>Recent orders <a href="/orders">View all</a></h2><ul class="list">${orders.map(
    (order) =>
      html`<li><a href="/orders/${order.merchantId}/${order.paymentId}"><span><bdi>${order.orderNo}</bdi></span> ${amount(order.paymentAmountMinor, order.currency)}</a><div><span class="quiet small"><bdi>${order.merchantName}</bdi> · ${ago(order.createdAtMs, nowMs)}</span> ${orderStatus(order)}</div></li>`,
  )}</ul></section>`
}

const upTo = (number: number): string => countUpTo(number, countedAtMost)

function about({ points, countedAtMs, isComplete }: Overview, nowMs: number): Html {
  const sinceMs = points[0]?.startsAtMs ?? nowMs
  return html`Created since ${exact(sinceMs)}. ${countedAtMs === undefined ? 'The last hours cannot be counted at the moment.' : html`Counted ${ago(countedAtMs, nowMs)}.`}
${!isComplete && html`<strong>Not every hour is counted yet.</strong> Totals grow as the gateway counts the remaining hours.`}`
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
${tile('Orders', count(all), `${count(all - ended)} open`)}
${tile('Success rate', percent(successRate(tallies)), ended > 0 ? `of ${count(ended)} ended orders` : 'no ended orders')}
${tile('Paid', most ?? '—', most === undefined ? 'no payments' : others.length > 0 && html`${others.map((each, index) => html`${index > 0 && ', '}${each}`)}`)}
${tile('Callbacks delivered', percent(made === 0 ? undefined : delivered / made), made === 0 ? 'no callbacks' : `of ${count(made)}`)}
${tile(
  'Callbacks waiting',
  html`<a href="/callbacks?state=waiting">${upTo(callbacks.waiting)}</a>`,
  waitingNow(callbacks, nowMs),
)}
</dl>`
}

/** Callbacks to a destination that fails wait for their retry, which makes none of them late. */
function waitingNow(
  { oldestDueAtMs, due, failingDestinations, failingHosts, exhausted }: CallbackCounts,
  nowMs: number,
): string {
  const failing = failingDestinations + failingHosts
  const late =
    oldestDueAtMs === undefined ? undefined : `${upTo(due)} due, oldest ${duration(nowMs - oldestDueAtMs)}`
  const atFault =
    failing === 0 ? undefined : `${upTo(failing)} failing ${failing === 1 ? 'address' : 'addresses'}`
  const known = [late, atFault].filter((each) => each !== undefined).join('; ')
  const undelivered = exhausted > 0 ? `, ${upTo(exhausted)} undelivered` : ''
  return `${known || 'none late'}${undelivered}`
}

const statusNames = Object.keys(orderStatuses) as OrderStatus[]

function byStatus({ tallies, isComplete }: Overview, currencies: readonly string[]): Html {
  if (currencies.length === 0 && !isComplete) return empty('Nothing is counted yet. Reload in a minute.')
  if (currencies.length === 0)
    return empty(
      html`No orders in this period. Orders appear here as soon as a merchant creates one. <a href="/merchants">Merchants</a>`,
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
