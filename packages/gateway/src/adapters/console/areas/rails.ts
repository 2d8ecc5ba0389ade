// Rails: the ways to pay that reach outside, in the order of the checkout, and each with its health, its secrets and what
// it has collected.
import { writtenLimits, writtenLines, writtenNames } from '../../../actions/rails/rail-actions.ts'
import { postedMinor } from '../../../core/ledger/rules/transfer.ts'
import type { Account } from '../../../core/ledger/store/ledger.ts'
import type { BankAccount } from '../../../finance/rails/rules/bank-account.ts'
import { isFailing, type OutsideRail } from '../../../finance/rails/rules/outside-rail.ts'
import { grouped } from '../../../finance/treasury/rules/mod-97.ts'
import { type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { facts, number, table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../console.ts'
import { ago, amount, moment } from '../words.ts'

const path = '/rails'

export const railsArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}/:railId`, show: showOne },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const rails = await visit.operations.rails.listRails(visit.context)
  return {
    title: 'Rails',
    area: 'rails',
    content: html`${actionForms(visit, 'rails')}
${table(
  'Rails, as they stand at the checkout',
  ['Name', 'Status', 'Currencies', 'Address', 'Since'],
  rails.map((rail) => [
    html`<a class="wrap" href="${path}/${rail.railId}">${rail.name}</a>`,
    stateOf(rail, visit.nowMs),
    written(rail.currencies),
    html`<span class="wrap">${whereTo(rail)}</span>`,
    ago(rail.createdAtMs, visit.nowMs),
  ]),
  {
    isTall: true,
    none: 'No rails yet: consumers pay from wallets alone. Add a bank or a processor to let money in.',
  },
)}`,
  }
}

async function showOne(visit: Visit): Promise<ConsolePage | undefined> {
  const { railId = '' } = visit.params
  const found = await orNothing(visit.operations.rails.showRail(visit.context, railId))
  if (!found) return undefined
  const { rail, secrets } = found
  const accounts = await visit.operations.listRailAccounts(visit.context, rail.railId)
  return {
    title: rail.name,
    area: 'rails',
    content: html`<p>${stateOf(rail, visit.nowMs)}</p>
${actionForms(visit, 'rail', { subject: rail, values: valuesOf(rail) })}
<div class="grid"><section><h2>Settings</h2>${facts([
      ['railId', html`<code>${rail.railId}</code>`],
      ...(rail.account
        ? accountFacts(rail.account)
        : [['Address', html`<span class="wrap">${rail.url}</span>`] as const]),
      ['Names', writtenNames(rail).join(', ') || 'the same in every language'],
      ['Currencies', written(rail.currencies)],
      ['Least', writtenLimits(rail.leastMinor).join(', ') || 'any'],
      ['Most', writtenLimits(rail.mostMinor).join(', ') || 'any'],
      ['Merchants', rail.merchants?.join(', ') ?? 'all'],
      ['Position', rail.position],
      ['Logo', rail.logo === undefined ? 'none' : `SVG, ${rail.logo.length} characters`],
      ['Since', moment(rail.createdAtMs, visit.nowMs)],
    ])}</section>
<section><h2>Health</h2>${facts([
      ['Failed calls in a row', rail.failures],
      ['Last failure', html`<span class="wrap">${rail.lastFailure ?? '—'}</span>`],
      rail.pausedUntilMs !== undefined &&
        rail.pausedUntilMs > visit.nowMs &&
        (['Asked again', ago(rail.pausedUntilMs, visit.nowMs)] as const),
    ])}
<h2>Collected</h2>${collected(accounts)}
${
  !rail.account &&
  html`<h2>Secrets</h2>${table(
    'Secrets that are good, the newest first',
    ['Secret', 'Made'],
    secrets.map(({ secretId, createdAtMs }) => [
      html`<code>${secretId}</code>`,
      ago(createdAtMs, visit.nowMs),
    ]),
  )}`
}</section></div>`,
  }
}

function whereTo({ url, account }: OutsideRail): string {
  return url ?? `bank transfer to ${account?.iban ?? account?.holder}`
}

function accountFacts(account: BankAccount) {
  return [
    ['Account holder', account.holder],
    ['IBAN', account.iban === undefined ? '—' : grouped(account.iban)],
    ['BIC', account.bic ?? '—'],
    ...account.lines.map(({ label, value }) => [label, value] as const),
  ] as const
}

/** What it took from consumers and has not passed on: its account is that far below zero. */
function collected(accounts: readonly Account[]): Html {
  return table(
    'Collected and not passed on',
    ['Currency', number('Collected'), number('Under way')],
    accounts.map((account) => [
      account.currency,
      amount(-postedMinor(account), account.currency),
      amount(account.debitsPendingMinor, account.currency),
    ]),
    { none: 'Nothing yet.' },
  )
}

function stateOf(rail: OutsideRail, nowMs: number): Html {
  if (rail.isPaused) return statusBadge('off', 'paused')
  if (isFailing(rail, nowMs))
    return html`${statusBadge('bad', 'failing')} <span class="quiet">asked again ${ago(rail.pausedUntilMs, nowMs)}</span>`
  return rail.failures > 0 ? statusBadge('wait', 'troubled') : statusBadge('good', 'offered')
}

const maxWritten = 8

function written(currencies: readonly string[]): string {
  return currencies.length > maxWritten ? `${currencies.length} currencies` : currencies.join(', ')
}

/** As the form shows them. */
function valuesOf(rail: OutsideRail) {
  return {
    railId: rail.railId,
    name: rail.name,
    url: rail.url,
    holder: rail.account?.holder,
    iban: rail.account?.iban,
    bic: rail.account?.bic,
    lines: rail.account && writtenLines(rail.account).join('\n'),
    currencies: rail.currencies.join(', '),
    names: writtenNames(rail).join('\n'),
    least: writtenLimits(rail.leastMinor).join(', '),
    most: writtenLimits(rail.mostMinor).join(', '),
    merchants: rail.merchants?.join(', '),
    position: String(rail.position),
    logo: rail.logo,
  }
}
