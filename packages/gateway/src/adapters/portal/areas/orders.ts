// A shop's orders: search by any number, filter by status, page by page; and one order with its history.

import { paymentIdPattern } from '@tillgate/protocol'
import { walletRailId } from '../../../core/orders/payments/rules/rail.ts'
import type { Refund } from '../../../core/orders/refunds/rules/refund.ts'
import { refundableMinor } from '../../../core/orders/refunds/rules/refund.ts'
import { isHeld, type Order, seenStatuses } from '../../../core/orders/rules/order.ts'
import type { ListedOrder, OrderFilter } from '../../../core/orders/store/order-list.ts'
import type { OrderDetails } from '../../../finance/overview/show-order.ts'
import { timeOfPaymentId } from '../../../platform/runtime/time-ordered-ids.ts'
import { readSummary } from '../../checkout/pages/summary.ts'
import { csvType } from '../../kit/downloads.ts'
import { carried } from '../../kit/forms/refused-form.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { fill, fillText } from '../../kit/languages/words.ts'
import { maxAttachSought, otherMethods, readOrderFilters } from '../../kit/pages/order-filters.ts'
import { filterPart, maxViews, viewBar, withView } from '../../kit/pages/saved-views.ts'
import { shownStatus } from '../../kit/pages/status.ts'
import { empty, facts, table, urlWith } from '../../kit/pages/tables.ts'
import type { Language } from '../languages.ts'
import { actLink, acts, ago, card, orderTabs, pages, shortId, status, tabs, time } from '../parts.ts'
import { type Done, type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'
import type { Words } from '../words.ts'
import { authorizationFacts, captureList } from './authorization.ts'
import { callbackTable, indented } from './callbacks.ts'
import { dayOf } from './money.ts'
import { methodOf, type RailNames, railNamesOf } from './payment-method.ts'

const perPage = 50
const dayMs = 86_400_000
const maxSearchLength = 64
// Safe: these are its own keys.

const viewsPath = '/orders/views'
const viewList = 'merchant-orders'

export const ordersArea: readonly PortalRoute[] = [
  { path: '/orders', show: list },
  { path: '/orders.csv', download },
  { path: viewsPath, page: '/orders', fields: [], act: changeViews },
  { path: '/orders/:paymentId', show },
]

async function list(visit: Visit): Promise<PortalPage> {
  const { words } = visit.language
  const sought = (visit.query.get('q') ?? '').trim().slice(0, maxSearchLength)
  const content = sought === '' ? await listed(visit) : await search(visit, sought)
  return {
    title: words.nav.orders,
    docs: '/docs/api',
    area: 'orders',
    beside: html`<a class="button" href="${urlWith(`${pathTo('/orders')}.csv`, visit.query, { before: undefined, q: undefined })}" download>${icon('download')}${words.money.download}</a>`,
    content: html`${tabs(visit, orderTabs, 'orders')}${filters(visit, sought)}${savedViews(visit)}${content}`,
  }
}

function filters({ query, nowMs, language: { words } }: Visit, sought: string): Html {
  const chosen = query.get('status')
  const today = new Date(nowMs).toISOString().slice(0, 10)
  const path = pathTo('/orders')
  const chip = (status: string | undefined, label: string) =>
    html`<li><a href="${urlWith(path, query, { status, before: undefined })}"${(chosen ?? '') === (status ?? '') && html` aria-current="true"`}>${label}</a></li>`
  return html`<ul class="chips">${chip(undefined, words.common.all)}${seenStatuses.map((each) => chip(each, words.status[each]))}</ul>
<form class="filters" action="${path}">${chosen !== null && html`<input type="hidden" name="status" value="${chosen}">`}
<label class="wide">${words.orders.number}<input type="search" name="q" value="${sought}" maxlength="${maxSearchLength}" autocapitalize="none" autocomplete="off" spellcheck="false"></label>
<label>${words.money.from}<input type="date" name="from" value="${query.get('from')}" max="${today}"></label>
<label>${words.money.to}<input type="date" name="to" value="${query.get('to')}" max="${today}"></label>
<button>${words.common.filter}</button>
${moreFilters(query, words.orders)}</form>`
}

function savedViews(visit: Visit): Html | undefined {
  const { views } = visit.language.words
  return viewBar(visit.savedViews.of(viewList), {
    path: pathTo('/orders'),
    query: visit.query,
    action: pathTo(viewsPath),
    hidden: carried(visit),
    words: { ...views, remove: (name) => fillText(views.remove, { name }) },
  })
}

async function changeViews(visit: Visit, form: URLSearchParams): Promise<Done> {
  const { views: words } = visit.language.words
  const views = visit.savedViews.of(viewList)
  const removed = form.get('remove')
  if (removed !== null)
    return {
      kind: 'go',
      to: pathTo('/orders'),
      flash: words.removed,
      cookies: [
        visit.savedViews.cookie(
          viewList,
          views.filter(({ name }) => name !== removed),
        ),
      ],
    }
  const query = filterPart(new URLSearchParams(form.get('query') ?? ''))
  const next = withView(views, { name: form.get('name')?.trim() ?? '', query })
  if (!next)
    return {
      kind: 'refused',
      errors: [{ field: undefined, message: fillText(words.full, { count: String(maxViews) }) }],
    }
  return {
    kind: 'go',
    to: `${pathTo('/orders')}?${query}`,
    flash: words.done,
    cookies: [visit.savedViews.cookie(viewList, next)],
  }
}

const furtherFilters = ['least', 'most', 'currency', 'method', 'attach']

/** Open if one of these filters is in use. */
function moreFilters(query: URLSearchParams, words: Words['orders']): Html {
  const method = query.get('method')
  const methods = [
    [walletRailId, words.wallet],
    [otherMethods, words.otherMethods],
  ] as const
  return html`<details class="more"${furtherFilters.some((name) => query.get(name)) && html` open`}><summary>${icon('list-filter')}${words.moreFilters}</summary><div class="filters">
<label>${words.least}<input name="least" value="${query.get('least')}" inputmode="decimal" maxlength="20" autocomplete="off"></label>
<label>${words.most}<input name="most" value="${query.get('most')}" inputmode="decimal" maxlength="20" autocomplete="off"></label>
<label>${words.currency}<input name="currency" value="${query.get('currency')}" maxlength="3" autocapitalize="characters" autocomplete="off" spellcheck="false"></label>
<label>${words.method}<select name="method"><option value=""></option>${methods.map(([name, label]) => html`<option value="${name}"${name === method && html` selected`}>${label}</option>`)}</select></label>
<label class="wide">${words.attachBegins}<input name="attach" value="${query.get('attach')}" maxlength="${maxAttachSought}" autocapitalize="none" autocomplete="off" spellcheck="false"></label>
</div></details>`
}

/** Filters are in the address, so that it can be saved and shared. */
function filterOf({ query, context }: Visit): OrderFilter {
  const toMs = dayOf(query.get('to'))
  return {
    merchantId: context.merchantId,
    status: seenStatuses.find((each) => each === query.get('status')),
    ...readOrderFilters(query),
    sinceMs: dayOf(query.get('from')),
    untilMs: toMs === undefined ? undefined : toMs + dayMs,
  }
}

async function download(visit: Visit) {
  return {
    fileName: `orders-${new Date(visit.nowMs).toISOString().slice(0, 10)}.csv`,
    type: csvType,
    content: visit.operations.orders.exportCsv(visit.context, filterOf(visit)),
  }
}

async function listed(visit: Visit): Promise<Content> {
  const { query, operations, context, language } = visit
  const { words } = language
  const before = query.get('before') ?? ''
  const filter = filterOf(visit)
  const { orders, next } = await operations.orders.listOrders(context, filter, {
    limit: perPage,
    before: paymentIdPattern.test(before) ? before : undefined,
  })
  if (orders.length === 0 && next === undefined) {
    const { merchantId: _own, ...chosen } = filter
    const isFiltered = Object.values(chosen).some((each) => each !== undefined)
    return empty(isFiltered ? words.orders.noneFits : words.orders.none)
  }
  return html`${await orderTable(visit, orders)}${
    orders.length < perPage &&
    next !== undefined &&
    html`<p class="quiet">${fill(words.orders.lookedTo, { time: time(timeOfPaymentId(next), language) })}</p>`
  }${pages(visit, { path: '/orders', older: next })}`
}

async function search(visit: Visit, sought: string): Promise<Content> {
  const found = await visit.operations.orders.search(visit.context, sought)
  return found.length === 0 ? empty(visit.language.words.orders.noneFits) : orderTable(visit, found)
}

type Row = Pick<
  ListedOrder,
  | 'paymentId'
  | 'orderNo'
  | 'paymentAmountMinor'
  | 'refundedMinor'
  | 'currency'
  | 'status'
  | 'createdAtMs'
  | 'title'
  | 'moreGoods'
  | 'customer'
  | 'railId'
  | 'isByWallet'
  | 'isHeld'
  | 'linkId'
>

/** A complete order as a row of a list. */
export function rowOf(order: Order): Row {
  const { orderDescription, goods, shipping } = readSummary(order.content)
  return {
    ...order,
    title: orderDescription ?? goods[0]?.goodsName,
    moreGoods: orderDescription === undefined ? goods.length - 1 : 0,
    customer: shipping?.name,
    isByWallet: order.walletId !== undefined,
    isHeld: isHeld(order),
    linkId: order.link?.linkId,
  }
}

/** The first four cells are all that a phone shows. */
export async function orderTable(visit: Visit, orders: readonly Row[]): Promise<Html> {
  const { words, formats } = visit.language
  const railNames = await railNamesOf(visit, orders)
  return table(
    words.nav.orders,
    [
      words.orders.orderNo,
      { head: words.orders.amount, isNumber: true },
      words.orders.description,
      words.common.status,
      words.orders.customer,
      words.orders.method,
      words.orders.created,
    ],
    orders.map((order) => [
      html`<a href="${pathTo('/orders/:paymentId', { paymentId: order.paymentId })}"><bdi>${numberOf(visit, order)}</bdi></a>`,
      formats.money(order.paymentAmountMinor, order.currency),
      order.title === undefined
        ? '—'
        : html`<bdi class="clip" title="${order.title}">${titleOf(order)}</bdi>`,
      status(shownStatus(order), visit.language),
      order.customer === undefined
        ? '—'
        : html`<bdi class="clip" title="${order.customer}">${order.customer}</bdi>`,
      methodOf(words, order, railNames) ?? '—',
      ago(order.createdAtMs, visit),
    ]),
    { isTall: true, isList: true },
  )
}

/** The number of a link's order is long and made by the gateway, so its end is enough to tell two orders apart. */
function numberOf({ language: { words } }: Visit, { linkId, orderNo }: Row): Content {
  return linkId === undefined
    ? orderNo
    : html`<span title="${orderNo}">${words.orders.byLink} …${orderNo.slice(-6)}</span>`
}

/** "Green tea +2": the description, or the first goods and how many more. */
function titleOf({ title, moreGoods }: Row): string {
  return moreGoods > 0 ? `${title} +${moreGoods}` : (title ?? '')
}

async function show(visit: Visit): Promise<PortalPage | undefined> {
  const { operations, context, language, params } = visit
  const { words, formats } = language
  const { paymentId = '' } = params
  const found = paymentIdPattern.test(paymentId)
    ? await operations.showOrder(context, { merchantId: context.merchantId, paymentId })
    : undefined
  if (!found) return undefined
  const { order, refunds, callbacks } = found
  const leftMinor = refundableMinor(order)
  return {
    title: order.link
      ? (readSummary(order.content).orderDescription ?? words.orders.byLink)
      : fillText(words.orders.order, { number: order.orderNo }),
    area: 'orders',
    beside: acts(
      order.status === 'success' && leftMinor > 0n && actLink(visit, 'refund', { paymentId }),
      isHeld(order) && actLink(visit, 'capture', { paymentId }),
      isHeld(order) && actLink(visit, 'release', { paymentId }),
      order.status === 'pending' && actLink(visit, 'cancel', { paymentId }),
    ),
    content: html`<p class="figure">${formats.money(order.paymentAmountMinor, order.currency)} ${status(shownStatus({ ...order, isHeld: isHeld(order) }), language)}</p>
<div class="grid"><div>
${card(words.orders.details, factsOf(visit, order, { leftMinor, railNames: await railNamesOf(visit, [order]) }))}
${goods(visit, order)}
</div><div>
${card(words.orders.timeline, timeline(visit, found))}
${found.captures.length > 0 && card(words.orders.captures, captureList(visit, found))}
${refunds.length > 0 && card(words.orders.refunds, refundList(visit, refunds))}
${delivery(language, order)}
</div></div>
${
  callbacks.length > 0 &&
  html`<h2>${words.orders.callbacks}</h2>${callbackTable(
    visit,
    callbacks.map(({ callback }) => callback),
  )}`
}
${json(words.orders.content, order.content)}
${callbacks.map(({ callback: { body, eventName } }) => body !== undefined && json(fillText(words.orders.callbackBody, { event: eventName }), body))}`,
  }
}

/** What was sent, for developers. */
function json(summary: string, body: string): Html {
  return html`<details class="fold"><summary>${summary}</summary><div><pre tabindex="0" lang="en">${indented(body)}</pre></div></details>`
}

function goods({ language }: Visit, order: Order): Html {
  const { words, formats } = language
  const content = readSummary(order.content)
  return html`<h2>${words.orders.goods}</h2>${table(
    words.orders.goods,
    [
      words.orders.goods,
      { head: words.orders.quantity, isNumber: true },
      { head: words.orders.each, isNumber: true },
    ],
    content.goods.map((good) => [
      html`<span class="wrap">${good.goodsName}${good.goodsDesc !== undefined && html`<br><span class="quiet">${good.goodsDesc}</span>`}</span>`,
      formats.number(good.goodsQuantity),
      good.goodsAmountMinor === undefined
        ? '—'
        : formats.money(BigInt(good.goodsAmountMinor), order.currency),
    ]),
    { isMatrix: true },
  )}`
}

function delivery({ words }: Language, order: Order): Html | undefined {
  const { shipping } = readSummary(order.content)
  return (
    shipping &&
    card(
      words.orders.delivery,
      html`<p class="wrap">${shipping.name}${shipping.address !== undefined && html`<br><span class="quiet pre-line">${shipping.address}</span>`}</p>`,
    )
  )
}

function factsOf(
  { language }: Visit,
  order: Order,
  { leftMinor, railNames }: { leftMinor: bigint; railNames: RailNames },
): Html {
  const { words, formats } = language
  const { orders } = words
  const { currency, link } = order
  const { orderDescription, shipping } = readSummary(order.content)
  return facts([
    orderDescription !== undefined && [
      orders.description,
      html`<span class="wrap pre-line">${orderDescription}</span>`,
    ],
    shipping !== undefined && shipping.name !== '' && [orders.customer, html`<bdi>${shipping.name}</bdi>`],
    link !== undefined && [
      orders.byLink,
      html`<a href="${pathTo('/links/:linkId', { linkId: link.linkId })}"><code>${link.linkId}</code></a>`,
    ],
    [orders.paymentId, html`<code>${order.paymentId}</code>`],
    [orders.orderNo, html`<bdi>${order.orderNo}</bdi>`],
    order.transactionId !== undefined && [orders.transactionId, html`<code>${order.transactionId}</code>`],
    [orders.created, time(order.createdAtMs, language)],
    order.status === 'pending' && [orders.expires, time(order.expiresAtMs, language)],
    order.completedAtMs !== undefined && [orders.completed, time(order.completedAtMs, language)],
    order.completedAtMs !== undefined &&
      (order.walletId ?? order.railId) !== undefined && [
        orders.method,
        methodOf(
          language.words,
          { isByWallet: order.walletId !== undefined, railId: order.railId },
          railNames,
        ),
      ],
    ...authorizationFacts(language, order),
    order.fee && [orders.fee, formats.money(order.fee.amountMinor, currency)],
    order.status === 'success' &&
      order.fee && [orders.net, formats.money(order.paymentAmountMinor - order.fee.amountMinor, currency)],
    order.refundedMinor > 0n && [orders.refunded, formats.money(order.refundedMinor, currency)],
    order.status === 'success' && [orders.left, formats.money(leftMinor, currency)],
    order.message !== undefined && [orders.message, html`<bdi>${order.message}</bdi>`],
    order.attach !== undefined && [orders.attach, html`<span class="wrap">${order.attach}</span>`],
    [orders.callbackUrl, html`<span class="wrap">${order.callbackUrl || orders.noCallback}</span>`],
  ])
}

function timeline({ language }: Visit, { order, changes }: OrderDetails): Html {
  const { words } = language
  const actorOf = (actor: string) =>
    Object.hasOwn(words.actors, actor) ? words.actors[actor as keyof typeof words.actors] : actor
  return html`<ol class="timeline"><li>${status('pending', language)}<p>${time(order.createdAtMs, language)}</p></li>${changes.map(
    ({ to, actor, changedAtMs }) =>
      html`<li>${status(to, language)}<p>${time(changedAtMs, language)} · ${actorOf(actor)}</p></li>`,
  )}</ol>`
}

function refundList({ language }: Visit, refunds: readonly Refund[]): Html {
  return html`<ul class="list">${refunds.map(
    (each) =>
      html`<li><strong>${language.formats.money(each.amountMinor, each.currency)}</strong> ${status(each.status, language)}<br><span class="quiet small">${time(each.createdAtMs, language)} · ${shortId(each.referRefundNo)}${(each.message ?? each.reason) !== undefined && html` · <span class="wrap">${each.message ?? each.reason}</span>`}</span></li>`,
  )}</ul>`
}
