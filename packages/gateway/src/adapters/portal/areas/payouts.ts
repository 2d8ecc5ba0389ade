// The shop's payouts: schedule, amounts, status, and the destination account.

import {
  describeBankDetails,
  type MerchantBankAccount,
  stateOf,
} from '../../../finance/payouts/rules/merchant-bank-account.ts'
import type { Payout } from '../../../finance/payouts/rules/payout.ts'
import type { PayoutPlan } from '../../../finance/payouts/rules/payout-plan.ts'
import { type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { empty, emptyState, facts, number, table } from '../../kit/pages/tables.ts'
import { actLink, acts, card, moneyTabs, pages, status, tabs, time } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'

const perPage = 25

export const payoutsArea: readonly PortalRoute[] = [
  { path: '/payouts', show: list },
  { path: '/payouts/:payoutId', show },
  { path: '/bank', show: showBank },
]

async function list(visit: Visit): Promise<PortalPage> {
  const { operations, context, query } = visit
  const { words } = visit.language
  const before = query.get('before') ?? undefined
  const [plans, listed] = await Promise.all([
    operations.readMerchant.listPayoutPlans(context),
    operations.readMerchant.listPayouts(context, { before, limit: perPage + 1 }),
  ])
  const shown = listed.slice(0, perPage)
  return {
    title: words.tabs.payouts,
    docs: '/docs/payouts',
    area: 'money',
    content: html`${tabs(visit, moneyTabs, 'payouts')}
${card(words.payouts.when, plans.length === 0 ? empty(words.payouts.noPlan) : facts(plans.map((plan) => planFact(visit, plan))))}
${shown.length === 0 ? emptyState('landmark', { heading: words.payouts.none }) : payoutTable(visit, shown)}
${pages(visit, { path: '/payouts', older: listed.length > perPage ? shown.at(-1)?.payoutId : undefined })}`,
  }
}

function planFact({ language: { words } }: Visit, { currency, schedule, nextDay }: PayoutPlan) {
  const next = nextDay !== undefined && html`, ${fill(words.payouts.next, { day: nextDay })}`
  return [currency, html`${words.payouts.schedules[schedule]}${next}`] as const
}

function payoutTable(visit: Visit, payouts: readonly Payout[]): Html {
  const { language } = visit
  const { words, formats } = language
  return table(
    words.tabs.payouts,
    [words.payouts.requested, number(words.orders.amount), words.common.status, words.payouts.to],
    payouts.map(({ payoutId, amountMinor, currency, status: name, requestedAtMs, account }) => [
      html`<a href="${pathTo('/payouts/:payoutId', { payoutId })}">${time(requestedAtMs, language)}</a>`,
      formats.money(amountMinor, currency),
      status(name, language),
      html`<bdi class="wrap">${describeBankDetails(account)}</bdi>`,
    ]),
    { isTall: true, isList: true },
  )
}

async function show(visit: Visit): Promise<PortalPage | undefined> {
  const { operations, context, language, params } = visit
  const { words, formats } = language
  const payout = await operations.readMerchant.findPayout(context, params['payoutId'] ?? '')
  if (!payout) return undefined
  const at = (label: string, timeMs: number | undefined) =>
    timeMs !== undefined && ([label, time(timeMs, language)] as const)
  return {
    title: words.payouts.payout,
    area: 'money',
    content: html`<p class="figure">${formats.money(payout.amountMinor, payout.currency)} ${status(payout.status, language)}</p>
${card(
  words.payouts.payout,
  facts([
    [words.payouts.to, html`<span class="wrap"><bdi>${describeBankDetails(payout.account)}</bdi></span>`],
    [words.payouts.number, html`<code class="wrap">${payout.payoutId}</code>`],
    at(words.payouts.requested, payout.requestedAtMs),
    at(words.payouts.sent, payout.sentAtMs),
    at(words.orders.completed, payout.endedAtMs),
    payout.reference !== undefined &&
      ([words.payouts.reference, html`<span class="wrap"><bdi>${payout.reference}</bdi></span>`] as const),
    payout.message !== undefined &&
      ([words.orders.message, html`<span class="wrap"><bdi>${payout.message}</bdi></span>`] as const),
  ]),
)}
<p><a class="button" href="${pathTo('/payouts')}">${words.common.back}</a></p>`,
  }
}

async function showBank(visit: Visit): Promise<PortalPage> {
  const { operations, context } = visit
  const { words } = visit.language
  // If the settings require approval for such changes, an operator makes them.
  const mayChangeBank = !operations.approvalPolicy.words.includes('destination')
  const accounts = await operations.bankAccounts.listBankAccounts(context, context.merchantId)
  return {
    title: words.tabs.bank,
    area: 'money',
    beside: accounts.length > 0 && mayChangeBank && actLink(visit, 'bankAccount'),
    content: html`${tabs(visit, moneyTabs, 'bank')}${
      accounts.length === 0
        ? emptyState('landmark', {
            heading: words.bank.none,
            text: mayChangeBank ? words.bank.text : words.bank.byOperator,
            next:
              mayChangeBank && actLink(visit, 'bankAccount', {}, { isPrimary: true, label: words.bank.add }),
          })
        : html`<p>${words.bank.text}</p>${!mayChangeBank && html`<p>${words.bank.byOperator}</p>`}
<div class="grid">${accounts.map((account) => accountCard(visit, account, accounts))}</div>`
    }`,
  }
}

const looks = { in_use: 'good', waiting: 'wait', replaced: 'off', stopped: 'off' } as const

function accountCard(visit: Visit, account: MerchantBankAccount, all: readonly MerchantBankAccount[]): Html {
  const { language, nowMs } = visit
  const { words } = language
  const { currency, bankAccountId } = account
  const state = stateOf(
    account,
    all.filter((each) => each.currency === currency),
    nowMs,
  )
  return card(
    currency,
    html`<p><span class="wrap"><bdi>${describeBankDetails(account)}</bdi></span></p><p>${statusBadge(looks[state], words.bank.states[state])}</p>
${facts([[words.bank.from, time(account.validFromMs, language)]])}
${state === 'waiting' && acts(actLink(visit, 'stopBankAccount', { bankAccountId }))}`,
  )
}
