// Money: balances by type of account, and the operator's bank accounts.

import type { Standing } from '../../../../finance/reconciliation/read-standings.ts'
import { grouped } from '../../../../finance/treasury/rules/mod-97.ts'
import type { BankAccount } from '../../../../finance/treasury/rules/operator-bank-account.ts'
import { type Content, type Html, html } from '../../../kit/html.ts'
import { statusBadge } from '../../../kit/pages/status.ts'
import { empty, facts, number, table } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import {
  ageOf,
  atBanks,
  type BooksRow,
  booksByCurrency,
  type OwnerKind,
  ownerKinds,
  owners,
} from '../../books.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../../console.ts'
import { amount, bareAmount, count, moment } from '../../words.ts'
import { movementsOf } from './movements.ts'

export const moneyPath = '/money'
const maxCurrencies = 6
/** With more currencies, the table is collapsed. */
const maxOpenly = 12

export const moneyArea: readonly ConsoleRoute[] = [
  { path: moneyPath, show },
  { path: `${moneyPath}/banks/:bankName`, show: showBank },
]

const tabs = [
  [moneyPath, 'Balances'],
  ['/payouts', 'Payouts'],
  ['/disputes', 'Disputes'],
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
  const [books, banks, standings] = await Promise.all([
    visit.operations.readBooks(),
    visit.operations.banks.listBanks(visit.context),
    visit.operations.reconciliation.listStandings(visit.context),
  ])
  const rows = booksByCurrency(books.lines).map((row) => atBanks(row, standings))
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
  ['Name', 'Status', 'Account', 'Currency', number('Expected balance'), number('Statement'), 'Comparison'],
  banks.flatMap(({ bank }) =>
    rowsOf(
      bank,
      standings.filter((each) => each.bankName === bank.bankName),
      new Set(inUse.map(({ currency }) => currency)),
    ),
  ),
)}`,
  }
}

/** A row for each type of account that has a balance; a column for each currency in use. */
function balances(rows: readonly BooksRow[]): Html {
  const isEmpty = (kind: OwnerKind) => rows.every(({ balances }) => balances[kind] === 0n)
  const empties = ownerKinds.filter(isEmpty).map((kind) => owners[kind].name)
  return html`${table(
    'Balances by kind of account',
    ['Account', ...rows.map(({ currency }) => number(currency))],
    ownerKinds
      .filter((kind) => !isEmpty(kind))
      .map((kind): readonly Content[] => [
        html`<strong>${owners[kind].name}</strong><br><span class="quiet">${owners[kind].means}</span>`,
        ...rows.map((row) => bareAmount(row.balances[kind], row.currency)),
      ]),
  )}
${empties.length > 0 && html`<p class="quiet">No balance: ${empties.join(', ')}</p>`}`
}

/** One row for each currency in use or reconciled; the bank account's page has all of them. */
function rowsOf(
  bank: BankAccount,
  standings: readonly Standing[],
  inUse: ReadonlySet<string>,
): (readonly Content[])[] {
  const shown = standings.filter(({ currency, statement }) => inUse.has(currency) || statement !== undefined)
  const head = [
    html`<a class="wrap" href="${moneyPath}/banks/${bank.bankName}">${bank.bankName}</a>`,
    stateOf(bank),
    reached(bank),
  ]
  if (shown.length === 0) return [[...head, bank.currency ?? 'All', '—', '—', '—']]
  return shown.slice(0, maxOpenly).map((standing) => [...head, standing.currency, ...compared(standing)])
}

/** What the books expect, what the bank shows, and whether the two agree. */
function compared({ account, currency, expectedMinor, statement }: Standing): readonly Content[] {
  const expected = bareAmount(expectedMinor, currency)
  if (!statement) return [expected, '—', html`<span class="quiet">No statement yet</span>`]
  const { day, outsideMinor, unexplainedMinor } = statement
  const days = `/reconciliation/days?${new URLSearchParams({ account, currency }).toString()}`
  return [
    expected,
    html`${bareAmount(outsideMinor, currency)}<br><span class="quiet">${day}</span>`,
    html`<a href="${days}">${
      unexplainedMinor === 0n
        ? statusBadge('good', 'Agrees')
        : statusBadge('bad', html`${bareAmount(unexplainedMinor, currency)} unexplained`)
    }</a>`,
  ]
}

async function showBank(visit: Visit): Promise<ConsolePage | undefined> {
  const { bankName = '' } = visit.params
  const found = await orNothing(visit.operations.banks.showBank(visit.context, bankName))
  if (!found) return undefined
  const { bank, openings } = found
  const standings = (await visit.operations.reconciliation.listStandings(visit.context)).filter(
    (each) => each.bankName === bankName,
  )
  const rails = standings[0]?.transferRails ?? []
  return {
    title: `Bank account ${bank.bankName}`,
    area: 'money',
    beside: actionForms(visit, 'bank', { subject: bank, values: valuesOf(bank) }),
    content: html`<p>${stateOf(bank)} · <a href="${moneyPath}">All bank accounts</a></p>
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
<section><h2>Book balance</h2><p class="quiet">The balance that your bank should show${rails.length > 0 && html`, with the money that arrived through ${rails.map((rail, index) => html`${index > 0 && ', '}<a href="/rails/${rail}">${rail}</a>`)}`}.</p>${booked(standings)}</section></div>
${await movementsOf(visit, { ownerKind: 'bank', ownerId: bankName, rails }, `${moneyPath}/banks/${bankName}`)}`,
  }
}

function booked(standings: readonly Standing[]): Html {
  const shown = table(
    'Book balance',
    ['Currency', number('Expected balance'), number('Statement'), 'Comparison'],
    standings.map((standing) => [standing.currency, ...compared(standing)]),
    { none: 'No transactions yet.' },
  )
  return standings.length <= maxOpenly
    ? shown
    : html`<details class="fold"><summary>${count(standings.length)} currencies</summary>${shown}</details>`
}

function reached({ iban, lines }: BankAccount): Html | string {
  if (iban !== undefined) return html`<code>${grouped(iban)}</code>`
  return lines ? html`<span class="wrap">${lines.join(', ')}</span>` : 'Not set'
}

function stateOf({ closedAtMs }: BankAccount): Html {
  return closedAtMs === undefined ? statusBadge('good', 'Open') : statusBadge('off', 'Closed')
}

/** The values of the form. */
function valuesOf({ bankName, holder, iban, lines, bic }: BankAccount) {
  return { bankName, holder, iban: iban && grouped(iban), lines: lines?.join('\n'), bic }
}
