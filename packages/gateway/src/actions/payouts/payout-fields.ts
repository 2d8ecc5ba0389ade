// Fields of payouts, runs, schedules and bank accounts.
import { toDecimalText } from '@tillgate/protocol'
import type { RunWithTotals } from '../../finance/payouts/manage-runs.ts'
import {
  type BankAccountState,
  type MerchantBankAccount,
  stateOf,
} from '../../finance/payouts/rules/merchant-bank-account.ts'
import { type Payout, type PayoutRun, payoutStatuses } from '../../finance/payouts/rules/payout.ts'
import { type PayoutPlan, planOutcomes, schedules } from '../../finance/payouts/rules/payout-plan.ts'
import { checkValueDate } from '../../finance/treasury/rules/operator-bank-account.ts'
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

export const payoutId = matching('The payout’s ID.', {
  regexp: /^T[0-9A-Z]{1,29}$/,
  expected: 'a payoutId, such as `T01K73ZQ800JZ7V3N4Q5R6S7T8W`',
})
export const runId = uuid('The run’s ID.')

/** The bank's booking of a payout. */
export const booking = {
  reference: displayed(
    text('The bank’s reference of the booking.', { max: 140, pattern: visibleCharacters }),
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
  holder: text('The account holder’s name as registered with the bank.', {
    max: 70,
    pattern: visibleCharacters,
  }),
  iban: optional(
    displayed(text('The IBAN, in any grouping.', { max: 64 }), {
      placeholder: 'DE89 3704 0044 0532 0130 00',
      label: 'IBAN',
    }),
  ),
  lines: optional(
    displayed(
      list(
        'Without an IBAN: the account number, then the bank’s name and address.',
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
  bankAccountId: uuid('The bank account’s ID.'),
  currency,
  ...bankDetails,
  state: oneOf('waiting: not used before `validFromMs`.', [
    'in_use',
    'waiting',
    'replaced',
    'stopped',
  ] as const satisfies readonly BankAccountState[]),
  setAtMs: timeMs('When it was set.'),
  validFromMs: timeMs('Not used before this time.'),
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
  schedule: oneOf('hand: only when an operator starts a run.', schedules),
  onDay: optional(integer('Weekly: 1 (Monday) to 7. Monthly: the day of the month.', { min: 1, max: 31 })),
  bank: optional(
    displayed(bankName, {
      placeholder: 'main',
      suggests: 'banks',
      label: 'Paying bank account (default: main)',
      hint: 'The operator’s bank account that pays; main by default.',
    }),
  ),
  least: optional(displayed(amount('A smaller amount waits for the next run.'), { placeholder: '10.00' })),
  reserve: optional(
    displayed(amount('Fixed amount that stays in the merchant’s balance for refunds.'), {
      placeholder: '100.00',
    }),
  ),
  reservePercent: optional(
    displayed(
      matching('An additional reserve: a share of recent sales.', {
        regexp: /^(100|[0-9]{1,2})(\.[0-9]{1,2})?$/,
        expected: 'a percentage from 0 to 100, such as 5 or 2.5',
      }),
      { placeholder: '5' },
    ),
  ),
  reserveDays: optional(
    integer('Number of days of sales that `reservePercent` applies to.', { min: 1, max: 180 }),
  ),
}
export const plan = object('A schedule.', {
  merchantId,
  currency,
  ...planFields,
  nextDay: optional(day('Next payout day, in UTC.')),
  lastDay: optional(day('The last processed day.')),
  lastOutcome: optional(oneOf('The result of that day.', planOutcomes)),
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
  status: oneOf('sent: in the run’s file.', payoutStatuses),
  currency,
  amount: amount('The amount.'),
  walletId: optional(text('For a consumer’s withdrawal: the wallet.', { max: 64 })),
  planDay: optional(day('The scheduled day; absent for a payout on request.')),
  ...bankDetails,
  requestedAtMs: timeMs('When it was requested.'),
  sentAtMs: optional(timeMs('When its run was sent.')),
  endedAtMs: optional(timeMs('When it was paid, returned or cancelled.')),
  reference: optional(booking.reference),
  valueDate: optional(booking.valueDate),
  message: optional(text('Why it was returned or cancelled.', { max: 256 })),
})

export function toPayout({ account, amountMinor, ...rest }: Payout) {
  return { ...account, ...rest, amount: toDecimalText(amountMinor, rest.currency) }
}

export const runFields = {
  runId,
  bank: bankName,
  currency,
  day: day('The day of its payouts.'),
  part: optional(
    count(
      'The number of the run on its day. When a run is closed, later payouts of the day go into the next part.',
    ),
  ),
  createdAtMs: timeMs('When it was started.'),
  closedAtMs: optional(timeMs('No payout is added after this time.')),
  sentAtMs: optional(timeMs('When the payment file became available.')),
  ending: optional(
    oneOf('The run’s result. Its payouts are updated shortly afterwards.', ['paid', 'cancelled']),
  ),
  endedAtMs: optional(timeMs('When the last payout was updated.')),
}
export const run = object('A run.', runFields)
export const runWithTotals = object('A run.', {
  ...runFields,
  totals: list(
    'By status.',
    object('Its payouts with one status.', {
      status: oneOf('The status.', payoutStatuses),
      payouts: count('Number of payouts.'),
      sum: amount('Their sum.'),
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
