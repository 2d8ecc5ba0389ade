// The search that stands on every page: orders by any of their numbers, merchants, wallets, rails, callbacks and requests.
import { uuidPattern } from '@tillgate/protocol'
import { type Content, type Html, html } from '../../kit/html.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { findPath, maxSearchLength } from '../search.ts'
import { empty } from '../tables.ts'
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
            html`Nothing is called “${sought}”. The search knows whole numbers: paymentId, orderNo, transactionId, refundId, referRefundNo, callback id, requestId; orders by how their attach begins; merchants and rails by number or part of the name; and wallets by number, or how login, name or last name begin.`,
          ),
  }
}

async function search(sought: string, visit: Visit): Promise<(Html | undefined)[]> {
  const { nowMs, operations, context } = visit
  const [orders, merchants, wallets, rails, callback, requests] = await Promise.all([
    operations.orders.search(context, sought),
    operations.orders.searchMerchants(context, sought),
    operations.wallets.listWallets(context, sought, maxWallets),
    operations.rails.listRails(context),
    uuidPattern.test(sought) ? operations.findCallback(context, sought) : undefined,
    operations.listRequests(
      context,
      { requestId: sought, merchantId: undefined },
      { limit: 1, before: undefined },
    ),
  ])
  const word = sought.toLowerCase()
  const named = rails.filter(({ railId, name }) => railId === word || name.toLowerCase().includes(word))
  return [
    orders.length > 0 ? html`<h2>Orders</h2>${orderTable(orders, nowMs)}` : undefined,
    list('Merchants', merchants, ({ merchantId, name }) => [
      html`<a href="/merchants/${merchantId}">${name}</a> <code>${merchantId}</code> · <a href="/orders?merchant=${merchantId}">its orders</a>`,
    ]),
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
