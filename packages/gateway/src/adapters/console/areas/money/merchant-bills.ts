// A merchant's daily bills, with the files that the merchant downloads.
import { isCalendarDay, merchantIdPattern } from '@tillgate/protocol'
import { orNoBill } from '../../../../finance/bills/read-bill.ts'
import type { Bill, BillTotals } from '../../../../finance/bills/rules/bill.ts'
import { type Html, html } from '../../../kit/html.ts'
import { number, pages, table } from '../../../kit/pages/tables.ts'
import { type ConsolePage, type ConsoleRoute, type Download, orNothing, type Visit } from '../../console.ts'
import { amount } from '../../words.ts'

const path = '/merchants/:merchantId/bills'
/** A month. */
const perPage = 31

export const merchantBillsArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}/:day/bill.csv`, download },
]

async function show({ operations, context, params, query }: Visit): Promise<ConsolePage | undefined> {
  const { merchantId = '' } = params
  if (!merchantIdPattern.test(merchantId)) return undefined
  const found = await orNothing(operations.merchants.showMerchant(context, merchantId))
  if (!found) return undefined
  const given = query.get('before') ?? ''
  const before = isCalendarDay(given) ? given : undefined
  const listed = await operations.listBills(context, merchantId, { before, limit: perPage + 1 })
  const shown = listed.slice(0, perPage)
  return {
    title: `Bills of ${found.merchant.name}`,
    area: 'merchants',
    content: html`<p><a href="/merchants/${merchantId}">${found.merchant.name}</a> · <a href="/merchants/${merchantId}/money">Money, fees and statement</a></p>
<p>One bill for each day (UTC) with a transaction, created at 00:15. A bill never changes.</p>
${table(
  'Bills, newest first',
  [
    'Day',
    'Currency',
    number('Opening'),
    number('Payments'),
    number('Refunds'),
    number('Fees'),
    number('Payouts'),
    number('Corrections'),
    number('Closing'),
    'File',
  ],
  shown.flatMap((bill) => bill.totals.map((totals, index) => row(bill, totals, index === 0))),
  { isTall: true, none: 'No bills yet. The first bill is created after the first day with a payment.' },
)}
${pages(`/merchants/${merchantId}/bills`, query, { older: listed.length > perPage ? shown.at(-1)?.day : undefined })}`,
  }
}

function row(bill: Bill, totals: BillTotals, isFirst: boolean): Html[] {
  const money = (minor: bigint) => html`${amount(minor, totals.currency)}`
  return [
    html`${bill.day}`,
    html`${totals.currency}`,
    money(totals.opening),
    money(totals.payments),
    money(totals.refunds),
    money(totals.fees),
    money(totals.payouts),
    money(totals.corrections + totals.late),
    money(totals.closing),
    isFirst
      ? html`<a href="/merchants/${bill.merchantId}/bills/${bill.day}/bill.csv" title="SHA-256 ${bill.sha256}">Bill of ${bill.day} (CSV)</a>`
      : html``,
  ]
}

async function download({ operations, params }: Visit): Promise<Download | undefined> {
  const { merchantId = '', day = '' } = params
  if (!merchantIdPattern.test(merchantId)) return undefined
  const found = await orNoBill(operations.readBill({ merchantId, day }))
  return (
    found && {
      fileName: `bill-${merchantId}-${day}.csv`,
      type: 'text/csv; charset=utf-8',
      content: found.content(),
    }
  )
}
