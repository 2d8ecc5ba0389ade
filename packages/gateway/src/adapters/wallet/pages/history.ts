// All entries of the wallet, and a receipt for each, on the page and as PDF.

import { placeOf, writtenPlace } from '../../../core/ledger/rules/transfer-place.ts'
import type { HistoryDetail } from '../../../core/wallets/store/history.ts'
import { languages } from '../../checkout/languages.ts'
import { readSummary } from '../../checkout/pages/summary.ts'
import { type Html, html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { statusPill } from '../../kit/pages/status.ts'
import { writePdf } from '../../kit/pdf.ts'
import { card } from '../frame.ts'
import { wordsOf } from '../languages.ts'
import { prefix, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'
import type { Words } from '../words.ts'
import { entryList, pendingList, picture, timeOf, wordsFor } from './entries.ts'

const entriesPerPage = 20

export const historyRoutes: readonly WalletRoute[] = [
  { path: '/history', show: history },
  { path: '/history/:key', show: receipt },
  { path: '/history/:key/receipt.pdf', download: receiptFile },
]

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
      html`${pending}${entries.length > 0 ? entryList(visit, entries) : !pending && nothingYet(words)}
${
  (last || before) &&
  html`<p class="pages">${before && html`<a href="${prefix}/history">${words.history.newest}</a>`} ${last && html`<a rel="next" href="${prefix}/history?before=${writtenPlace(last)}">${words.history.older}</a>`}</p>`
}`,
    ),
  }
}

function nothingYet({ history: said, home, nav }: Words): Html {
  return html`<div class="empty">${icon('receipt-text')}<h2>${said.none}</h2><p>${home.empty}</p><p><a class="button primary" href="${prefix}/top-up">${nav.topUp}</a></p></div>`
}

async function receipt(visit: Visit): Promise<WalletPage | undefined> {
  const { words, params, language } = visit
  const entry = await findEntry(visit)
  if (!entry) return undefined
  const { receipt: said } = words
  const { amountMinor, currency, merchantName } = entry
  return {
    title: said.heading,
    at: 'history',
    content: html`<section class="card pane receipt"><header>${picture(entry)}<h1>${said.heading}: <bdi>${merchantName ?? wordsFor(words.history, entry.kind)}</bdi></h1>
<p class="balance">${amountMinor > 0n && '+'}${language.formats.money(amountMinor, currency)}</p>
${statusPill('paid', said.completed)}</header>
<dl class="facts">${factsOf(visit, words, entry)
      .filter(([name]) => name !== said.amount)
      .map(
        ([name, value, shown]) =>
          html`<div><dt>${name}</dt><dd>${shown ?? html`<bdi>${value}</bdi>`}</dd></div>`,
      )}</dl>
${
  pdfOf(visit, entry)
    ? html`<p class="ways screen"><a class="button" href="${prefix}/history/${params['key']}/receipt.pdf" download>${icon('download')}<span>${said.pdf}</span></a></p>`
    : html`<p class="quiet small screen">${said.print}</p>`
}
<p class="back screen"><a href="${prefix}/history">${said.back}</a></p></section>`,
  }
}

async function receiptFile(visit: Visit) {
  const entry = await findEntry(visit)
  const content = entry && pdfOf(visit, entry)
  return content && { type: 'application/pdf', fileName: `receipt-${entry.transactionId}.pdf`, content }
}

interface Receipt extends HistoryDetail {
  /** As the consumer knows it; undefined for the wallet itself. */
  readonly railName: string | undefined
}

async function findEntry({ wallet, operations, params, language }: Visit): Promise<Receipt | undefined> {
  const key = placeOf(params['key'] ?? '')
  const entry = key && (await operations.findHistoryEntry(wallet.walletId, key))
  if (!entry) return undefined
  const { railId } = entry
  const railName = railId === undefined ? undefined : await operations.findRailName(railId, language.tag)
  return { ...entry, railName }
}

/** With its markup, if there is some. */
function factsOf({ language: { formats } }: Visit, { receipt: said, history }: Words, entry: Receipt) {
  const { amountMinor, currency, madeAtMs, merchantName, orderNo, paymentId, transactionId } = entry
  const items = itemsOf(entry, formats.number)
  const rows: readonly (readonly [name: string, value: string | undefined, shown?: Html | undefined])[] = [
    [said.kind, wordsFor(history, entry.kind)],
    [said.amount, formats.moneyText(amountMinor, currency), formats.money(amountMinor, currency)],
    [said.time, formats.time(madeAtMs), timeOf(madeAtMs, formats.time(madeAtMs))],
    [said.merchant, merchantName],
    [
      said.items,
      items?.join(', '),
      items && html`${items.map((item, at) => html`${at > 0 && html`<br>`}<bdi>${item}</bdi>`)}`,
    ],
    [said.method, methodOf(entry, said)],
    [said.orderNo, orderNo],
    [said.payment, paymentId, html`<code>${paymentId}</code>`],
    [said.transaction, transactionId, html`<code>${transactionId}</code>`],
  ]
  return rows.flatMap(([name, value, shown]) => (value === undefined ? [] : [[name, value, shown] as const]))
}

const itemsShown = 10
const maxNameShown = 80

/** Only a merchant's goods: those of a top-up repeat its name. */
function itemsOf({ content, merchantName }: Receipt, number: (value: number) => string) {
  if (content === undefined || merchantName === undefined) return undefined
  const { goods } = readSummary(content)
  const items = goods.slice(0, itemsShown).map(({ goodsName, goodsQuantity: quantity }) => {
    const name = goodsName.slice(0, maxNameShown)
    return quantity === 1 ? name : `${number(quantity)} × ${name}`
  })
  return goods.length > itemsShown ? [...items, '…'] : items
}

function methodOf({ kind, railName, paymentId }: Receipt, said: Words['receipt']): string | undefined {
  if (kind === 'payout' || kind === 'payout_return') return said.bankAccount
  if (paymentId === undefined) return undefined
  return railName ?? said.wallet
}

/** In the consumer's language or, if its script is not Latin, in English. Undefined if a name has other letters. */
function pdfOf(visit: Visit, entry: Receipt): Buffer | undefined {
  const english = languages.find(({ tag }) => tag === 'en') ?? visit.language
  return makePdf(visit, visit.words, entry) ?? makePdf({ ...visit, language: english }, wordsOf.en, entry)
}

function makePdf(visit: Visit, words: Words, entry: Receipt): Buffer | undefined {
  const name = entry.merchantName ?? wordsFor(words.history, entry.kind)
  const title = `${words.receipt.heading}: ${name}`
  const lines = factsOf(visit, words, entry).flatMap(([name, value]) =>
    (value.match(/.{1,60}/gu) ?? []).map((part, index) => [index === 0 ? name : '', part] as const),
  )
  return writePdf(
    [
      { text: visit.operator ?? words.title, left: 56, top: 56, size: 11 },
      { text: title, left: 56, top: 84, size: 18, isBold: true },
      ...lines.flatMap(([name, part], index) => [
        { text: name, left: 56, top: 136 + index * 22, size: 11 },
        { text: part, left: 190, top: 136 + index * 22, size: 11, isBold: index === 1 },
      ]),
    ],
    title,
  )
}
