// The search in the header: orders, payouts and runs by ID or reference, merchants, wallets, rails, callbacks and
// requests.
import { uuidPattern } from '@tillgate/protocol'
import { type Content, type Html, html } from '../../kit/html.ts'
import { empty } from '../../kit/pages/tables.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { findPath, maxSearchLength } from '../search.ts'
import { orderTable } from './orders.ts'
import { requestsPath } from './requests.ts'

const maxWallets = 10

export const findArea: readonly ConsoleRoute[] = [{ path: findPath, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const sought = (visit.query.get('q') ?? '').trim().slice(0, maxSearchLength)
  const parts = sought === '' ? [] : (await search(sought, visit)).filter((part) => part !== undefined)
  return {
    title: sought === '' ? 'Search' : `Search: ${sought}`,
    area: undefined,
    content:
      parts.length > 0
        ? parts
        : empty(
            html`No results for “${sought}”. Search for orders by order number, ID (or its beginning), attach, bank reference or payer; for payouts and payout runs by ID or reference; for merchants by name, ID or contact; for wallets by name or login; for rails by name; for callbacks and requests by ID.`,
          ),
  }
}

async function search(sought: string, visit: Visit): Promise<(Html | undefined)[]> {
  const { nowMs, operations, context } = visit
  const word = sought.toLowerCase()
  const [orders, merchants, wallets, rails, callback, requests, books] = await Promise.all([
    operations.orders.search(context, sought),
    operations.orders.searchMerchants(context, sought),
    operations.wallets.listWallets(context, sought, maxWallets),
    operations.rails.listRails(context),
    uuidPattern.test(word) ? operations.findCallback(context, word) : undefined,
    operations.listRequests(
      context,
      { requestId: sought, merchantId: undefined },
      { limit: 1, before: undefined },
    ),
    operations.searchBooks(context, sought),
  ])
  const named = rails.filter(({ railId, name }) => railId === word || name.toLowerCase().includes(word))
  return [
    orders.length > 0 ? html`<h2>Orders</h2>${orderTable(orders, nowMs)}` : undefined,
    list(
      'Orders by reference or payer',
      books.orders,
      ({ merchantId, paymentId, text }) =>
        html`<a href="/orders/${merchantId}/${paymentId}"><code>${paymentId}</code></a> ${text}`,
    ),
    list(
      'Payouts',
      books.payouts,
      ({ merchantId, payoutId, reference }) =>
        html`<a href="/merchants/${merchantId}/payouts/${payoutId}"><code>${payoutId}</code></a> ${reference}`,
    ),
    list(
      'Payout runs',
      books.runs,
      ({ runId, reference }) => html`<a href="/payouts/${runId}"><code>${runId}</code></a> ${reference}`,
    ),
    list('Merchants', merchants, ({ merchantId, name }) => [
      html`<a href="/merchants/${merchantId}">${name}</a> <code>${merchantId}</code> · <a href="/orders?merchant=${merchantId}">Orders</a>`,
    ]),
    list(
      'Merchants by contact',
      books.contacts,
      ({ merchantId, name, text }) => html`<a href="/merchants/${merchantId}">${name}</a> ${text}`,
    ),
    list(
      'Wallets',
      wallets,
      ({ walletId, name, login }) => html`<a href="/wallets/${walletId}">${name}</a> ${login}`,
    ),
    list(
      'Rails',
      named,
      ({ railId, name }) => html`<a href="/rails/${railId}">${name}</a> <code>${railId}</code>`,
    ),
    list(
      'Callbacks',
      callback ? [callback.callback] : [],
      ({ callbackId, eventName }) =>
        html`<a href="/callbacks/${callbackId}">${eventName}</a> <code>${callbackId}</code>`,
    ),
    list(
      'Requests',
      requests,
      ({ requestId, code }) => html`<a href="${requestsPath}?id=${requestId}">${requestId}</a> ${code}`,
    ),
  ]
}

function list<Item>(title: string, items: readonly Item[], write: (item: Item) => Content): Html | undefined {
  return items.length === 0
    ? undefined
    : html`<h2>${title}</h2><ul>${items.map((item) => html`<li>${write(item)}</li>`)}</ul>`
}
