// The optional message `settlement.report`: what the provider paid over on a day, and what it kept. A rail without reports
// returns HTTP 400, as for every type that it does not know.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { choice, list, nested, pattern, text, wholeNumber } from '../fields.ts'
import { maxDisputeIdLength, maxRailReferenceLength } from '../limits.ts'
import { isCalendarDay } from '../messages/bills.ts'
import * as shared from '../messages/shared-fields.ts'
import { Type } from '../type.ts'
import { makeChecker, makeReader } from '../validation.ts'

export const settlementReportType = 'settlement.report'
export const settlementReportVersion = 1
/** A response has at most 64 KiB. */
export const maxSettlementLines = 200
const maxCursorLength = 512

const calendarDay = (description: string) =>
  pattern(description, { regexp: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, expected: 'a day such as `2026-11-18`' })
const signedMinor = (description: string) =>
  pattern(description, {
    regexp: /^(?:0|-?[1-9][0-9]{0,18})$/,
    expected: 'a whole number',
  })

export const settlementReportSchema = Type.Object({
  type: choice('The message type.', [settlementReportType]),
  version: wholeNumber('The version of this message.', { min: 1, max: settlementReportVersion }),
  day: calendarDay('The day of the payouts (UTC).'),
  cursor: Type.Optional(text('`next` of the previous page.', { max: maxCursorLength })),
})
export type SettlementReport = Static<typeof settlementReportSchema>

export const settlementAnswerSchema = Type.Object({
  status: choice('`pending`: the report is not complete yet; the gateway asks again.', ['ready', 'pending']),
  lines: list('All payments, refunds and costs in these payouts.', {
    typeName: 'array of lines',
    max: maxSettlementLines,
    item: nested('A line.', {
      typeName: 'line',
      fields: {
        lineId: text('The provider’s number. The same number is the same line.', {
          max: maxRailReferenceLength,
        }),
        day: calendarDay('The day of the payment or refund (UTC).'),
        amountMinor: signedMinor(
          'Minor units before fees: negative for refunds, 0 for a cost without a payment.',
        ),
        feeMinor: signedMinor('What the provider keeps.'),
        currency: shared.currency,
        reference: Type.Optional(
          text('The `transactionId`, `refundId` or `disputeId`, if any.', { max: maxDisputeIdLength }),
        ),
        batch: text('The provider’s payout, if possible under its name on the bank statement.', {
          max: maxRailReferenceLength,
        }),
      },
    }),
  }),
  next: Type.Optional(text('The `cursor` of the next page, if any.', { max: maxCursorLength })),
})
export type SettlementAnswer = Static<typeof settlementAnswerSchema>
export type SettlementLine = SettlementAnswer['lines'][number]

const messageOptions = { failure: 'invalid_field', whole: 'the message' } as const
const readType = makeReader(Type.Object({ type: text('The message type.', { max: 64 }) }), messageOptions)
const checkReport = makeChecker(settlementReportSchema, messageOptions)
const readAnswer = makeReader(settlementAnswerSchema, { failure: 'invalid_field', whole: 'the answer' })

/** For a rail: the body of a verified message; undefined if it is of another type. */
export function parseSettlementReport(bodyText: string): SettlementReport | undefined {
  const read = readType(bodyText)
  if (read.type !== settlementReportType) return undefined
  const report = checkReport(read)
  checkDay(report.day)
  return report
}

/** For the gateway. */
export function parseSettlementAnswer(answerText: string): SettlementAnswer {
  const answer = readAnswer(answerText)
  for (const { day } of answer.lines) checkDay(day)
  return answer
}

function checkDay(day: string): void {
  if (isCalendarDay(day)) return
  throw new Failure('invalid_field', { field: 'day', message: `${day} is not a calendar date.` })
}
