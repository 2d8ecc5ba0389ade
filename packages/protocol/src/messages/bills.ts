// service.bill.get on the wire: what moved in the merchant's wallet on one day, summed up, and where the lines are.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { amount, list, nested, text, timeNumber, url, wholeNumber } from '../fields.ts'
import { Type } from '../type.ts'
import { makeBodyReader } from '../validation.ts'
import { currency, ignored } from './shared-fields.ts'
import { type Ignoring, ignoring } from './unread-fields.ts'

const dateLength = '2026-11-16'.length
const date = text('The day, in UTC, such as `2026-11-16`.', { min: dateLength, max: dateLength })

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

/** Of the years 1000 to 2999: another one is a mistake in writing. */
export function isCalendarDay(written: string): boolean {
  const timeMs = /^[12]\d{3}-\d\d-\d\d$/.test(written) ? Date.parse(written) : Number.NaN
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(written)
}

const billTotals = nested('One currency.', {
  typeName: 'totals of a bill',
  fields: {
    currency,
    opening: amount('What the wallet had when the day began: what the bill before closed with.'),
    late: amount('What was written down for a day before when its bill was made already. Nearly always 0.', {
      isSigned: true,
    }),
    payments: amount('What payments brought in, before fees.'),
    refunds: amount('What refunds took out: 0 or below it.', { isSigned: true }),
    fees: amount('What payments cost, less fees that were given back.', { isSigned: true }),
    payouts: amount('What was paid out, less what came back.', { isSigned: true }),
    corrections: amount('What the operator corrected.', { isSigned: true }),
    closing: amount('What the wallet had when the day ended: the sum of all the others.'),
  },
})

const count = (description: string) => wholeNumber(description, { min: 0, max: Number.MAX_SAFE_INTEGER })

export const billAnswerSchema = Type.Object({
  date,
  totals: list('By currency. In each, everything but `closing` adds up to `closing`.', {
    item: billTotals,
    typeName: 'array of totals of a bill',
  }),
  lineCount: count('How many lines the bill has, opening and closing balances aside.'),
  byteCount: count('How long the file is.'),
  sha256: text('Of the file’s bytes, as 64 hexadecimal digits.', { min: 64, max: 64 }),
  downloadUrl: url('Answers the bill as a CSV file to GET, without a signature, for five minutes.'),
  downloadExpiryTime: timeNumber('Until when downloadUrl works.'),
  ...ignored,
})
export type BillAnswer = Static<typeof billAnswerSchema>
export type BillTotalsAnswer = BillAnswer['totals'][number]
