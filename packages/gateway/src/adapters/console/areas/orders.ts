// The list of orders: filters in the address, pages by key, and the export of all matches.
import { paymentIdPattern } from '@tillgate/protocol'
import { seenStatuses } from '../../../core/orders/rules/order.ts'
import type { ListedOrder, OrderFilter } from '../../../core/orders/store/order-list.ts'
import { timeOfPaymentId } from '../../../platform/runtime/time-ordered-ids.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { maxAttachSought, readOrderFilters } from '../../kit/pages/order-filters.ts'
import { empty, noneFits, number, pages, table, urlWith } from '../../kit/pages/tables.ts'
import type { ConsolePage, ConsoleRoute, Download, Visit } from '../console.ts'
import { merchantField } from '../forms.ts'
import { orderStatus, wordOf } from '../statuses.ts'
import { suggestionsOf } from '../suggestions.ts'
import { savedViews } from '../views.ts'
import { ago, amount, exact } from '../words.ts'

const path = '/orders'
const perPage = 50
const dayMs = 86_400_000
// Safe: these are its own keys.

export const ordersArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: '/orders.csv', download },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query } = visit
  return {
    title: 'Orders',
    area: 'orders',
    isLive: !query.has('before'),
    beside: html`<a class="button" href="${urlWith('/orders.csv', query, { before: undefined })}" download>${icon('download')}Export CSV</a>`,
    content: html`${filterForm(visit)}${savedViews(visit, path)}${await list(visit)}`,
  }
}

async function list({ query, nowMs, operations, context }: Visit): Promise<Content> {
  const filter = filterOf(query)
  const before = query.get('before') ?? undefined
  const { orders, next } = await operations.orders.listOrders(context, filter, {
    limit: perPage,
    before: before !== undefined && paymentIdPattern.test(before) ? before : undefined,
  })
  if (orders.length === 0 && next === undefined)
    return empty(
      Object.values(filter).some((value) => value !== undefined)
        ? noneFits('order', path)
        : html`No orders yet. They appear here as soon as a merchant creates one. <a href="/merchants">Merchants</a>`,
    )
  return html`${
    orders.length > 0
      ? orderTable(orders, nowMs)
      : empty('No match among the orders searched so far. Older orders may match.')
  }
${orders.length < perPage && next !== undefined && html`<p class="quiet small">Searched orders back to ${exact(timeOfPaymentId(next))}. Choose “Older” to continue, or filter by date or merchant.</p>`}
${pages(path, query, { older: next })}
`
}

async function download({ query, nowMs, operations, context }: Visit): Promise<Download> {
  return {
    fileName: `orders-${new Date(nowMs).toISOString().slice(0, 10)}.csv`,
    type: 'text/csv; charset=utf-8',
    content: operations.orders.exportCsv(context, filterOf(query)),
  }
}

export function orderTable(orders: readonly ListedOrder[], nowMs: number): Html {
  return table(
    'Orders, newest first',
    ['Order number', number('Amount'), 'Status', 'Created', 'Merchant', 'Payment ID'],
    orders.map((order) => [
      html`<a class="wrap" href="/orders/${order.merchantId}/${order.paymentId}">${order.orderNo}</a>`,
      amount(order.paymentAmountMinor, order.currency),
      orderStatus(order),
      ago(order.createdAtMs, nowMs),
      html`<a href="/merchants/${order.merchantId}">${order.merchantName}</a>`,
      html`<code>${order.paymentId}</code>`,
    ]),
    { isTall: true, isList: true },
  )
}

const furtherFilters = ['least', 'most', 'method', 'attach']

function filterForm(visit: Visit): Html {
  const { query, nowMs } = visit
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return html`<form class="filters" action="${path}">
<label>Status<select name="status"><option value="">Any</option>${seenStatuses.map((name) => html`<option value="${name}"${query.get('status') === name && html` selected`}>${wordOf(name)}</option>`)}</select></label>
${merchantField(visit)}
<label>Currency<input name="currency" value="${query.get('currency')}" maxlength="3" placeholder="Any" autocapitalize="characters" autocomplete="off" spellcheck="false"${suggestionsOf('currencies')}></label>
<label>From (UTC)<input type="date" name="from" value="${query.get('from')}" max="${today}"></label>
<label>To (inclusive)<input type="date" name="to" value="${query.get('to')}" max="${today}"></label>
<button>Filter</button>
<details class="more"${furtherFilters.some((name) => query.get(name)) && html` open`}><summary>${icon('list-filter')}More filters</summary><div class="filters">
<label>Minimum amount<input name="least" value="${query.get('least')}" inputmode="decimal" maxlength="20" autocomplete="off"></label>
<label>Maximum amount<input name="most" value="${query.get('most')}" inputmode="decimal" maxlength="20" autocomplete="off"></label>
<label>Payment method<input name="method" value="${query.get('method')}" maxlength="32" placeholder="wallet or a rail" autocapitalize="none" autocomplete="off" spellcheck="false"></label>
<label class="wide">Merchant data (attach) starts with<input name="attach" value="${query.get('attach')}" maxlength="${maxAttachSought}" autocapitalize="none" autocomplete="off" spellcheck="false"></label>
</div></details>
</form>`
}

function filterOf(query: URLSearchParams): OrderFilter {
  const toMs = dayOf(query.get('to'))
  return {
    merchantId: query.get('merchant')?.trim() || undefined,
    status: seenStatuses.find((each) => each === query.get('status')),
    ...readOrderFilters(query),
    sinceMs: dayOf(query.get('from')),
    untilMs: toMs === undefined ? undefined : toMs + dayMs,
  }
}

export function dayOf(text: string | null): number | undefined {
  if (text === null || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const timeMs = Date.parse(text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}
