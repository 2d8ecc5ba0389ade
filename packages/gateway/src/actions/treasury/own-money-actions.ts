// The operator's own money: the opening balance of a bank account, deposits, withdrawals and fee sweeps.
import {
  Failure,
  isCurrencyCode,
  toDecimalText,
  toMinorUnits,
  toPositiveMinorUnits,
} from '@tillgate/protocol'
import type { OwnMoved } from '../../finance/treasury/move-own-money.ts'
import {
  type BankAccount,
  bankNamePattern,
  checkValueDate,
  mainBank,
} from '../../finance/treasury/rules/operator-bank-account.ts'
import { type Action, type ActionCall, defineAction, form } from '../action.ts'
import { amount, day, displayed, matching, object, optional, text } from '../fields.ts'
import { doneBefore, replyDoneBefore } from '../running/done-before.ts'
import {
  bankName,
  currency,
  money,
  moneyChecks,
  moneyOf,
  outsideChecks,
  outsideMoney,
  reason,
} from '../shared-fields.ts'

const key = object('The bank account.', {
  bankName: displayed(bankName, { option: 'name', label: 'Bank account' }),
})
const { reference, valueDate } = outsideMoney
const page = '/money/banks/:bankName'
const moved = {
  transferId: optional(
    text(
      'The ID of the transfer through the bank account. If you entered no reference, the ID is the reference.',
      { max: 64 },
    ),
  ),
  amount: optional(amount('The amount. Absent for a repeated sweep.')),
  ...doneBefore,
}
const isOpen = ({ closedAtMs }: BankAccount) => closedAtMs === undefined
const place = { place: 'bank', page, needsConfirmation: true, isOffered: isOpen } as const

export const ownMoneyActions: readonly Action[] = [
  defineAction({
    name: 'bank.opening-balance',
    scope: 'money:move',
    summary: 'Set a bank account’s opening balance, once per currency',
    params: key,
    input: object('The balance.', {
      amount: displayed(amount('The balance at the start of the day; negative if overdrawn.'), {
        placeholder: '1000.00',
      }),
      currency,
      day: day('The day that began with this balance: the first day of your first statement.'),
      reference,
      reason,
    }),
    checks: {
      currency: moneyChecks.currency,
      amount({ amount: written, currency: code }) {
        if (isCurrencyCode(String(code))) openingMinor(String(written), String(code))
      },
      day: ({ day: written }) => checkValueDate(String(written)),
    },
    answer: object('The opening balance.', moved),
    isOnce: true,
    form: form<BankAccount>({
      ...place,
      path: `${page}/opening-balance`,
      label: 'Set the opening balance…',
      explains:
        'The money that was in the account before the first statement becomes equity. Each currency has one opening balance. If the amount is wrong, reverse the transfer and set the balance again.',
      button: 'Set the opening balance',
    }),
    async run(call) {
      const { operations, context, params, input, idempotencyKey } = call
      const { currency: code, day: valueDate, reference: named, reason: why } = input
      const amountMinor = openingMinor(input.amount, code)
      const given = { ...params, currency: code, amountMinor, valueDate, reference: named }
      const done = await operations.ownMoney.setOpeningBalance(context, given, why, { idempotencyKey })
      return answered(call, done, code)
    },
    reply: (result, { params, input }) =>
      replyDoneBefore(result) ?? {
        text: `The bank account ${params.bankName} opened with ${input.amount} ${input.currency} on ${input.day}.`,
      },
  }),
  defineAction({
    name: 'bank.deposit',
    scope: 'money:move',
    summary: 'Record an owner’s deposit: your own money paid into a bank account',
    params: key,
    input: object('The amount.', { ...money, reference, valueDate }),
    checks: outsideChecks,
    answer: object('The deposit.', moved),
    isOnce: true,
    form: form<BankAccount>({
      ...place,
      path: `${page}/deposits`,
      label: 'Owner’s deposit…',
      explains:
        'Your own money is paid into this bank account and becomes equity. When the statement is imported, its line is matched with this record.',
      button: 'Record deposit',
    }),
    async run(call) {
      const { given, why } = givenOf(call)
      const { operations, context, idempotencyKey } = call
      return answered(
        call,
        await operations.ownMoney.deposit(context, given, why, { idempotencyKey }),
        given.currency,
      )
    },
    reply: (result, { input }) =>
      replyDoneBefore(result) ?? {
        text: `${input.amount} ${input.currency} is recorded as the owner’s deposit, ${result.transferId}.`,
      },
  }),
  defineAction({
    name: 'bank.withdraw',
    scope: 'money:move',
    summary: 'Record an owner’s withdrawal: your own money paid from a bank account',
    params: key,
    input: object('The amount.', { ...money, reference, valueDate }),
    checks: outsideChecks,
    answer: object('The withdrawal.', moved),
    isOnce: true,
    form: form<BankAccount>({
      ...place,
      path: `${page}/withdrawals`,
      label: 'Owner’s withdrawal…',
      explains:
        'Your own money leaves this bank account. You can withdraw at most your equity. The limit is lower if costs and losses exceed your unswept fees and interest.',
      button: 'Record withdrawal',
      isDangerous: true,
    }),
    async run(call) {
      const { given, why } = givenOf(call)
      const { operations, context, idempotencyKey } = call
      return answered(
        call,
        await operations.ownMoney.withdraw(context, given, why, { idempotencyKey }),
        given.currency,
      )
    },
    reply: (result, { input }) =>
      replyDoneBefore(result) ?? {
        text: `${input.amount} ${input.currency} is recorded as the owner’s withdrawal, ${result.transferId}.`,
      },
  }),
  defineAction({
    name: 'bank.sweep-fees',
    scope: 'money:move',
    summary: 'Sweep fees into equity. If another bank account holds the money, it is moved to this one',
    params: key,
    input: object('The amount.', {
      amount: optional(displayed(amount('All fees by default.'), { placeholder: '12.50' })),
      currency,
      fromBank: optional(
        displayed(
          matching('The bank account that holds the money; the same one by default.', {
            regexp: bankNamePattern,
            expected: 'the name of a bank account',
          }),
          { option: 'from', suggests: 'banks', placeholder: mainBank },
        ),
      ),
      reference,
      valueDate,
      reason,
    }),
    checks: outsideChecks,
    answer: object('The sweep.', moved),
    isOnce: true,
    form: form<BankAccount>({
      ...place,
      path: `${page}/fee-sweeps`,
      label: 'Sweep fees…',
      explains:
        'Fees become equity. If the money is already in this account, leave “From bank” empty; the sweep then appears on no statement. Otherwise the money moves here from the other account and appears on both statements.',
      button: 'Sweep fees',
    }),
    async run(call) {
      const { operations, context, params, input, idempotencyKey } = call
      const { currency: code, fromBank: fromBankName, reference: named, valueDate: date, reason: why } = input
      if (date !== undefined) checkValueDate(date)
      const amountMinor =
        input.amount === undefined ? undefined : toPositiveMinorUnits(input.amount, code, 'amount')
      const given = {
        ...params,
        currency: code,
        amountMinor,
        fromBankName,
        reference: named,
        valueDate: date,
      }
      const done = await operations.ownMoney.sweepFees(context, given, why, { idempotencyKey })
      const others = fromBankName === undefined ? [] : [fromBankName]
      return answered(call, done, code, others)
    },
    reply: (result, { params, input }) =>
      replyDoneBefore(result) ?? {
        text: `${result.amount ?? 'All'} ${input.currency} of fees are swept to ${params.bankName}.`,
      },
  }),
]

type OwnCall = ActionCall<
  { bankName: string },
  { amount: string; currency: string; reference?: string; valueDate?: string; reason: string }
>

function givenOf({ params, input }: OwnCall) {
  const { reason: why, ...given } = moneyOf(input)
  if (input.valueDate !== undefined) checkValueDate(input.valueDate)
  return { given: { ...params, ...given, reference: input.reference, valueDate: input.valueDate }, why }
}

/** The new transfer may match waiting statement lines. */
async function answered(
  {
    operations,
    context,
    params,
  }: Pick<ActionCall<{ bankName: string }>, 'operations' | 'context' | 'params'>,
  { transferId, amountMinor, doneBeforeMs }: OwnMoved,
  code: string,
  others: readonly string[] = [],
) {
  const { matchLines } = operations.reconciliation
  for (const name of [params.bankName, ...others]) await matchLines(context, `bank:${name}`)
  const written = amountMinor === undefined ? undefined : toDecimalText(amountMinor, code)
  return { transferId, amount: written, doneBeforeMs }
}

function openingMinor(written: string, code: string): bigint {
  const isOverdrawn = written.startsWith('-')
  const minor = toMinorUnits(isOverdrawn ? written.slice(1) : written, code, 'amount')
  if (minor === 0n)
    throw new Failure('invalid_field', {
      field: 'amount',
      message: 'amount is 0. An account that started empty has no opening balance.',
    })
  return isOverdrawn ? -minor : minor
}
