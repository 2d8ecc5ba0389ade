// The home page: balances, today's figures, open tasks, and until the first payment the next steps.

import { availableMinor } from '../../../core/ledger/rules/transfer.ts'
import type { Account } from '../../../core/ledger/store/ledger.ts'
import type { Merchant, MerchantKey } from '../../../core/merchants/rules/merchant.ts'
import type { Attention, OrderTally } from '../../../finance/overview/store/merchant-figures.ts'
import { countedAtMost, talliedAtMost } from '../../../finance/overview/store/merchant-figures.ts'
import type { Dispute } from '../../../finance/rails/disputes/rules/dispute.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { fill } from '../../kit/languages/words.ts'
import { chart, type Line } from '../../kit/pages/charts.ts'
import { emptyState, segments, urlWith } from '../../kit/pages/tables.ts'
import { actLink, card, countUpTo } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'
import { outcomeText } from './callbacks.ts'
import { nextPayout } from './next-payout.ts'
import { orderTable } from './orders.ts'

const dayMs = 86_400_000
const recentOrders = 5
const disputesShown = 5
const periods = [
  { name: 'day', steps: 24, stepMs: 3_600_000 },
  { name: 'week', steps: 7, stepMs: dayMs },
  { name: 'month', steps: 30, stepMs: dayMs },
] as const

export const homeArea: readonly PortalRoute[] = [{ path: '', show }]

async function show(visit: Visit): Promise<PortalPage> {
  const { operations, context, nowMs, language } = visit
  const { words } = language
  const period = periods.find(({ name }) => name === visit.query.get('period')) ?? periods[1]
  const sinceMs = nowMs - (nowMs % period.stepMs) - (period.steps - 1) * period.stepMs
  const [{ merchant, keys }, accounts, tallies, attention, { orders }, plans, disputes] = await Promise.all([
    operations.merchants.showMerchant(context, context.merchantId),
    operations.readMerchant.listAccounts(context),
    operations.readMerchant.tallyOrders(context, { sinceMs, stepMs: period.stepMs }),
    operations.readMerchant.countAttention(context, nowMs - dayMs),
    operations.orders.listOrders(context, { merchantId: context.merchantId }, { limit: recentOrders }),
    operations.readMerchant.listPayoutPlans(context),
    operations.disputes.listDisputes(context, { isOpen: true, isByDeadline: true, limit: disputesShown }),
  ])
  const isPaid = accounts.some(({ creditsPostedMinor }) => creditsPostedMinor > 0n)
  return {
    title: words.nav.home,
    area: 'home',
    content: html`${!isPaid && checklist(visit, { merchant, keys, hasOrders: orders.length > 0 })}
${needs(visit, { merchant, keys, attention, disputes })}
<dl class="figures">${balance(visit, accounts)}${nextPayout(visit, plans, accounts)}</dl>
${activity(visit, { tallies, period, sinceMs })}
${
  orders.length > 0 &&
  html`<h2>${words.home.recent}</h2>${await orderTable(visit, orders)}<p><a class="button" href="${pathTo('/orders')}">${words.home.allOrders}${icon('arrow-right')}</a></p>`
}`,
  }
}

function balance({ language: { words, formats } }: Visit, accounts: readonly Account[]): Content {
  if (accounts.length === 0) return html`<div><dt>${words.home.balance}</dt><dd class="quiet">—</dd></div>`
  return accounts.map((account) => {
    const { currency, debitsPendingMinor: held } = account
    return html`<div><dt>${words.home.balance}${accounts.length > 1 && ` (${currency})`}</dt><dd>${formats.money(availableMinor(account), currency)}${
      held > 0n &&
      html`<span class="small quiet">${fill(words.home.held, { amount: formats.money(held, currency) })}</span>`
    }</dd></div>`
  })
}

interface Activity {
  readonly tallies: readonly OrderTally[]
  readonly period: (typeof periods)[number]
  readonly sinceMs: number
}

/** Volume, orders and success rate of the chosen period and currency, by step. */
function activity(visit: Visit, { tallies, period, sinceMs }: Activity): Html {
  const { query, language } = visit
  const { words, formats } = language
  const { home, common } = words
  const currencies = [...new Set(tallies.map(({ currency }) => currency))].toSorted(
    (a, b) =>
      sum(tallies.filter((each) => each.currency === b)) - sum(tallies.filter((each) => each.currency === a)),
  )
  const currency = currencies.find((each) => each === query.get('currency')) ?? currencies[0]
  const starts = Array.from({ length: period.steps }, (_, index) => sinceMs + index * period.stepMs)
  const of = (fromMs: number, paid?: 'paid' | 'ended') =>
    tallies.filter(
      (each) =>
        each.fromMs === fromMs &&
        each.currency === currency &&
        (paid === undefined || (paid === 'paid' ? each.status === 'success' : isEnded(each.status))),
    )
  const write = (minor: number) => formats.moneyText(BigInt(Math.round(minor)), currency ?? 'EUR')
  const common3 = {
    times: starts.map((each) =>
      period.name === 'day' ? new Date(each).toISOString().slice(11, 16) : formats.dayOfMonth(each),
    ),
    words: { table: common.table, none: home.noneInPeriod, now: common.now },
  }
  const line = (
    label: string,
    look: Line['look'],
    values: (number | undefined)[],
    text: (value: number) => string,
  ) => ({
    label,
    look,
    values,
    texts: values.map((value) => (value === undefined ? '—' : text(value))),
    whole: '',
  })
  const volume = starts.map((each) =>
    Number(of(each, 'paid').reduce((total, { amountMinor }) => total + amountMinor, 0n)),
  )
  const created = starts.map((each) => sum(of(each)))
  const paid = starts.map((each) => sum(of(each, 'paid')))
  const ended = starts.map((each) => sum(of(each, 'ended')))
  const total = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
  const share = (part: number, whole: number) => (whole === 0 ? undefined : part / whole)
  const percent = (value: number | undefined) =>
    value === undefined ? '—' : `${formats.number(Math.round(value * 1000) / 10)}%`
  const choose = (
    name: string,
    values: readonly string[],
    chosen: string | undefined,
    labelOf: (value: string) => string,
  ) =>
    segments(
      name === 'period' ? home.period : (chosen ?? ''),
      chosen,
      values.map((each) => [each, labelOf(each), urlWith(pathTo(''), query, { [name]: each })]),
    )
  return html`<div class="acts">${choose(
    'period',
    periods.map(({ name }) => name),
    period.name,
    (each) => home[each as typeof period.name],
  )}${currencies.length > 1 && choose('currency', currencies, currency, (each) => each)}</div>
${
  currency === undefined
    ? emptyState('receipt-text', {
        heading: home.noneInPeriod,
        text: home.chartsText,
        next: actLink(visit, 'newLink'),
      })
    : html`<div class="charts">
${chart({ ...common3, id: 'chart-volume', title: home.volume, write, lines: [{ ...line(home.volume, 'first', volume, write), whole: write(total(volume)) }] })}
${chart({
  ...common3,
  id: 'chart-orders',
  title: home.orders,
  write: formats.number,
  lines: [
    { ...line(home.orders, 'first', created, formats.number), whole: formats.number(total(created)) },
    { ...line(home.paidOrders, 'second', paid, formats.number), whole: formats.number(total(paid)) },
  ],
})}
${chart({
  ...common3,
  id: 'chart-success',
  title: home.successRate,
  top: 1,
  write: percent,
  lines: [
    {
      ...line(
        home.successRate,
        'first',
        starts.map((_, index) => share(paid[index] ?? 0, ended[index] ?? 0)),
        percent,
      ),
      whole: percent(share(total(paid), total(ended))),
    },
  ],
})}
</div>`
}${
  sum(tallies) >= talliedAtMost &&
  html`<p class="quiet">${fill(home.todayMore, { count: formats.number(talliedAtMost) })}</p>`
}`
}

function isEnded(status: OrderTally['status']): boolean {
  return status !== 'pending' && status !== 'confirming'
}

function sum(tallies: readonly OrderTally[]): number {
  return tallies.reduce((total, { orders }) => total + orders, 0)
}

interface Shop {
  readonly merchant: Merchant
  readonly keys: readonly MerchantKey[]
}

function hasLive(keys: readonly MerchantKey[], wanted: MerchantKey['kind']): boolean {
  return keys.some(({ kind, revokedAtMs }) => kind === wanted && revokedAtMs === undefined)
}

function needs(
  { language, account }: Visit,
  {
    merchant,
    keys,
    attention,
    disputes,
  }: Shop & { readonly attention: Attention; readonly disputes: readonly Dispute[] },
): Content {
  const { home } = language.words
  const counted = (text: string, count: number, to: string, look?: 'wait'): Html | false =>
    count > 0 && item(to, fill(text, { count: countUpTo(count, countedAtMost, language) }), look)
  const urgent = [
    ...disputes
      .filter(({ response }) => !response)
      .map((dispute) => item(`/disputes/${dispute.disputeId}`, disputeText(language, dispute))),
    merchant.status === 'suspended' && item('/settings', home.suspended),
    !hasLive(keys, 'rsa') && item('/keys', home.noRsa),
    !hasLive(keys, 'aes') && item('/keys', home.noAes),
    attention.mostFailing &&
      item(
        '/callbacks?state=waiting',
        fill(home.retrying, {
          count: countUpTo(attention.retrying, countedAtMost, language),
          reason: outcomeText(language.words, attention.mostFailing),
          host: attention.mostFailing.host,
        }),
      ),
    attention.retrying === 0 && counted(home.failing, attention.failing, '/callbacks'),
    counted(home.exhausted, attention.exhausted, '/callbacks?state=exhausted'),
  ].filter((each) => each !== false && each !== undefined)
  const found = [
    ...urgent,
    counted(home.waiting, attention.waiting - attention.retrying, '/callbacks?state=waiting', 'wait'),
    counted(home.refused, attention.refused, '/requests', 'wait'),
    account.hasPassword && !account.hasSecondStep && item('/account', home.noSecondStep, 'wait'),
  ].filter((each) => each !== false)
  return found.length === 0
    ? undefined
    : html`<section class="attention${urgent.length === 0 && ' mild'}"><h2>${home.attention}</h2><ul>${found}</ul></section>`
}

function disputeText({ words, formats }: Visit['language'], dispute: Dispute): Content {
  const { amountMinor, currency, respondByMs } = dispute
  const amount = formats.money(amountMinor, currency)
  return respondByMs === undefined
    ? fill(words.disputes.attentionOpen, { amount })
    : fill(words.disputes.attention, { amount, time: formats.time(respondByMs) })
}

function item(to: string, text: Content, look: 'bad' | 'wait' = 'bad'): Html {
  return html`<li><a href="${pathTo(to)}"><span class="${look}">${icon(look === 'bad' ? 'circle-alert' : 'info')}</span>${text}</a></li>`
}

function checklist(
  { language: { words } }: Visit,
  { merchant, keys, hasOrders }: Shop & { readonly hasOrders: boolean },
): Html {
  const { home } = words
  const steps = [
    [hasLive(keys, 'rsa') && hasLive(keys, 'aes'), home.stepKeys, home.stepKeysText, pathTo('/keys')],
    [
      merchant.defaultCallbackUrl !== undefined,
      home.stepCallback,
      home.stepCallbackText,
      pathTo('/settings'),
    ],
    [hasOrders, home.stepOrder, home.stepOrderText, '/docs/quickstart'],
    [false, home.stepPaid, home.stepPaidText, pathTo('/orders')],
  ] as const
  return card(
    home.start,
    html`<ol class="steps">${steps.map(
      ([isDone, title, text, to]) =>
        html`<li class="${isDone ? 'good' : 'open'}">${icon(isDone ? 'circle-check' : 'circle-dashed')}<a href="${to}">${title}</a> <span class="hidden">(${isDone ? home.isDone : home.isOpen})</span><br><span class="quiet">${text}</span></li>`,
    )}</ol>`,
  )
}
