// The wallet's balances, its history, and a receipt for each entry.

import { availableMinor, postedMinor } from '../../../core/ledger/rules/transfer.ts'
import { placeOf, writtenPlace } from '../../../core/ledger/rules/transfer-place.ts'
import type { HistoryEntry } from '../../../core/wallets/store/history.ts'
import { languages } from '../../checkout/languages.ts'
import { icon } from '../../checkout/pages/icons.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { writePdf } from '../../kit/pdf/write-pdf.ts'
import { card } from '../frame.ts'
import { wordsOf } from '../languages.ts'
import { prefix, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'
import type { Words } from '../words.ts'

const recent = 5
const entriesPerPage = 20
const withdrawalsLooked = 10

export const homeRoutes: readonly WalletRoute[] = [
  { path: '', show: home },
  { path: '/history', show: history },
  { path: '/history/:key', show: receipt },
  { path: '/history/:key/receipt.pdf', download: receiptFile },
]

async function home(visit: Visit): Promise<WalletPage> {
  const { wallet, words, operations, language } = visit
  const balances = (await operations.listBalances(wallet.walletId)).filter(
    (each) => postedMinor(each) > 0n || each.debitsPendingMinor > 0n,
  )
  const entries = await operations.listWalletHistory(wallet.walletId, { limit: recent })
  const pending = await pendingList(visit)
  const { formats } = language
  return {
    title: words.nav.home,
    at: 'home',
    content: html`<section class="card pane balances"><h1>${fill(words.home.hello, { name: html`<bdi>${wallet.name}</bdi>` })}</h1>
<p class="label">${words.home.available}</p>
${
  balances.length === 0
    ? html`<p>${words.home.empty}</p>`
    : balances.map(
        (each) => html`<p class="balance">${formats.money(availableMinor(each), each.currency)}</p>
${each.debitsPendingMinor > 0n && html`<p class="quiet small">${fill(words.home.held, { amount: formats.money(each.debitsPendingMinor, each.currency) })}</p>`}`,
      )
}
<p class="ways"><a class="button primary" href="${prefix}/top-up">${words.nav.topUp}</a> <a class="button" href="${prefix}/withdraw">${words.nav.withdraw}</a></p></section>
${
  (entries.length > 0 || pending) &&
  html`<section class="card pane"><h2>${words.home.recent}</h2>${pending}${entries.length > 0 && list(visit, entries)}
<p><a href="${prefix}/history">${words.home.all}</a></p></section>`
}`,
  }
}

async function history(visit: Visit): Promise<WalletPage> {
  const { wallet, words, operations, query } = visit
  const before = placeOf(query.get('before') ?? '')
  const found = await operations.listWalletHistory(wallet.walletId, { before, limit: entriesPerPage + 1 })
  const entries = found.slice(0, entriesPerPage)
  const pending = before ? undefined : await pendingList(visit)
  const last = found.length > entriesPerPage ? entries.at(-1) : undefined
  return {
    title: words.history.heading,
    at: 'history',
    content: card(
      words.history.heading,
      html`${pending}${entries.length > 0 ? list(visit, entries) : !pending && html`<p>${words.history.none}</p>`}
${
  (last || before) &&
  html`<p class="pages">${before && html`<a href="${prefix}/history">${words.history.newest}</a>`} ${last && html`<a rel="next" href="${prefix}/history?before=${writtenPlace(last)}">${words.history.older}</a>`}</p>`
}`,
    ),
  }
}

async function receipt(visit: Visit): Promise<WalletPage | undefined> {
  const { words, params } = visit
  const entry = await findEntry(visit)
  if (!entry) return undefined
  const { receipt: said } = words
  return {
    title: said.heading,
    at: 'history',
    content: card(
      html`${said.heading}: ${nameOf(visit, entry)}`,
      html`<dl class="facts">${factsOf(visit, words, entry).map(
        ([name, value, shown]) =>
          html`<div><dt>${name}</dt><dd>${shown ?? html`<bdi>${value}</bdi>`}</dd></div>`,
      )}</dl>
${
  pdfOf(visit, entry)
    ? html`<p class="ways screen"><a class="button" href="${prefix}/history/${params['key']}/receipt.pdf" download>${icon('download')}<span>${said.pdf}</span></a></p>`
    : html`<p class="quiet small screen">${said.print}</p>`
}
<p class="screen"><a href="${prefix}/history">${said.back}</a></p>`,
    ),
  }
}

async function receiptFile(visit: Visit) {
  const entry = await findEntry(visit)
  const content = entry && pdfOf(visit, entry)
  return content && { type: 'application/pdf', fileName: `receipt-${entry.transactionId}.pdf`, content }
}

async function findEntry({ wallet, operations, params }: Visit): Promise<HistoryEntry | undefined> {
  const key = placeOf(params['key'] ?? '')
  return key && operations.findHistoryEntry(wallet.walletId, key)
}

/** With its markup, if there is some. */
function factsOf(
  { language: { formats } }: Visit,
  { receipt: said }: Words,
  { amountMinor, currency, madeAtMs, merchantName, orderNo, paymentId, transactionId }: HistoryEntry,
) {
  const rows: readonly (readonly [name: string, value: string | undefined, shown?: Html])[] = [
    [said.amount, formats.moneyText(amountMinor, currency), formats.money(amountMinor, currency)],
    [said.time, formats.time(madeAtMs), timeOf(madeAtMs, formats.time(madeAtMs))],
    [said.merchant, merchantName],
    [said.orderNo, orderNo],
    [said.payment, paymentId, html`<code>${paymentId}</code>`],
    [said.transaction, transactionId, html`<code>${transactionId}</code>`],
  ]
  return rows.flatMap(([name, value, shown]) => (value === undefined ? [] : [[name, value, shown] as const]))
}

/** In the consumer's language or, if its script is not Latin, in English. Undefined if a name has other letters. */
function pdfOf(visit: Visit, entry: HistoryEntry): Buffer | undefined {
  const english = languages.find(({ tag }) => tag === 'en') ?? visit.language
  return makePdf(visit, visit.words, entry) ?? makePdf({ ...visit, language: english }, wordsOf.en, entry)
}

function makePdf(visit: Visit, words: Words, entry: HistoryEntry): Buffer | undefined {
  const title = `${words.receipt.heading}: ${titleOf(words, entry)}`
  const lines = factsOf(visit, words, entry).flatMap(([name, value]) =>
    (value.match(/.{1,60}/gu) ?? []).map((part, index) => [index === 0 ? name : '', part] as const),
  )
  return writePdf(
    [
      { text: visit.operator ?? words.title, left: 56, top: 56, size: 11 },
      { text: title, left: 56, top: 84, size: 18, isBold: true },
      ...lines.flatMap(([name, part], index) => [
        { text: name, left: 56, top: 136 + index * 22, size: 11 },
        { text: part, left: 190, top: 136 + index * 22, size: 11, isBold: index === 0 },
      ]),
    ],
    title,
  )
}

function titleOf({ history: said }: Words, entry: HistoryEntry): string {
  return wordsFor(said, entry.kind).replace('{merchant}', entry.merchantName ?? '')
}

/** Undefined without entries. */
async function pendingList(visit: Visit): Promise<Html | undefined> {
  const { wallet, words, operations, language } = visit
  const withdrawals = await operations.withdraw.list(wallet.walletId, withdrawalsLooked)
  const entries = [
    ...(await operations.listPendingEntries(wallet.walletId)),
    ...withdrawals
      .filter(({ status }) => status === 'requested' || status === 'sent')
      .map(({ amountMinor, currency, requestedAtMs }) => ({
        kind: 'payout' as const,
        merchantName: undefined,
        currency,
        amountMinor: -amountMinor,
        madeAtMs: requestedAtMs,
      })),
  ].sort((a, b) => b.madeAtMs - a.madeAtMs)
  if (entries.length === 0) return undefined
  return html`<ul class="entries">${entries.map(
    ({ kind, merchantName, amountMinor, currency, madeAtMs }) =>
      html`<li class="pending"><span>${nameOf(visit, { kind, merchantName })}<small class="quiet">${words.history.pending} · ${timeOf(madeAtMs, language.formats.time(madeAtMs))}</small></span><span class="quiet">${amountMinor > 0n && '+'}${language.formats.money(amountMinor, currency)}</span></li>`,
  )}</ul>`
}

function list(visit: Visit, entries: readonly HistoryEntry[]): Html {
  const { formats } = visit.language
  return html`<ul class="entries">${entries.map(
    (entry) =>
      html`<li><a href="${prefix}/history/${writtenPlace(entry)}"><span>${nameOf(visit, entry)}<small class="quiet">${timeOf(entry.madeAtMs, formats.time(entry.madeAtMs))}</small></span>${entry.amountMinor > 0n ? html`<span class="good">+${formats.money(entry.amountMinor, entry.currency)}</span>` : formats.money(entry.amountMinor, entry.currency)}</a></li>`,
  )}</ul>`
}

function nameOf(
  { words: { history: said } }: Visit,
  { kind, merchantName }: Pick<HistoryEntry, 'kind' | 'merchantName'>,
): Content {
  return fill(wordsFor(said, kind), { merchant: html`<bdi>${merchantName}</bdi>` })
}

function wordsFor(said: Words['history'], kind: HistoryEntry['kind']): string {
  switch (kind) {
    case 'payment':
      return said.payment
    case 'refund':
      return said.refund
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

function timeOf(timeMs: number, text: string): Html {
  return html`<time datetime="${new Date(timeMs).toISOString()}">${text}</time>`
}
