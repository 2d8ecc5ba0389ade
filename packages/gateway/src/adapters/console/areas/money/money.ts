// Money: balances by type of account, and the operator's bank accounts.

import { postedMinor } from '../../../../core/ledger/rules/transfer.ts'
import type { Account } from '../../../../core/ledger/store/ledger.ts'
import type { BankAccount } from '../../../../finance/treasury/rules/bank-account.ts'
import { grouped } from '../../../../finance/treasury/rules/mod-97.ts'
import { type Content, type Html, html } from '../../../kit/html.ts'
import { statusBadge } from '../../../kit/pages/status.ts'
import { empty, facts, number, table } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import { ageOf, type BooksRow, booksByCurrency, ownerKinds, owners } from '../../books.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../../console.ts'
import { ago, amount, bareAmount, count, moment } from '../../words.ts'
import { movementsOf } from './movements.ts'

export const moneyPath = '/money'
const maxCurrencies = 6
/** An account with more currencies shows them on demand. */
const maxOpenly = 12

export const moneyArea: readonly ConsoleRoute[] = [
  { path: moneyPath, show },
  { path: `${moneyPath}/banks/:bankName`, show: showBank },
]

const tabs = [
  [moneyPath, 'Balances'],
  ['/payouts', 'Payouts'],
  [`${moneyPath}/fees`, 'Fees'],
  [`${moneyPath}/corrections`, 'Corrections'],
] as const

export function moneyTabs(current: (typeof tabs)[number][0]): Html {
  return html`<nav class="tabs" aria-label="Money"><ul>${tabs.map(
    ([path, label]) =>
      html`<li><a href="${path}"${path === current && html` aria-current="page"`}>${label}</a></li>`,
  )}</ul></nav>`
}

async function show(visit: Visit): Promise<ConsolePage> {
  const [books, banks] = await Promise.all([
    visit.operations.readBooks(),
    visit.operations.banks.listBanks(visit.context),
  ])
  const rows = booksByCurrency(books.lines)
  const inUse = rows.filter(({ isInUse }) => isInUse)
  return {
    title: 'Money',
    area: 'money',
    content: html`${moneyTabs(moneyPath)}
<h2>Balances</h2>
${inUse.length === 0 ? empty('No payments yet.') : balances(inUse.slice(0, maxCurrencies))}
<p class="quiet">${ageOf(books, visit.nowMs)} ${inUse.length > maxCurrencies && `Showing ${maxCurrencies} of ${inUse.length} currencies. `}<a href="/ledger">View the ledger</a></p>
<h2>Bank accounts</h2>
${actionForms(visit, 'banks')}
${table(
  'The operator’s bank accounts',
  ['Name', 'Status', 'Currency', 'Account', 'Created'],
  banks.map(({ bank }) => [
    html`<a class="wrap" href="${moneyPath}/banks/${bank.bankName}">${bank.bankName}</a>`,
    stateOf(bank),
    bank.currency ?? 'All',
    reached(bank),
    ago(bank.createdAtMs, visit.nowMs),
  ]),
)}`,
  }
}

/** A row for each kind of account, with what it means; a column for each currency in use. */
function balances(rows: readonly BooksRow[]): Html {
  return table(
    'Balances by kind of account',
    ['Account', ...rows.map(({ currency }) => number(currency))],
    ownerKinds.map((kind): readonly Content[] => [
      html`<strong>${owners[kind].name}</strong><br><span class="quiet">${owners[kind].means}</span>`,
      ...rows.map((row) => bareAmount(row.balances[kind], row.currency)),
    ]),
  )
}

async function showBank(visit: Visit): Promise<ConsolePage | undefined> {
  const { bankName = '' } = visit.params
  const found = await orNothing(visit.operations.banks.showBank(visit.context, bankName))
  if (!found) return undefined
  const { bank, balances: accounts, openings } = found
  return {
    title: `Bank account ${bank.bankName}`,
    area: 'money',
    content: html`<p>${stateOf(bank)} · <a href="${moneyPath}">All bank accounts</a></p>
${actionForms(visit, 'bank', { subject: bank, values: valuesOf(bank) })}
<div class="grid"><section><h2>Account</h2>${facts([
      ['Holder', html`<span class="wrap">${bank.holder}</span>`],
      ['Account', reached(bank)],
      ['BIC', bank.bic ?? '—'],
      ['Currency', bank.currency ?? 'All'],
      ['Ledger account', html`<code>bank:${bank.bankName}</code>`],
      ['Created', moment(bank.createdAtMs, visit.nowMs)],
      ...openings.map(
        ({ currency, amountMinor, day }) =>
          [`Opening balance ${day}`, amount(amountMinor, currency)] as const,
      ),
      bank.closedAtMs !== undefined && (['Closed', moment(bank.closedAtMs, visit.nowMs)] as const),
    ])}</section>
<section><h2>Book balance</h2><p class="quiet">The balance that your bank should show.</p>${booked(accounts)}</section></div>
${await movementsOf(visit, { ownerKind: 'bank', ownerId: bankName }, `${moneyPath}/banks/${bankName}`)}`,
  }
}

function booked(accounts: readonly Account[]): Html {
  const shown = table(
    'Book balance',
    ['Currency', number('Balance')],
    accounts.map((account) => [account.currency, amount(-postedMinor(account), account.currency)]),
    { none: 'No transactions yet.' },
  )
  return accounts.length <= maxOpenly
    ? shown
    : html`<details class="fold"><summary>${count(accounts.length)} currencies</summary>${shown}</details>`
}

function reached({ iban, lines }: BankAccount): Html | string {
  if (iban !== undefined) return html`<code>${grouped(iban)}</code>`
  return lines ? html`<span class="wrap">${lines.join(', ')}</span>` : 'Not set'
}

function stateOf({ closedAtMs }: BankAccount): Html {
  return closedAtMs === undefined ? statusBadge('good', 'Open') : statusBadge('off', 'Closed')
}

/** As the form shows them. */
function valuesOf({ bankName, holder, iban, lines, bic }: BankAccount) {
  return { bankName, holder, iban: iban && grouped(iban), lines: lines?.join('\n'), bic }
}
