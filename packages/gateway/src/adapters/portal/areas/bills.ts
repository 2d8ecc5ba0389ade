// The shop's bills, one for each day with movements: totals and files.
import { Failure, isCalendarDay } from '@tillgate/protocol'
import type { Bill, BillTotals } from '../../../finance/bills/rules/bill.ts'
import { csvType } from '../../kit/downloads.ts'
import { type Html, html } from '../../kit/html.ts'
import { emptyState, facts } from '../../kit/pages/tables.ts'
import { card, moneyTabs, pages, tabs } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'

const perPage = 20
const filePath = '/bills/:day/bill.csv'

export const billsArea: readonly PortalRoute[] = [
  { path: '/bills', show },
  { path: filePath, download },
]

async function show(visit: Visit): Promise<PortalPage> {
  const { operations, context, query, language } = visit
  const { words } = language
  const given = query.get('before') ?? ''
  const before = isCalendarDay(given) ? given : undefined
  const listed = await operations.readMerchant.listBills(context, { before, limit: perPage + 1 })
  const shown = listed.slice(0, perPage)
  return {
    title: words.tabs.bills,
    docs: '/docs/bills',
    area: 'money',
    content: html`${tabs(visit, moneyTabs, 'bills')}<p>${words.bills.text}</p>
${shown.length === 0 ? emptyState('file-text', { heading: words.bills.none }) : html`<div class="grid">${shown.map((bill) => billCard(visit, bill))}</div>`}
${pages(visit, { path: '/bills', older: listed.length > perPage ? shown.at(-1)?.day : undefined })}`,
  }
}

function billCard(visit: Visit, bill: Bill): Html {
  const { words } = visit.language
  return card(
    html`<time datetime="${bill.day}">${bill.day}</time>`,
    html`${bill.totals.map((totals) => sums(visit, totals))}
<p class="acts"><a class="button" href="${pathTo(filePath, { day: bill.day })}">${words.money.download}<span class="hidden"> ${bill.day}</span></a></p>
<details><summary>SHA-256</summary><code class="wrap">${bill.sha256}</code></details>`,
  )
}

const names = ['opening', 'payments', 'refunds', 'fees', 'payouts', 'corrections', 'closing'] as const

/** Late items appear to readers as corrections by the operator. */
function sums({ language: { words, formats } }: Visit, totals: BillTotals): Html {
  const minorOf = (name: (typeof names)[number]) =>
    name === 'corrections' ? totals.corrections + totals.late : totals[name]
  const isShown = (name: (typeof names)[number]) =>
    name === 'opening' || name === 'closing' || minorOf(name) !== 0n
  return facts(
    names
      .filter(isShown)
      .map((name) => [words.bills[name], formats.money(minorOf(name), totals.currency)] as const),
  )
}

async function download({ operations, context, params: { day = '' } }: Visit) {
  const content = isCalendarDay(day) ? await operations.readMerchant.findBill(context, day) : undefined
  if (!content) throw new Failure('not_found')
  return { fileName: `bill-${context.merchantId}-${day}.csv`, type: csvType, content }
}
