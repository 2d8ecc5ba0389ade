// A merchant's balances, prices, and statement, to read, print or download.
import { merchantIdPattern } from '@tillgate/protocol'
import type { StatementEntry, StatementRange } from '../../../../core/ledger/store/merchant-statements.ts'
import { type Html, html } from '../../../kit/html.ts'
import { empty, number, table } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import { balanceTable } from '../../balances.ts'
import { type ConsolePage, type ConsoleRoute, type Download, orNothing, type Visit } from '../../console.ts'
import { amount, exact } from '../../words.ts'
import { dayOf } from '../orders.ts'
import { priceTable } from './fees.ts'

const path = '/merchants/:merchantId'
const dayMs = 86_400_000
/** More entries belong in a file. */
const maxEntries = 2_000

export const merchantMoneyArea: readonly ConsoleRoute[] = [
  { path: `${path}/money`, show },
  { path: `${path}/statement.csv`, download },
]

async function show(visit: Visit): Promise<ConsolePage | undefined> {
  const { merchantId = '' } = visit.params
  const found = await find(visit)
  if (!found) return undefined
  const [accounts, prices, statement] = await Promise.all([
    visit.operations.listMerchantAccounts(visit.context, merchantId),
    visit.operations.prices.listPrices(visit.context, merchantId, 50),
    readStatement(visit, rangeOf(visit)),
  ])
  return {
    title: `${found.merchant.name}: money`,
    area: 'merchants',
    content: html`<p class="no-print"><a href="/merchants/${merchantId}">Merchant</a> · <a href="/merchants/${merchantId}/payouts">Payouts</a> · <a href="/merchants/${merchantId}/bills">Bills</a> · <a href="/money/fees?merchant=${merchantId}">Fee calculator</a></p>
<h2>Balances</h2>${balanceTable(accounts, { held: 'Pending refunds and payouts', none: 'No balance yet.' })}
${actionForms(visit, 'merchant.money', { values: { merchantId } })}
<section class="no-print"><h2>Prices</h2>${priceTable(prices, visit.nowMs)}</section>
<h2>Statement, ${period(rangeOf(visit))}</h2>${statementForm(merchantId, visit)}
${statement}`,
  }
}

async function find({ operations, context, params: { merchantId = '' } }: Visit) {
  if (!merchantIdPattern.test(merchantId)) return undefined
  return orNothing(operations.merchants.showMerchant(context, merchantId))
}

function rangeOf({ query, nowMs, params: { merchantId = '' } }: Visit): StatementRange {
  const fromMs = dayOf(query.get('from')) ?? Date.parse(`${monthOf(nowMs)}-01T00:00:00Z`)
  const toMs = (dayOf(query.get('to')) ?? nowMs) + dayMs
  return { merchantId, fromMs, toMs: Math.max(fromMs, toMs) }
}

/** Also printed, unlike the form. */
function period({ fromMs, toMs }: StatementRange): string {
  const [first, last] = [fromMs, toMs - dayMs].map((ms) => new Date(ms).toISOString().slice(0, 10))
  return `${first} to ${last} (UTC)`
}

async function download(visit: Visit): Promise<Download | undefined> {
  const { merchantId = '' } = visit.params
  if (!(await find(visit))) return undefined
  const { query, nowMs, operations, context } = visit
  const fromMs = dayOf(query.get('from')) ?? 0
  const toMs = Math.max(fromMs, (dayOf(query.get('to')) ?? nowMs) + dayMs)
  return {
    fileName: `statement-${merchantId}.csv`,
    type: 'text/csv; charset=utf-8',
    content: operations.writeStatement(context, { merchantId, fromMs, toMs }),
  }
}

/** Reads all entries, up to the limit of the page. */
async function readStatement({ operations, context }: Visit, range: StatementRange): Promise<Html> {
  const entries: StatementEntry[] = []
  let opening: ReadonlyMap<string, bigint> = new Map()
  let closing: ReadonlyMap<string, bigint> = new Map()
  let isTooLong = false
  await operations.readStatement(context, range, {
    opening(balances) {
      opening = balances
    },
    entries(page) {
      isTooLong ||= entries.length + page.length > maxEntries
      if (!isTooLong) entries.push(...page)
    },
    closing(balances) {
      closing = balances
    },
  })
  if (isTooLong)
    return empty(`More than ${maxEntries} entries. Choose a shorter period, or export the statement.`)
  const balance = (name: string, balances: ReadonlyMap<string, bigint>) =>
    [...balances].map(([currency, minor]) => [
      '',
      html`<strong>${name}</strong>`,
      '',
      '',
      html`<strong>${amount(minor, currency)}</strong>`,
    ])
  return table(
    'Statement',
    ['Time (UTC)', 'Type', 'Order', 'Transaction ID', number('Amount')],
    [
      ...balance('Opening balance', opening),
      ...entries.map((entry) => [
        exact(entry.timeMs).replace(' UTC', ''),
        entry.kind.replace('_', ' '),
        entry.paymentId === undefined
          ? '—'
          : html`<a class="wrap" href="/orders/${range.merchantId}/${entry.paymentId}">${entry.orderNo ?? entry.paymentId}</a>`,
        html`<code>${entry.transactionId}</code>`,
        amount(entry.amountMinor, entry.currency),
      ]),
      ...balance('Closing balance', closing),
    ],
    { none: 'No transactions in this period.' },
  )
}

function statementForm(merchantId: string, { nowMs, query }: Visit): Html {
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return html`<form class="filters no-print">
<label>From (UTC)<input type="date" name="from" value="${query.get('from') ?? `${monthOf(nowMs)}-01`}" max="${today}"></label>
<label>To (inclusive)<input type="date" name="to" value="${query.get('to') ?? today}" max="${today}"></label>
<button>Show</button><button formaction="/merchants/${merchantId}/statement.csv">Export CSV</button></form>`
}

function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7)
}
