// Merchants' bills: list by day, and download in the merchant's format.
import { toDecimalText } from '@tillgate/protocol'
import { billSections } from '../../finance/bills/rules/bill.ts'
import { type Action, defineAction } from '../action.ts'
import { amount, count, day, list, object, optional, text, timeMs } from '../fields.ts'
import { currency, limit, merchantId, nextPage, pageOf } from '../shared-fields.ts'

const sums = {
  opening: amount('What the wallet had when the day began.'),
  late: amount('What was written down for a day before when its bill was made already.'),
  payments: amount('In, before fees.'),
  refunds: amount('Out.'),
  fees: amount('Out, less what was given back.'),
  payouts: amount('Out, less what came back.'),
  corrections: amount('In or out.'),
  closing: amount('What the wallet had when the day ended: the sum.'),
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
        'The newest first.',
        object('A bill.', {
          day: day('In UTC.'),
          madeAtMs: timeMs('When it was made.'),
          lines: count('How many lines it has.'),
          bytes: count('How long its file is.'),
          sha256: text('Of its bytes.', { max: 64 }),
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
    params: object('Which bill.', { merchantId, day: day('In UTC; it is over.') }),
    answer: 'csv',
    async run({ operations, context, params }) {
      await operations.merchants.showMerchant(context, params.merchantId)
      return (await operations.readBill(params)).content()
    },
  }),
]
