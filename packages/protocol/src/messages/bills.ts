// service.bill.get: the day's movements in the merchant's wallet, totals, and the address of the lines.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { amount, list, nested, pattern, text, timeNumber, url, wholeNumber } from '../fields.ts'
import { Type } from '../type.ts'
import { makeBodyReader } from '../validation.ts'
import { currency, ignored } from './shared-fields.ts'
import { type Ignoring, ignoring } from './unread-fields.ts'

const date = pattern('The day, in UTC.', {
  regexp: /^\d{4}-\d\d-\d\d$/,
  expected: 'a date such as 2026-11-16',
})

export const billBodySchema = Type.Object({ date })

const readBillBody = makeBodyReader(billBodySchema)

export function parseBillBody(bodyText: string): { readonly date: string } & Ignoring {
  const body = readBillBody(bodyText)
  if (!isCalendarDay(body.date))
    throw new Failure('invalid_field', {
      field: 'date',
      message: 'date must be a day of the calendar, such as 2026-11-16.',
    })
  return { date: body.date, ...ignoring(body) }
}

/** Only the years 1000 to 2999; any other year is a typing error. */
export function isCalendarDay(written: string): boolean {
  const timeMs = /^[12]\d{3}-\d\d-\d\d$/.test(written) ? Date.parse(written) : Number.NaN
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(written)
}

const billTotals = nested('One currency.', {
  typeName: 'totals of a bill',
  fields: {
    currency,
    opening: amount('The balance at the start of the day.'),
    late: amount('Movements of earlier days that were already billed. Usually 0.', {
      isSigned: true,
    }),
    payments: amount('Payments, before fees.'),
    refunds: amount('Refunds: zero or negative.', { isSigned: true }),
    fees: amount('Fees, less returned fees.', { isSigned: true }),
    payouts: amount('Payouts, less returned payouts.', { isSigned: true }),
    corrections: amount('Corrections by the operator.', { isSigned: true }),
    closing: amount('The balance at the end of the day: the sum of all others.'),
  },
})

const count = (description: string) => wholeNumber(description, { min: 0, max: Number.MAX_SAFE_INTEGER })

export const billAnswerSchema = Type.Object({
  date,
  totals: list('By currency. All other amounts add up to `closing`.', {
    item: billTotals,
    typeName: 'array of totals of a bill',
  }),
  lineCount: count('The number of lines, without opening and closing balances.'),
  byteCount: count('The size of the file.'),
  sha256: text('The SHA-256 of the file, as 64 hexadecimal digits.', { min: 64, max: 64 }),
  downloadUrl: url('The CSV file, for five minutes, without a signature.'),
  downloadExpiryTime: timeNumber('When downloadUrl expires.'),
  ...ignored,
})
export type BillAnswer = Static<typeof billAnswerSchema>
export type BillTotalsAnswer = BillAnswer['totals'][number]
