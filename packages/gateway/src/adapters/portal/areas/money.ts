// The shop's balances, and its statement as a file.

import { availableMinor } from '../../../core/ledger/rules/transfer.ts'
import type { LatestEntry } from '../../../core/ledger/store/merchant-statements.ts'
import { csvType } from '../../kit/downloads.ts'
import { type Html, html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { emptyState } from '../../kit/pages/tables.ts'
import { card, moneyTabs, tabs } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'
import { nextPayout } from './next-payout.ts'
import { transactionsPath, transactionTable } from './transactions.ts'

const dayMs = 86_400_000
const shownAtOnce = 10
const path = '/money/statement.csv'

export const moneyArea: readonly PortalRoute[] = [
  { path: '/money', show },
  { path, download },
]

async function show(visit: Visit): Promise<PortalPage> {
  const { operations, context, language, nowMs } = visit
  const { words, formats } = language
  const { money } = words
  const [accounts, plans, latest] = await Promise.all([
    operations.readMerchant.listAccounts(context),
    operations.readMerchant.listPayoutPlans(context),
    operations.readMerchant.listLatest(context, { limit: shownAtOnce + 1 }),
  ])
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return {
    title: words.nav.money,
    docs: '/docs/bills',
    area: 'money',
    content: html`${tabs(visit, moneyTabs, 'money')}${
      accounts.length === 0
        ? emptyState('coins', { heading: words.home.noMoney })
        : html`<dl class="figures">${accounts.map(
            (account) =>
              html`<div><dt>${money.available}${accounts.length > 1 && ` (${account.currency})`}</dt><dd>${formats.money(availableMinor(account), account.currency)}${
                account.debitsPendingMinor > 0n &&
                html`<span class="small quiet">${money.held}: ${formats.money(account.debitsPendingMinor, account.currency)}</span>`
              }</dd></div>`,
          )}${nextPayout(visit, plans, accounts)}</dl>`
    }
${latest.length > 0 && recent(visit, latest)}${card(
  money.statement,
  html`<p>${money.statementText}</p><form class="filters" action="${pathTo(path)}">
<label>${money.from}<input type="date" name="from" value="${today.slice(0, 8)}01" max="${today}"></label>
<label>${money.to}<input type="date" name="to" value="${today}" max="${today}"></label>
<button>${icon('download')}${money.download}</button></form>`,
)}`,
  }
}

function recent(visit: Visit, latest: readonly LatestEntry[]): Html {
  const { money } = visit.language.words
  return html`<h2>${money.recent}</h2>${transactionTable(visit, latest.slice(0, shownAtOnce))}${
    latest.length > shownAtOnce &&
    html`<p class="acts"><a class="button" href="${pathTo(transactionsPath)}">${money.allTransactions}${icon('arrow-right')}</a></p>`
  }`
}

async function download({ operations, context, query, nowMs }: Visit) {
  const fromMs = dayOf(query.get('from')) ?? 0
  const toMs = Math.max(fromMs, (dayOf(query.get('to')) ?? nowMs) + dayMs)
  return {
    fileName: `statement-${context.merchantId}.csv`,
    type: csvType,
    content: operations.readMerchant.statement(context, { fromMs, toMs }),
  }
}

export function dayOf(written: string | null): number | undefined {
  const timeMs = written !== null && /^\d{4}-\d\d-\d\d$/.test(written) ? Date.parse(written) : Number.NaN
  return Number.isNaN(timeMs) ? undefined : timeMs
}
