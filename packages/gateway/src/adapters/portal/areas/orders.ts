// A shop's orders: found by any number, by status, and page by page; one order with everything that happened to it.
import { type OrderStatus, orderStatuses, paymentIdPattern } from '@tillgate/protocol'
import type { Refund } from '../../../core/orders/refunds/rules/refund.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import type { ListedOrder } from '../../../core/orders/store/order-list.ts'
import type { OrderDetails } from '../../../finance/overview/show-order.ts'
import { timeOfPaymentId } from '../../../platform/runtime/time-ordered-ids.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill, fillText } from '../../kit/languages/words.ts'
import {
  actLink,
  acts,
  ago,
  card,
  empty,
  facts,
  orderTabs,
  pages,
  shortId,
  status,
  tabs,
  time,
} from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'
import { callbackCards } from './callbacks.ts'

const perPage = 25
const maxSearchLength = 64
// Safe: these are its own keys.
const statuses = Object.keys(orderStatuses) as OrderStatus[]

export const ordersArea: readonly PortalRoute[] = [
  { path: '/orders', show: list },
  { path: '/orders/:paymentId', show },
]

async function list(visit: Visit): Promise<PortalPage> {
  const { words } = visit.language
  const sought = (visit.query.get('q') ?? '').trim().slice(0, maxSearchLength)
  const content = sought === '' ? await listed(visit) : await search(visit, sought)
  return {
    title: words.nav.orders,
    area: 'orders',
    content: html`${tabs(visit, orderTabs, 'orders')}${filters(visit, sought)}${content}`,
  }
}

function filters({ query, language: { words } }: Visit, sought: string): Html {
  const chosen = query.get('status')
  return html`<form class="filters" action="${pathTo('/orders')}">
<label>${words.orders.number}<input name="q" value="${sought}" maxlength="${maxSearchLength}" autocapitalize="none" spellcheck="false"></label>
<label>${words.common.status}<select name="status"><option value="">${words.common.all}</option>${statuses.map(
    (each) =>
      html`<option value="${each}"${each === chosen && html` selected`}>${words.status[each]}</option>`,
  )}</select></label>
<button>${words.common.filter}</button></form>`
}

async function listed(visit: Visit): Promise<Content> {
  const { query, operations, context, language } = visit
  const { words } = language
  const wanted = statuses.find((each) => each === query.get('status'))
  const before = query.get('before') ?? ''
  const { orders, next } = await operations.orders.listOrders(
    context,
    { merchantId: context.merchantId, status: wanted },
    { limit: perPage, before: paymentIdPattern.test(before) ? before : undefined },
  )
  if (orders.length === 0 && next === undefined)
    return empty(wanted === undefined ? words.orders.none : words.orders.noneFits)
  return html`${orderCards(visit, orders)}${
    orders.length < perPage &&
    next !== undefined &&
    html`<p class="quiet">${fill(words.orders.lookedTo, { time: time(timeOfPaymentId(next), language) })}</p>`
  }${pages(visit, { path: '/orders', older: next })}`
}

async function search(visit: Visit, sought: string): Promise<Content> {
  const found = await visit.operations.orders.search(visit.context, sought)
  return found.length === 0 ? empty(visit.language.words.orders.noneFits) : orderCards(visit, found)
}

export function orderCards(visit: Visit, orders: readonly ListedOrder[]): Html {
  const { language } = visit
  return html`<ul class="cards">${orders.map(
    (order) =>
      html`<li><a href="${pathTo('/orders/:paymentId', { paymentId: order.paymentId })}"><span class="main"><bdi>${order.orderNo}</bdi>${language.formats.money(order.paymentAmountMinor, order.currency)}</span><span class="rest">${status(order.status, language)}<span class="quiet">${ago(order.createdAtMs, visit)}</span></span></a></li>`,
  )}</ul>`
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
  const leftMinor = order.paymentAmountMinor - order.refundedMinor - order.refundHeldMinor
  return {
    title: fillText(words.orders.order, { number: order.orderNo }),
    area: 'orders',
    content: html`<p class="figure">${formats.money(order.paymentAmountMinor, order.currency)} ${status(order.status, language)}</p>
${acts(
  order.status === 'success' && leftMinor > 0n && actLink(visit, 'refund', { paymentId }),
  order.status === 'pending' && actLink(visit, 'cancel', { paymentId }),
)}
${card(words.orders.order.replace('{number}', ''), factsOf(visit, order, leftMinor))}
${card(words.orders.timeline, timeline(visit, found))}
${refunds.length > 0 && card(words.orders.refunds, refundList(visit, refunds))}
${
  callbacks.length > 0 &&
  html`<h2>${words.orders.callbacks}</h2>${callbackCards(
    visit,
    callbacks.map(({ callback }) => callback),
  )}`
}`,
  }
}

function factsOf({ language }: Visit, order: Order, leftMinor: bigint): Html {
  const { words, formats } = language
  const { orders } = words
  const { currency } = order
  return facts([
    [orders.paymentId, html`<code>${order.paymentId}</code>`],
    [orders.orderNo, html`<bdi>${order.orderNo}</bdi>`],
    order.transactionId !== undefined && [orders.transactionId, html`<code>${order.transactionId}</code>`],
    [orders.created, time(order.createdAtMs, language)],
    order.status === 'pending' && [orders.expires, time(order.expiresAtMs, language)],
    order.completedAtMs !== undefined && [orders.completed, time(order.completedAtMs, language)],
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
  return html`<ol class="timeline"><li>${status('pending', language)} ${time(order.createdAtMs, language)}</li>${changes.map(
    ({ to, actor, changedAtMs }) =>
      html`<li>${status(to, language)} ${time(changedAtMs, language)} <span class="quiet">${actorOf(actor)}</span></li>`,
  )}</ol>`
}

function refundList({ language }: Visit, refunds: readonly Refund[]): Html {
  return html`<ul class="plain">${refunds.map(
    (each) =>
      html`<li>${language.formats.money(each.amountMinor, each.currency)} ${status(each.status, language)} <span class="quiet">${time(each.createdAtMs, language)}</span> ${shortId(each.referRefundNo)}</li>`,
  )}</ul>`
}
