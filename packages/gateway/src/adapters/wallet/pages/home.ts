// What is in the wallet, what came and went, and a receipt of each.

import { postedMinor } from '../../../core/ledger/rules/transfer.ts'
import { placeOf, writtenPlace } from '../../../core/ledger/rules/transfer-place.ts'
import type { HistoryEntry } from '../../../core/wallets/store/history.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { card } from '../frame.ts'
import { prefix, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'

const recent = 5
const entriesPerPage = 20

export const homeRoutes: readonly WalletRoute[] = [
  { path: '', show: home },
  { path: '/history', show: history },
  { path: '/history/:key', show: receipt },
]

async function home(visit: Visit): Promise<WalletPage> {
  const { wallet, words, service, language } = visit
  const balances = (await service.listBalances(wallet.walletId)).filter(
    (each) => postedMinor(each) > 0n || each.debitsPendingMinor > 0n,
  )
  const entries = await service.history.list(wallet.walletId, { limit: recent })
  const { formats } = language
  return {
    title: words.nav.home,
    at: 'home',
    content: html`<section class="card pane balances"><h1>${fill(words.home.hello, { name: html`<bdi>${wallet.name}</bdi>` })}</h1>
<p class="label">${words.home.balance}</p>
${
  balances.length === 0
    ? html`<p>${words.home.empty}</p>`
    : balances.map(
        (each) => html`<p class="balance">${formats.moneyParts(postedMinor(each), each.currency)}</p>
${each.debitsPendingMinor > 0n && html`<p class="quiet small">${fill(words.home.held, { amount: formats.money(each.debitsPendingMinor, each.currency) })}</p>`}`,
      )
}
<p class="ways"><a class="button primary" href="${prefix}/top-up">${words.nav.topUp}</a> <a class="button" href="${prefix}/withdraw">${words.nav.withdraw}</a></p></section>
${
  entries.length > 0 &&
  html`<section class="card pane"><h2>${words.home.recent}</h2>${list(visit, entries)}
<p><a href="${prefix}/history">${words.home.all}</a></p></section>`
}`,
  }
}

async function history(visit: Visit): Promise<WalletPage> {
  const { wallet, words, service, query } = visit
  const before = placeOf(query.get('before') ?? '')
  const found = await service.history.list(wallet.walletId, { before, limit: entriesPerPage + 1 })
  const entries = found.slice(0, entriesPerPage)
  const last = found.length > entriesPerPage ? entries.at(-1) : undefined
  return {
    title: words.history.heading,
    at: 'history',
    content: card(
      words.history.heading,
      html`${entries.length === 0 ? html`<p>${words.history.none}</p>` : list(visit, entries)}
${
  (last || before) &&
  html`<p class="pages">${before && html`<a href="${prefix}/history">${words.history.newest}</a>`} ${last && html`<a rel="next" href="${prefix}/history?before=${writtenPlace(last)}">${words.history.older}</a>`}</p>`
}`,
    ),
  }
}

async function receipt(visit: Visit): Promise<WalletPage | undefined> {
  const { wallet, words, service, params, language } = visit
  const key = placeOf(params['key'] ?? '')
  const entry = key && (await service.history.find(wallet.walletId, key))
  if (!entry) return undefined
  const { formats } = language
  const { receipt: said } = words
  const rows: readonly (readonly [string, Content])[] = [
    [said.amount, formats.money(entry.amountMinor, entry.currency)],
    [said.time, timeOf(entry.madeAtMs, visit)],
    [said.merchant, entry.merchantName && html`<bdi>${entry.merchantName}</bdi>`],
    [said.orderNo, entry.orderNo && html`<bdi>${entry.orderNo}</bdi>`],
    [said.payment, entry.paymentId && html`<code>${entry.paymentId}</code>`],
    [said.transaction, html`<code>${entry.transactionId}</code>`],
  ]
  return {
    title: said.heading,
    at: 'history',
    content: card(
      html`${said.heading}: ${nameOf(visit, entry)}`,
      html`<dl class="facts">${rows
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<p class="quiet small screen">${said.print}</p>
<p class="screen"><a href="${prefix}/history">${said.back}</a></p>`,
    ),
  }
}

function list(visit: Visit, entries: readonly HistoryEntry[]): Html {
  const { formats } = visit.language
  return html`<ul class="entries">${entries.map(
    (entry) =>
      html`<li><a href="${prefix}/history/${writtenPlace(entry)}"><span>${nameOf(visit, entry)}<small class="quiet">${timeOf(entry.madeAtMs, visit)}</small></span>${entry.amountMinor > 0n ? html`<span class="good">+${formats.money(entry.amountMinor, entry.currency)}</span>` : formats.money(entry.amountMinor, entry.currency)}</a></li>`,
  )}</ul>`
}

function nameOf({ words: { history: said } }: Visit, { kind, merchantName }: HistoryEntry): Content {
  const merchant = html`<bdi>${merchantName}</bdi>`
  switch (kind) {
    case 'payment':
      return fill(said.payment, { merchant })
    case 'refund':
      return fill(said.refund, { merchant })
    case 'top_up':
    case 'top_up_credit':
      return said.topUp
    case 'payout':
      return said.withdrawal
    case 'payout_return':
      return said.withdrawalReturned
    default:
      return said.correction
  }
}

function timeOf(timeMs: number, { language }: Visit): Html {
  return html`<time datetime="${new Date(timeMs).toISOString()}">${language.formats.time(timeMs)}</time>`
}
