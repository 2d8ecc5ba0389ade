// Merchants' bills: list by day, and download in the merchant's format.
import { toDecimalText } from '@tillgate/protocol'
import { billSections } from '../../finance/bills/rules/bill.ts'
import { type Action, defineAction } from '../action.ts'
import { amount, count, day, list, object, optional, text, timeMs } from '../fields.ts'
import { currency, limit, merchantId, nextPage, pageOf } from '../shared-fields.ts'

const sums = {
  opening: amount('The opening balance of the day.'),
  late: amount('Movements of an earlier day, recorded after its bill.'),
  payments: amount('Payments before fees.'),
  refunds: amount('Refunds.'),
  fees: amount('Fees minus returned fees.'),
  payouts: amount('Payouts minus returned payouts.'),
  corrections: amount('Money in or out.'),
  closing: amount('The closing balance of the day: the sum.'),
}

export const billActions: readonly Action[] = [
  defineAction({
    name: 'bill.list',
    scope: 'merchants:read',
    summary: 'List bills of days with movements, newest first',
    params: object('Whose bills.', { merchantId }),
    input: object('Which bills.', { before: optional(day('Only days before this one.')), limit }),
    answer: object('A page.', {
      bills: list(
        'Newest first.',
        object('A bill.', {
          day: day('In UTC.'),
          madeAtMs: timeMs('When it was created.'),
          lines: count('Number of lines.'),
          bytes: count('Size of the file.'),
          sha256: text('SHA-256 of the file.', { max: 64 }),
          totals: list('By currency.', object('A currency.', { currency, ...sums })),
        }),
      ),
      older: optional(day(nextPage)),
    }),
    command: { columns: ['day', 'lines', 'bytes', 'sha256'] },
    async run({ operations, context, params, input: { before, limit: atMost } }) {
      await operations.merchants.showMerchant(context, params.merchantId)
      const { bills, older } = await pageOf(
        'bills',
        { before, limit: atMost },
        { read: (at) => operations.listBills(context, params.merchantId, at), keyOf: (bill) => bill.day },
      )
      return {
        bills: bills.map((bill) => ({
          ...bill,
          totals: bill.totals.map((each) => {
            const names = ['opening', 'late', ...billSections, 'closing'] as const
            const written = names.map((name) => [name, toDecimalText(each[name], each.currency)])
            // Safe: it has every name.
            return {
              currency: each.currency,
              ...(Object.fromEntries(written) as Record<keyof typeof sums, string>),
            }
          }),
        })),
        older,
      }
    },
  }),
  defineAction({
    name: 'bill.download',
    scope: 'merchants:read',
    summary: 'Download a merchant’s bill of one day, as CSV',
    params: object('Which bill.', { merchantId, day: day('A day in UTC, in the past.') }),
    answer: 'csv',
    async run({ operations, context, params }) {
      await operations.merchants.showMerchant(context, params.merchantId)
      return (await operations.readBill(params)).content()
    },
  }),
]
