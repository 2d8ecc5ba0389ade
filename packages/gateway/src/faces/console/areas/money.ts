// Money: the operator's bank accounts, and what the books say is on each.
import { type Html, html } from '../../../http/html.ts'
import { postedMinor } from '../../../ledger/rules/transfer.ts'
import type { Account } from '../../../ledger/store/ledger.ts'
import { grouped } from '../../../rails/rules/mod-97.ts'
import type { BankAccount } from '../../../treasury/rules/bank-account.ts'
import { actForms } from '../act-forms.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../console.ts'
import { state } from '../statuses.ts'
import { facts, number, table } from '../tables.ts'
import { ago, amount, moment } from '../words.ts'

const path = '/money'

export const moneyArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}/banks/:bankName`, show: showBank },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const banks = await visit.service.as(visit.actor).banks.listBanks()
  return {
    title: 'Money',
    area: 'money',
    content: html`<p><a href="/payouts">Payouts to merchants</a></p>
<h2>Bank accounts</h2>
${actForms(visit, 'banks')}
${table(
  'The operator’s bank accounts',
  ['Name', 'Status', 'Currency', 'Account', 'Since'],
  banks.map(({ bank }) => [
    html`<a class="wrap" href="${path}/banks/${bank.bankName}">${bank.bankName}</a>`,
    stateOf(bank),
    bank.currency ?? 'all',
    reached(bank),
    ago(bank.createdAtMs, visit.nowMs),
  ]),
  { isTall: true },
)}`,
  }
}

async function showBank(visit: Visit): Promise<ConsolePage | undefined> {
  const { bankName = '' } = visit.params
  const found = await orNothing(visit.service.as(visit.actor).banks.showBank(bankName))
  if (!found) return undefined
  const { bank, balances } = found
  return {
    title: `Bank account ${bank.bankName}`,
    area: 'money',
    content: html`<p>${stateOf(bank)} · <a href="${path}">All bank accounts</a></p>
${actForms(visit, 'bank', { subject: bank, values: valuesOf(bank) })}
<div class="grid"><section><h2>Account</h2>${facts([
      ['Holder', html`<span class="wrap">${bank.holder}</span>`],
      ['Account', reached(bank)],
      ['BIC', bank.bic ?? '—'],
      ['Currency', bank.currency ?? 'all'],
      ['On the ledger', html`<code>bank:${bank.bankName}</code>`],
      ['Since', moment(bank.createdAtMs, visit.nowMs)],
      bank.closedAtMs !== undefined && (['Closed', moment(bank.closedAtMs, visit.nowMs)] as const),
    ])}</section>
<section><h2>What ought to be on it</h2><p class="quiet">By the books: what came in less what went out.</p>${booked(balances)}</section></div>`,
  }
}

function booked(accounts: readonly Account[]): Html {
  return table(
    'What ought to be on it',
    ['Currency', number('Booked')],
    accounts.map((account) => [account.currency, amount(-postedMinor(account), account.currency)]),
    { none: 'Nothing went through it yet.' },
  )
}

function reached({ iban, lines }: BankAccount): Html | string {
  if (iban !== undefined) return html`<code>${grouped(iban)}</code>`
  return lines ? html`<span class="wrap">${lines.join(', ')}</span>` : 'not said yet'
}

function stateOf({ closedAtMs }: BankAccount): Html {
  return closedAtMs === undefined ? state('good', 'open') : state('off', 'closed')
}

/** As the form shows them. */
function valuesOf({ bankName, holder, iban, lines, bic }: BankAccount) {
  return { bankName, holder, iban: iban && grouped(iban), lines: lines?.join(', '), bic }
}
