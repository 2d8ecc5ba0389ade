// Merchants' bank accounts for payouts, payout schedules, and single payouts on request.
import { Failure, isCurrencyCode, toDecimalText, toMinorUnits } from '@tillgate/protocol'
import type { PlanGiven } from '../../finance/payouts/manage-plans.ts'
import type { MerchantBankAccount } from '../../finance/payouts/rules/merchant-bank-account.ts'
import {
  accountAt,
  describeBankDetails,
  parseMerchantBankDetails,
} from '../../finance/payouts/rules/merchant-bank-account.ts'
import { describePlan } from '../../finance/payouts/rules/payout-plan.ts'
import { mainBank } from '../../finance/treasury/rules/operator-bank-account.ts'
import { type Action, type ActionCall, defineAction, defineSharedAction, form } from '../action.ts'
import { amount, displayed, list, object } from '../fields.ts'
import { doneBefore, replyDoneBefore } from '../running/done-before.ts'
import {
  byMerchant,
  currency,
  merchantId,
  moneyChecks,
  moneyOf,
  outsideMoney,
  outsideOf,
  reason,
  shownWhole,
  uuid,
} from '../shared-fields.ts'
import {
  bankAccount,
  bankDetails,
  payoutId,
  plan,
  planFields,
  toBankAccount,
  toPlan,
} from './payout-fields.ts'

const key = object('Which merchant.', { merchantId })
const page = '/merchants/:merchantId/payouts'
const { amount: howMuch, bank } = outsideMoney
const bankAccountId = displayed(uuid('The bank account’s ID.'), { option: 'bank-account' })

export const payoutPlanActions: readonly Action[] = [
  defineAction({
    name: 'merchant.payout',
    scope: 'money:move',
    summary: 'Pay out a merchant in a separate run',
    params: key,
    input: object('The amount.', {
      amount: howMuch,
      currency,
      bank,
      whole: shownWhole('Bank account of the merchant'),
      reason,
    }),
    checks: { currency: moneyChecks.currency, amount: moneyChecks.amount },
    answer: object('The requested payout.', {
      ...doneBefore,
      payoutId,
      left: amount('The merchant’s remaining balance.'),
    }),
    isOnce: true,
    form: {
      place: 'merchant.money',
      page: '/merchants/:merchantId',
      label: 'Pay out…',
      explains:
        'The money is held in the merchant’s balance. The payout goes to the merchant’s bank account in a separate run, which you send to the bank. The schedule’s reserve does not apply.',
      button: 'Pay out',
      isDangerous: true,
    },
    pin: async (call) => ({ whole: await payableTo(call, call.input.currency) }),
    async run(call) {
      const { operations, context, params, input, idempotencyKey } = call
      const { merchants, payouts } = operations
      await merchants.showMerchant(context, params.merchantId)
      const { bankName } = outsideOf(input)
      const doneBeforeMs =
        idempotencyKey === undefined ? undefined : await payouts.doneAt(context, idempotencyKey)
      if (input.whole !== undefined && input.whole !== (await payableTo(call, input.currency)))
        throw new Failure('status_does_not_allow', {
          message: 'The merchant’s bank account has changed since this was requested. Reject this request.',
        })
      const { payoutId: made, leftMinor } = await payouts.requestPayout(
        context,
        { ...moneyOf(input), ...params, bankName },
        { reason: input.reason, idempotencyKey },
      )
      return { payoutId: made, left: toDecimalText(leftMinor, input.currency), doneBeforeMs }
    },
    reply: (answer, { params, input }) =>
      replyDoneBefore(answer) ?? {
        text: `${input.amount} ${input.currency} is held for payout ${answer.payoutId} to merchant ${params.merchantId}; ${answer.left} ${input.currency} remain in the balance. Send the run to the bank.`,
      },
  }),
  defineSharedAction({
    name: 'merchant.bank-account',
    scope: 'merchants:manage',
    summary:
      'Set the bank account for a merchant’s payouts in a currency. A new account waits before it is used',
    params: key,
    input: object('The account.', { currency, ...bankDetails, reason }),
    checks: {
      currency: moneyChecks.currency,
      holder: (given) => void parseMerchantBankDetails(detailsOf(given)),
    },
    answer: object('The bank account.', { bankAccount }),
    form: {
      place: 'merchant.payouts',
      page,
      label: 'Set bank account…',
      explains:
        'Payouts in this currency go to this account after the waiting period; until then, the previous account is used. If a mail server is configured, the merchant’s contacts get an email and can object; you can then stop the change.',
      button: 'Set bank account',
      needsConfirmation: true,
      isDangerous: true,
    },
    portal: [
      {
        roles: ['owner'],
        name: 'bankAccount',
        path: '/bank/change',
        page: '/bank',
        fields: ['currency', 'holder', 'iban', 'lines', 'bic'],
        fixed: { reason: byMerchant },
        needsConfirmation: true,
        isDangerous: true,
      },
    ],
    async run({ operations, context, params, input, nowMs }) {
      await operations.merchants.showMerchant(context, params.merchantId)
      const account = { currency: input.currency, ...parseMerchantBankDetails(detailsOf(input)) }
      const result = await operations.bankAccounts.setBankAccount(context, params.merchantId, account, {
        reason: input.reason,
      })
      return { bankAccount: toBankAccount(result, [result], nowMs) }
    },
    reply: ({ bankAccount: set }) => ({
      text: `The bank account is set. Payouts in ${set.currency} go there from ${new Date(set.validFromMs).toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
    }),
  }),
  defineSharedAction({
    name: 'merchant.stop-bank-account',
    apiPath: '/merchants/:merchantId/bank-accounts/:bankAccountId/stop',
    scope: 'merchants:manage',
    summary: 'Stop a waiting bank account. The previous one stays in use',
    params: object('The bank account to stop.', { merchantId, bankAccountId }),
    input: object('The reason.', { whole: shownWhole('Payouts then go to'), reason }),
    answer: object('The stopped account.', { bankAccountId }),
    form: form<MerchantBankAccount>({
      place: 'merchant.bank-account',
      path: `${page}/bank-accounts/:bankAccountId/stop`,
      page,
      label: 'Stop…',
      explains: (account) =>
        `No payout goes to this account: ${describeBankDetails(account)}. The previous account stays in use.`,
      button: 'Stop account',
      isDangerous: true,
      isOffered: ({ validFromMs, endedAtMs }, { nowMs }) => endedAtMs === undefined && validFromMs > nowMs,
    }),
    portal: [
      {
        roles: ['owner', 'finance'],
        name: 'stopBankAccount',
        path: '/bank/:bankAccountId/stop',
        page: '/bank',
        fields: [],
        fixed: { reason: byMerchant },
        isDangerous: true,
      },
    ],
    pin: async ({ operations, context, params, nowMs }) => {
      const all = await operations.bankAccounts.listBankAccounts(context, params.merchantId)
      const stopped = all.find((each) => each.bankAccountId === params.bankAccountId)
      const previous = await payableTo({ operations, context, params, nowMs }, stopped?.currency)
      return stopped && previous !== noAccount
        ? { whole: `${previous}, not to ${describeBankDetails(stopped)}` }
        : {}
    },
    async run({ operations, context, params, input }) {
      await operations.bankAccounts.stopBankAccount(context, params, input.reason)
      return params
    },
    reply: () => ({ text: 'The bank account is stopped and will not be used.' }),
  }),
  defineAction({
    name: 'payout-plan.show',
    scope: 'payouts:read',
    summary: 'Show a merchant’s bank accounts and payout schedules',
    params: key,
    answer: object('Both.', {
      plans: list('By currency.', plan),
      bankAccounts: list('By currency, newest first.', bankAccount),
    }),
    command: {
      columns: [
        'currency',
        'schedule',
        'bank',
        'nextDay',
        'lastDay',
        'lastOutcome',
        'state',
        'holder',
        'iban',
      ],
    },
    async run({ operations, context, params, nowMs }) {
      await operations.merchants.showMerchant(context, params.merchantId)
      const { payoutPlans, bankAccounts } = operations
      const accounts = await bankAccounts.listBankAccounts(context, params.merchantId)
      return {
        plans: (await payoutPlans.listPlans(context, params.merchantId)).map(toPlan),
        bankAccounts: accounts.map((each) => toBankAccount(each, accounts, nowMs)),
      }
    },
  }),
  defineAction({
    name: 'payout-plan.set',
    scope: 'money:move',
    summary: 'Set a merchant’s payout schedule for a currency; takes effect tomorrow',
    params: key,
    input: object('The schedule.', {
      currency,
      ...planFields,
      whole: shownWhole('The whole schedule'),
      reason,
    }),
    checks: {
      currency: moneyChecks.currency,
      least: ({ least, currency: code }) => void minorOf(least, code, 'least'),
      reserve: ({ reserve, currency: code }) => void minorOf(reserve, code, 'reserve'),
      schedule: ({ schedule, onDay }) => checkOnDay(String(schedule), onDay as number | undefined),
    },
    answer: plan,
    form: {
      place: 'merchant.payouts',
      path: `${page}/plan`,
      page,
      label: 'Set schedule…',
      explains:
        'On payout days, the merchant gets the balance minus the reserve. The first payout is tomorrow at the earliest. Empty fields are reset to their defaults.',
      button: 'Set schedule',
    },
    pin: async ({ params, input }) => ({ whole: describePlan(planOf(params.merchantId, input)) }),
    async run({ operations, context, params, input }) {
      await operations.merchants.showMerchant(context, params.merchantId)
      const { reason: why, ...given } = input
      return toPlan(await operations.payoutPlans.setPlan(context, planOf(params.merchantId, given), why))
    },
    reply: ({ nextDay, currency: code }) => ({
      text:
        nextDay === undefined
          ? `The schedule is set: ${code} is paid out when an operator starts a run.`
          : `The schedule is set: the next payout of ${code} is on ${nextDay} (UTC).`,
    }),
  }),
]

const noAccount = 'none'

/** The account that receives payouts now, as a second operator compares it. */
async function payableTo(
  {
    operations,
    context,
    params,
    nowMs,
  }: Pick<ActionCall<{ merchantId: string }>, 'operations' | 'context' | 'params' | 'nowMs'>,
  code: string | undefined,
): Promise<string> {
  const all = await operations.bankAccounts.listBankAccounts(context, params.merchantId)
  const found = accountAt(
    all.filter((each) => each.currency === code),
    nowMs,
  )
  return found ? describeBankDetails(found) : noAccount
}

function detailsOf(given: Readonly<Record<string, unknown>>) {
  // Safe: each was validated by its schema.
  const { holder, iban, lines, bic } = given as {
    holder: string
    iban?: string
    lines?: readonly string[]
    bic?: string
  }
  return { holder, iban, lines, bic }
}

function minorOf(written: unknown, code: unknown, field: string): bigint {
  if (typeof written !== 'string' || !isCurrencyCode(String(code))) return 0n
  const minor = toMinorUnits(written, String(code), field)
  if (minor >= 0n) return minor
  throw new Failure('invalid_field', { field, message: `${field} must not be below zero.` })
}

function checkOnDay(schedule: string, onDay: number | undefined): void {
  const most = schedule === 'weekly' ? 7 : 31
  const isWanted = schedule === 'weekly' || schedule === 'monthly'
  if (isWanted ? onDay !== undefined && onDay <= most : onDay === undefined) return
  throw new Failure('invalid_field', {
    field: 'onDay',
    message: isWanted
      ? `onDay must be a whole number from 1 to ${most} for a ${schedule} schedule.`
      : `onDay applies only to weekly and monthly schedules.`,
  })
}

type GivenPlan = Readonly<{
  currency: string
  schedule: PlanGiven['schedule']
  onDay?: number
  bank?: string
  least?: string
  reserve?: string
  reservePercent?: string
  reserveDays?: number
}>

function planOf(merchant: string, given: GivenPlan): PlanGiven {
  const { currency: code, schedule, onDay, reservePercent = '0', reserveDays = 0 } = given
  checkOnDay(schedule, onDay)
  const shareBasisPoints = Math.round(Number(reservePercent) * 100)
  if (shareBasisPoints > 0 !== reserveDays > 0)
    throw new Failure('invalid_field', {
      field: 'reserveDays',
      message:
        'Set both reservePercent and reserveDays, or neither: the reserve is reservePercent of the sales of the last reserveDays days.',
    })
  return {
    merchantId: merchant,
    currency: code,
    bankName: given.bank ?? mainBank,
    schedule,
    onDay,
    leastMinor: minorOf(given.least, code, 'least'),
    reserve: {
      fixedMinor: minorOf(given.reserve, code, 'reserve'),
      shareBasisPoints,
      shareDays: reserveDays,
    },
  }
}
