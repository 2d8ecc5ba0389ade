// Fields of payouts, runs, schedules and bank accounts.
import { toDecimalText } from '@tillgate/protocol'
import type { RunWithTotals } from '../../finance/payouts/manage-runs.ts'
import {
  type BankAccountState,
  type MerchantBankAccount,
  stateOf,
} from '../../finance/payouts/rules/bank-account.ts'
import { type Payout, type PayoutRun, payoutStatuses } from '../../finance/payouts/rules/payout.ts'
import { type PayoutPlan, planOutcomes, schedules } from '../../finance/payouts/rules/payout-plan.ts'
import { checkValueDate } from '../../finance/treasury/rules/bank-account.ts'
import type { Action } from '../action.ts'
import {
  amount,
  count,
  day,
  displayed,
  integer,
  list,
  matching,
  object,
  oneOf,
  optional,
  text,
  timeMs,
  visibleCharacters,
} from '../fields.ts'
import { bankName, currency, merchantId, uuid } from '../shared-fields.ts'

export const payoutId = matching('The payout’s number.', {
  regexp: /^T[0-9A-Z]{1,29}$/,
  expected: 'a payoutId, such as `T01K73ZQ800JZ7V3N4Q5R6S7T8W`',
})
export const runId = uuid('The run’s number.')

/** The bank's booking of a payout. */
export const booking = {
  reference: displayed(
    text('By what the bank knows the booking.', { max: 140, pattern: visibleCharacters }),
    {
      placeholder: '2026-11-17/31',
    },
  ),
  valueDate: day('The bank’s value date.'),
}
export const bookingChecks = {
  valueDate: ({ valueDate }) => checkValueDate(String(valueDate)),
} as const satisfies Action['checks']

export const bankDetails = {
  holder: text('Whose account it is, as the bank knows them.', { max: 70, pattern: visibleCharacters }),
  iban: optional(
    displayed(text('The IBAN, in any grouping.', { max: 64 }), {
      placeholder: 'DE89 3704 0044 0532 0130 00',
      label: 'IBAN',
    }),
  ),
  lines: optional(
    displayed(
      list(
        'Where there is no IBAN: the account number, then the bank’s name and address.',
        text('A line.', { max: 140, pattern: visibleCharacters }),
        { max: 6 },
      ),
      { kind: 'lines' },
    ),
  ),
  bic: optional(
    displayed(text('The bank’s BIC.', { max: 16 }), { placeholder: 'COBADEFFXXX', label: 'BIC' }),
  ),
}
export const bankAccount = object('A merchant’s bank account.', {
  bankAccountId: uuid('Its number.'),
  currency,
  ...bankDetails,
  state: oneOf('waiting: it is not paid to before `validFromMs`.', [
    'in_use',
    'waiting',
    'replaced',
    'stopped',
  ] as const satisfies readonly BankAccountState[]),
  setAtMs: timeMs('When it was set.'),
  validFromMs: timeMs('Not paid to before.'),
})

export function toBankAccount(
  account: MerchantBankAccount,
  all: readonly MerchantBankAccount[],
  nowMs: number,
) {
  const own = all.filter((each) => each.currency === account.currency)
  return { ...account, state: stateOf(account, own, nowMs) }
}

export const planFields = {
  schedule: oneOf('hand: only when somebody starts a run.', schedules),
  onDay: optional(
    integer('Of a weekly plan 1 (Monday) to 7, of a monthly one the day of the month.', { min: 1, max: 31 }),
  ),
  bank: optional(
    displayed(bankName, {
      placeholder: 'main',
      suggests: 'banks',
      label: 'Bank account that pays; main unless given',
      hint: 'Which of the operator’s bank accounts pays; main unless given.',
    }),
  ),
  least: optional(displayed(amount('Less stays for the next time.'), { placeholder: '10.00' })),
  reserve: optional(
    displayed(amount('What stays with the merchant for refunds.'), { placeholder: '100.00' }),
  ),
  reservePercent: optional(
    displayed(
      matching('What stays beside that: a share of its sales of the last days.', {
        regexp: /^(100|[0-9]{1,2})(\.[0-9]{1,2})?$/,
        expected: 'a percentage from 0 to 100, such as 5 or 2.5',
      }),
      { placeholder: '5' },
    ),
  ),
  reserveDays: optional(integer('How many days of sales that share is of.', { min: 1, max: 180 })),
}
export const plan = object('A plan.', {
  merchantId,
  currency,
  ...planFields,
  nextDay: optional(day('When it is next paid out, in UTC.')),
  lastDay: optional(day('The newest day that was dealt with.')),
  lastOutcome: optional(oneOf('What came of it.', planOutcomes)),
})

export function toPlan({ reserve, leastMinor, bankName: bank, ...rest }: PayoutPlan) {
  const { fixedMinor, shareBasisPoints, shareDays } = reserve
  return {
    ...rest,
    bank,
    least: toDecimalText(leastMinor, rest.currency),
    reserve: toDecimalText(fixedMinor, rest.currency),
    ...(shareDays > 0 && { reservePercent: `${shareBasisPoints / 100}`, reserveDays: shareDays }),
  }
}

export const payout = object('A payout.', {
  merchantId,
  payoutId,
  runId,
  status: oneOf('sent: it is in the run’s file.', payoutStatuses),
  currency,
  amount: amount('How much.'),
  walletId: optional(text('Of a consumer’s withdrawal: the wallet that it comes out of.', { max: 64 })),
  planDay: optional(day('The day of its plan; not there where somebody asked for it.')),
  ...bankDetails,
  requestedAtMs: timeMs('When.'),
  sentAtMs: optional(timeMs('When its run was sent.')),
  endedAtMs: optional(timeMs('When it was paid, returned or cancelled.')),
  reference: optional(booking.reference),
  valueDate: optional(booking.valueDate),
  message: optional(text('Why it came back, or was cancelled.', { max: 256 })),
})

export function toPayout({ account, amountMinor, ...rest }: Payout) {
  return { ...account, ...rest, amount: toDecimalText(amountMinor, rest.currency) }
}

export const runFields = {
  runId,
  bank: bankName,
  currency,
  day: day('The day that it is for.'),
  part: optional(count('What comes for a day after its run was closed is the next part.')),
  createdAtMs: timeMs('When it was begun.'),
  closedAtMs: optional(timeMs('From then on nothing joins it.')),
  sentAtMs: optional(timeMs('From then on its file can be had.')),
  ending: optional(oneOf('What became of it; its payouts follow.', ['paid', 'cancelled'])),
  endedAtMs: optional(timeMs('When the last payout had followed.')),
}
export const run = object('A run.', runFields)
export const runWithTotals = object('A run.', {
  ...runFields,
  totals: list(
    'By status.',
    object('Its payouts of one status.', {
      status: oneOf('Which.', payoutStatuses),
      payouts: count('How many.'),
      sum: amount('Together.'),
    }),
  ),
})

export function toRun({ bankName: bank, ...rest }: PayoutRun) {
  return { ...rest, bank }
}

export function toRunWithTotals({ run: found, totals }: RunWithTotals) {
  return {
    ...toRun(found),
    totals: totals.map(({ sumMinor, ...each }) => ({
      ...each,
      sum: toDecimalText(sumMinor, found.currency),
    })),
  }
}
