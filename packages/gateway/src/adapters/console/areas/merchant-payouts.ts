// One merchant's payouts: schedules, bank accounts, and each payout.
import { merchantIdPattern } from '@tillgate/protocol'
import { toPlan } from '../../../actions/payouts/payout-fields.ts'
import {
  type BankAccountState,
  describeBankDetails,
  type MerchantBankAccount,
  stateOf,
} from '../../../finance/payouts/rules/merchant-bank-account.ts'
import type { Payout } from '../../../finance/payouts/rules/payout.ts'
import {
  describeTimetable,
  type PayoutPlan,
  type PlanOutcome,
} from '../../../finance/payouts/rules/payout-plan.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { facts, number, pages, table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../console.ts'
import { status } from '../statuses.ts'
import { ago, amount, moment } from '../words.ts'
import { payoutTable } from './payouts.ts'

const path = '/merchants/:merchantId/payouts'
const perPage = 50

export const merchantPayoutsArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}/:payoutId`, show: showPayout },
]

async function show(visit: Visit): Promise<ConsolePage | undefined> {
  const { merchantId = '' } = visit.params
  const { nowMs, query } = visit
  const { operations, context } = visit
  if (!merchantIdPattern.test(merchantId)) return undefined
  const found = await orNothing(operations.merchants.showMerchant(context, merchantId))
  if (!found) return undefined
  const before = query.get('before') ?? undefined
  const [plans, accounts, listed] = await Promise.all([
    operations.payoutPlans.listPlans(context, merchantId),
    operations.bankAccounts.listBankAccounts(context, merchantId),
    operations.payouts.listPayouts(context, { merchantId }, { before, limit: perPage + 1 }),
  ])
  const shown = listed.slice(0, perPage)
  const [plan] = plans
  return {
    title: `Payouts of ${found.merchant.name}`,
    area: 'merchants',
    beside: actionForms(visit, 'merchant.payouts', { values: { merchantId, ...(plan && planValues(plan)) } }),
    content: html`<p><a href="/merchants/${merchantId}">${found.merchant.name}</a> · <a href="/merchants/${merchantId}/money">Money, fees and statement</a> · <a href="/payouts">All runs</a></p>
<h2>Payout schedules</h2>${planTable(plans)}
<h2>Bank accounts</h2>${accountTable(visit, accounts)}
<h2>Payouts</h2>${payoutTable(shown, { nowMs, none: 'No payouts yet.' })}
${pages(`/merchants/${merchantId}/payouts`, query, { older: listed.length > perPage ? shown.at(-1)?.payoutId : undefined })}`,
  }
}

async function showPayout(visit: Visit): Promise<ConsolePage | undefined> {
  const { merchantId = '', payoutId = '' } = visit.params
  const payout = await orNothing(visit.operations.payouts.findPayout(visit.context, { merchantId, payoutId }))
  if (!payout) return undefined
  const { nowMs } = visit
  return {
    title: 'Payout',
    area: 'merchants',
    beside: actionForms(visit, 'payout', { subject: payout, values: { merchantId, payoutId } }),
    content: html`<p>${status(payout.status)} · <a href="/merchants/${merchantId}/payouts">All payouts of this merchant</a> · <a href="/payouts/${payout.runId}">Payout run</a></p>
${facts([
  ['Amount', amount(payout.amountMinor, payout.currency)],
  ['To', html`<span class="wrap">${describeBankDetails(payout.account)}</span>`],
  ['Payout ID (end-to-end ID)', html`<code class="wrap">${payoutId}</code>`],
  ['Source', reasonOf(payout)],
  ['Requested', moment(payout.requestedAtMs, nowMs)],
  ['Sent', moment(payout.sentAtMs, nowMs)],
  ['Ended', moment(payout.endedAtMs, nowMs)],
  payout.reference !== undefined &&
    (['Bank’s reference', html`<span class="wrap">${payout.reference}</span>`] as const),
  payout.valueDate !== undefined && (['Value date', payout.valueDate] as const),
  payout.message !== undefined && (['Reason', html`<span class="wrap">${payout.message}</span>`] as const),
])}`,
  }
}

const outcomes = {
  paid_out: statusBadge('good', 'Paid out'),
  nothing_to_pay: statusBadge('off', 'Nothing to pay'),
  no_bank_account: statusBadge('bad', 'No bank account'),
  suspended: statusBadge('bad', 'Merchant suspended'),
  bank_closed: statusBadge('bad', 'Bank account closed'),
} as const satisfies Record<PlanOutcome, Html>

function planTable(plans: readonly PayoutPlan[]): Html {
  return table(
    'Payout schedules',
    ['Currency', 'Schedule', 'Next', 'Last', number('Reserve'), number('Minimum'), 'Bank account'],
    plans.map((plan) => [
      plan.currency,
      describeTimetable(plan),
      plan.nextDay ?? '—',
      plan.lastOutcome === undefined ? '—' : html`${plan.lastDay} ${outcomes[plan.lastOutcome]}`,
      stays(plan),
      amount(plan.leastMinor, plan.currency),
      plan.bankName,
    ]),
    { none: 'No payout schedule. Set one, or pay out from the merchant’s page.' },
  )
}

function stays({ reserve: { fixedMinor, shareBasisPoints, shareDays }, currency }: PayoutPlan): Html {
  return html`${amount(fixedMinor, currency)}${
    shareDays > 0 &&
    html` <span class="quiet">plus ${shareBasisPoints / 100}% of ${shareDays} days’ sales</span>`
  }`
}

const accountLooks = {
  in_use: statusBadge('good', 'In use'),
  waiting: statusBadge('wait', 'Waiting'),
  replaced: statusBadge('off', 'Replaced'),
  stopped: statusBadge('off', 'Stopped'),
} as const satisfies Record<BankAccountState, Html>

function accountTable(visit: Visit, accounts: readonly MerchantBankAccount[]): Html {
  const { nowMs } = visit
  return table(
    'Bank accounts, newest first',
    ['Currency', 'Status', 'Account', 'Added', 'Effective from', 'Actions'],
    accounts.map((account) => {
      const { merchantId, bankAccountId, currency } = account
      const own = accounts.filter((each) => each.currency === currency)
      return [
        currency,
        accountLooks[stateOf(account, own, nowMs)],
        html`<span class="wrap">${describeBankDetails(account)}</span>`,
        ago(account.setAtMs, nowMs),
        ago(account.validFromMs, nowMs),
        actionForms(visit, 'merchant.bank-account', {
          subject: account,
          values: { merchantId, bankAccountId },
        }),
      ]
    }),
    { none: 'No bank account. Payouts need one.' },
  )
}

/** The values of the form. */
function planValues(plan: PayoutPlan) {
  const { currency, schedule, onDay, bank, least, reserve, ...share } = toPlan(plan)
  return {
    currency,
    schedule,
    onDay: onDay?.toString(),
    bank,
    least,
    reserve,
    reservePercent: 'reservePercent' in share ? share.reservePercent : undefined,
    reserveDays: 'reserveDays' in share ? share.reserveDays?.toString() : undefined,
  }
}

function reasonOf({ walletId, planDay }: Payout): Content {
  if (walletId !== undefined)
    return html`Withdrawal from wallet <a href="/wallets/${walletId}"><code>${walletId}</code></a>`
  return planDay === undefined ? 'Manual' : `Schedule of ${planDay}`
}
