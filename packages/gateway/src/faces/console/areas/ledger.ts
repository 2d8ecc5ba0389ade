// The books: what each kind of owner has in each currency, whether debits equal credits, and the proof on demand.

import { type Html, html } from '../../../http/html.ts'
import type { Verification } from '../../../ledger/store/ledger-checks.ts'
import type { BalanceLine } from '../../../ledger/store/trial-balance.ts'
import type { ConsolePage, ConsoleRoute, Done, Visit } from '../console.ts'
import { foldedForm } from '../forms.ts'
import { state } from '../statuses.ts'
import { empty, number, table } from '../tables.ts'
import { amount, count, exact } from '../words.ts'

const path = '/ledger'
const owners = {
  wallet: 'Consumers’ wallets',
  merchant: 'Merchants',
  bank: 'Bank accounts',
  rail: 'Rails',
  suspense: 'Suspense',
} as const

export const ledgerArea: readonly ConsoleRoute[] = [
  { path, show },
  {
    path: `${path}/verify`,
    needs: 'operator',
    fields: [],
    back: () => path,
    async act({ nowMs, service }): Promise<Done> {
      return { kind: 'shown_once', page: resultPage(await service.verifyLedger(), nowMs) }
    },
  },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const lines = await visit.service.trialBalance()
  const byCurrency = Map.groupBy(lines, ({ currency }) => currency)
  return {
    title: 'Ledger',
    area: 'ledger',
    content: html`<div class="acts">${foldedForm(visit, {
      needs: 'operator',
      action: `${path}/verify`,
      label: 'Verify now…',
      explains:
        'Every account is recomputed from its transfers, and orders, refunds and transfers are matched in both directions. Nobody is stopped; with many transfers it takes a while.',
      button: 'Verify the ledger',
    })}</div>
<h2>Trial balance</h2>
${byCurrency.size === 0 ? empty('No money has moved yet.') : [...byCurrency].map(([currency, of]) => balanceTable(currency, of))}`,
  }
}

function balanceTable(currency: string, lines: readonly BalanceLine[]): Html {
  const sum = (pick: (line: BalanceLine) => bigint) => lines.reduce((total, line) => total + pick(line), 0n)
  const [debits, credits] = [sum((line) => line.debitsPostedMinor), sum((line) => line.creditsPostedMinor)]
  const [held, holding] = [sum((line) => line.debitsPendingMinor), sum((line) => line.creditsPendingMinor)]
  const isBalanced = debits === credits && held === holding
  const row = (name: Html | string, accounts: number, balances: readonly bigint[]) => [
    name,
    count(accounts),
    ...balances.map((minor) => amount(minor, currency)),
  ]
  return html`<h3>${currency} ${isBalanced ? state('good', 'debits equal credits') : state('bad', 'debits and credits differ')}</h3>
${table(
  `Trial balance in ${currency}`,
  ['Whose', ...['Accounts', 'Debits', 'Credits', 'Debits held', 'Credits held', 'Balance'].map(number)],
  [
    ...lines.map((line) =>
      row(owners[line.ownerKind], line.accounts, [
        line.debitsPostedMinor,
        line.creditsPostedMinor,
        line.debitsPendingMinor,
        line.creditsPendingMinor,
        line.creditsPostedMinor - line.debitsPostedMinor,
      ]),
    ),
    row(
      html`<strong>Sum</strong>`,
      lines.reduce((total, { accounts }) => total + accounts, 0),
      [debits, credits, held, holding, credits - debits],
    ),
  ],
)}`
}

function resultPage({ claims, accounts, transfers, findings }: Verification, nowMs: number): ConsolePage {
  const isClean = findings.length === 0
  return {
    title: isClean ? 'The ledger is clean' : 'The ledger is NOT clean',
    area: 'ledger',
    content: html`<p class="note ${isClean ? 'good' : 'bad'}" role="status">${count(accounts)} accounts, ${count(transfers)} transfers, ${claims} claims; ${isClean ? 'all of them true' : `${findings.length} of them untrue`} at ${exact(nowMs)}.</p>
${findings.map(
  ({ claim, count: times, examples }) => html`<h2>It is not so that ${claim}</h2>
<p>${count(times)} times, for example:</p>
<ul>${examples.map((example) => html`<li><code>${example}</code></li>`)}</ul>`,
)}
<p class="acts"><a class="button" href="${path}">To the ledger</a></p>`,
  }
}
