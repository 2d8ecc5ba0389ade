// Rails: payment methods outside the gateway, in checkout order, each with its health, its secrets and its balance.
import { writtenLimits, writtenLines, writtenNames } from '../../../actions/rails/rail-actions.ts'
import { postedMinor } from '../../../core/ledger/rules/transfer.ts'
import type { Account } from '../../../core/ledger/store/ledger.ts'
import { isFailing, type OutsideRail } from '../../../finance/rails/rules/outside-rail.ts'
import type { BankAccount } from '../../../finance/rails/rules/transfer-account.ts'
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
  const [rails, { about }] = await Promise.all([
    visit.operations.rails.listRails(visit.context),
    visit.operations.system(visit.context, visit.nowMs),
  ])
  return {
    title: 'Rails',
    area: 'rails',
    beside: actionForms(visit, 'rails'),
    content: html`${table(
      'Rails, in checkout order',
      ['Name', 'Status', 'Currencies', 'URL or account', 'Created'],
      rails.map((rail) => [
        html`<a class="wrap" href="${path}/${rail.railId}">${rail.name}</a>`,
        stateOf(rail, visit.nowMs),
        written(rail.currencies),
        html`<span class="wrap">${whereTo(rail)}</span>`,
        ago(rail.createdAtMs, visit.nowMs),
      ]),
      {
        isTall: true,
        none: 'No rails yet. Consumers can pay only from wallets. Add a rail to accept cards or bank payments.',
      },
    )}
<h2>Ready-made rails</h2>
<p>In Tillgate’s repository, the command of a provider asks for your keys, adds the rail and checks it. <a href="${about.publicUrl}/docs/rails#ready-made-rails" rel="noopener">Documentation</a></p>
${table(
  'Ready-made rails',
  ['Provider', 'Command'],
  providers.map(([id, name]) => [name, html`<code class="wrap">npm run tillgate -- rail init ${id}</code>`]),
)}`,
  }
}

const providers = [
  ['stripe', 'Stripe'],
  ['adyen', 'Adyen'],
  ['mollie', 'Mollie'],
  ['alipay', 'Alipay'],
  ['wechatpay', 'WeChat Pay'],
] as const

async function showOne(visit: Visit): Promise<ConsolePage | undefined> {
  const { railId = '' } = visit.params
  const found = await orNothing(visit.operations.rails.showRail(visit.context, railId))
  if (!found) return undefined
  const { rail, secrets } = found
  const accounts = await visit.operations.listRailAccounts(visit.context, rail.railId)
  return {
    title: rail.name,
    area: 'rails',
    beside: actionForms(visit, 'rail', { subject: rail, values: valuesOf(rail) }),
    content: html`<p>${stateOf(rail, visit.nowMs)}</p>
<div class="grid"><section><h2>Settings</h2>${facts([
      ['railId', html`<code>${rail.railId}</code>`],
      ...(rail.account
        ? accountFacts(rail.account)
        : [['URL', html`<span class="wrap">${rail.url}</span>`] as const]),
      ['Translated names', writtenNames(rail).join(', ') || 'None'],
      ['Currencies', written(rail.currencies)],
      ['Minimum amount', writtenLimits(rail.leastMinor).join(', ') || 'None'],
      ['Maximum amount', writtenLimits(rail.mostMinor).join(', ') || 'None'],
      ['Merchants', rail.merchants?.join(', ') ?? 'All'],
      ['Position', rail.position],
      ['Authorization days', rail.authorizationDays ?? 'No manual captures'],
      ['Logo', rail.logo === undefined ? 'None' : `SVG, ${rail.logo.length} characters`],
      ['Created', moment(rail.createdAtMs, visit.nowMs)],
    ])}</section>
<section><h2>Health</h2>${facts([
      ['Consecutive failures', rail.failures],
      ['Last failure', html`<span class="wrap">${rail.lastFailure ?? '—'}</span>`],
      rail.pausedUntilMs !== undefined &&
        rail.pausedUntilMs > visit.nowMs &&
        (['Next attempt', ago(rail.pausedUntilMs, visit.nowMs)] as const),
    ])}
<h2>Collected, not yet settled</h2>${collected(accounts)}
${
  !rail.account &&
  html`<h2>Active secrets</h2>${table(
    'Active secrets, newest first',
    ['Secret', 'Created'],
    secrets.map(({ secretId, createdAtMs }) => [
      html`<code>${secretId}</code>`,
      ago(createdAtMs, visit.nowMs),
    ]),
  )}`
}</section></div>`,
  }
}

function whereTo({ url, account }: OutsideRail): string {
  return url ?? `Bank transfer to ${account?.iban ?? account?.holder}`
}

function accountFacts(account: BankAccount) {
  return [
    ['Account holder', account.holder],
    ['IBAN', account.iban === undefined ? '—' : grouped(account.iban)],
    ['BIC', account.bic ?? '—'],
    ...account.lines.map(({ label, value }) => [label, value] as const),
  ] as const
}

/** The amount that the rail collected and has not settled; its account is negative by that amount. */
function collected(accounts: readonly Account[]): Html {
  return table(
    'Collected, not yet settled',
    ['Currency', number('Collected'), number('Pending')],
    accounts.map((account) => [
      account.currency,
      amount(-postedMinor(account), account.currency),
      amount(account.debitsPendingMinor, account.currency),
    ]),
    { none: 'Nothing collected yet.' },
  )
}

function stateOf(rail: OutsideRail, nowMs: number): Html {
  if (rail.isPaused) return statusBadge('off', 'Paused')
  if (isFailing(rail, nowMs))
    return html`${statusBadge('bad', 'Failing')} <span class="quiet">next attempt ${ago(rail.pausedUntilMs, nowMs)}</span>`
  return rail.failures > 0 ? statusBadge('wait', 'Errors') : statusBadge('good', 'Active')
}

const maxWritten = 8

function written(currencies: readonly string[]): string {
  return currencies.length > maxWritten ? `${currencies.length} currencies` : currencies.join(', ')
}

/** The values of the form. */
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
    authorizationDays: rail.authorizationDays?.toString(),
  }
}
