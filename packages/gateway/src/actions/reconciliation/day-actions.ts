// Days of external accounts: show, export as a file, close.
import { toDecimalText } from '@tillgate/protocol'
import { monthPattern } from '../../finance/reconciliation/rules/statement.ts'
import type { ReconciledDay } from '../../finance/reconciliation/store/days.ts'
import { type Action, defineAction } from '../action.ts'
import { amount, count, day, displayed, list, matching, object, optional, timeMs } from '../fields.ts'
import { currency, reason } from '../shared-fields.ts'
import { outsideAccount } from './statement-actions.ts'

const month = displayed(
  matching('The month.', { regexp: monthPattern, expected: 'a month such as 2026-11' }),
  {
    placeholder: '2026-11',
  },
)
const shown = object('A day.', {
  account: outsideAccount,
  currency,
  day: day('The day.'),
  book: amount('Closing balance in the books.'),
  outside: amount('Closing balance at the bank or rail.'),
  inTransit: amount('Amounts that only one side has so far.'),
  unexplained: amount('The rest: external minus books minus in transit.'),
  breaks: count('Breaks of that day, open or resolved.'),
  closedAtMs: optional(timeMs('When the day was closed; it does not change after that.')),
})
const which = { account: outsideAccount, currency, month }

export const dayActions: readonly Action[] = [
  defineAction({
    name: 'reconcile.days',
    scope: 'reconciliation:read',
    summary: 'List the days of an account in a month',
    input: object('The filter.', which),
    answer: object('The month.', { days: list('Oldest first.', shown) }),
    command: {
      columns: ['day', 'book', 'outside', 'inTransit', 'unexplained', 'breaks', 'closedAtMs'],
    },
    run: async ({ operations, context, input }) => ({
      days: (await operations.reconciliation.days.listMonth(context, input, input.month)).map(toAnswer),
    }),
  }),
  defineAction({
    name: 'reconcile.export',
    scope: 'reconciliation:read',
    summary: 'Export the days of an account in a month, as CSV',
    input: object('The filter.', which),
    answer: 'csv',
    run: ({ operations, context, input }) =>
      operations.reconciliation.days.exportMonth(context, input, input.month),
  }),
  defineAction({
    name: 'reconcile.close-day',
    scope: 'reconciliation:act',
    summary: 'Close a day of an account and every open day before it, permanently',
    input: object('The filter.', {
      account: outsideAccount,
      currency,
      day: day('The last day to close.'),
      reason,
    }),
    answer: object('The closed days.', { days: list('Oldest first.', shown) }),
    form: {
      place: 'days',
      path: '/reconciliation/days/close',
      page: '/reconciliation/days',
      label: 'Close days…',
      explains:
        'Closes this day and all days before it. A closed day does not change: later entries go to the next open day.',
      button: 'Close',
      hidden: ['account', 'currency'],
    },
    run: async ({ operations, context, input }) => ({
      days: (await operations.reconciliation.days.closeDay(context, input, input.day, input.reason)).map(
        toAnswer,
      ),
    }),
    reply: ({ days }) => {
      const last = days.at(-1)
      const unexplained = last ? `${last.unexplained} ${last.currency}` : ''
      return {
        text: `Closed: ${days.length} ${days.length === 1 ? 'day' : 'days'}. Unexplained: ${unexplained}.`,
      }
    },
  }),
]

function toAnswer(of: ReconciledDay) {
  const written = (minor: bigint) => toDecimalText(minor, of.currency)
  return {
    ...of,
    book: written(of.bookMinor),
    outside: written(of.outsideMinor),
    inTransit: written(of.inTransitMinor),
    unexplained: written(of.unexplainedMinor),
  }
}
