// The ledger: balances by account type and currency, whether debits equal credits, and verification on demand.

import type { Verification } from '../../../core/ledger/store/ledger-checks.ts'
import { type Html, html } from '../../kit/html.ts'
import { notice } from '../../kit/pages/flash.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { number, table } from '../../kit/pages/tables.ts'
import { ageOf, type BooksRow, booksByCurrency, ownerKinds, owners } from '../books.ts'
import type { ConsolePage, ConsoleRoute, Done, Visit } from '../console.ts'
import { foldedForm } from '../forms.ts'
import { bareAmount, count, exact } from '../words.ts'

const path = '/ledger'
export const ledgerArea: readonly ConsoleRoute[] = [
  { path, show },
  {
    path: `${path}/verify`,
    needs: 'operator',
    fields: [],
    page: path,
    async act({ nowMs, operations }): Promise<Done> {
      return { kind: 'shown_once', page: resultPage(await operations.verifyLedger(), nowMs) }
    },
  },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const books = await visit.operations.readBooks()
  const rows = booksByCurrency(books.lines)
  const [inUse, others] = [rows.filter(({ isInUse }) => isInUse), rows.filter(({ isInUse }) => !isInUse)]
  return {
    title: 'Ledger',
    area: 'ledger',
    content: html`<div class="acts">${foldedForm(visit, {
      needs: 'operator',
      action: `${path}/verify`,
      label: 'Verify now…',
      explains:
        'The gateway recomputes every account from its transfers and matches orders, refunds and transfers in both directions. Payments continue. Large ledgers take a few minutes.',
      button: 'Verify the ledger',
    })}</div>
<h2>Trial balance</h2>
<p>${verdict(rows)} ${ageOf(books, visit.nowMs)}</p>
${trialBalance('Trial balance', inUse)}
${others.length > 0 && html`<details class="fold"><summary>${count(others.length)} ${others.length === 1 ? 'currency' : 'currencies'} without payments</summary>${trialBalance('Currencies without payments', others)}</details>`}`,
  }
}

function verdict(rows: readonly BooksRow[]): Html {
  const wrong = rows.filter(({ isBalanced }) => !isBalanced).map(({ currency }) => currency)
  return wrong.length === 0
    ? statusBadge('good', 'Debits equal credits in every currency')
    : statusBadge('bad', `Debits and credits differ in ${wrong.join(', ')}`)
}

/** A column that is shown only if it has values, because the table is wide. */
function isRare(kind: (typeof ownerKinds)[number]): boolean {
  return kind === 'equity' || kind === 'interest' || kind === 'bank_charges'
}

/** One row per currency: the balance of each type of account, then both sides of the books. */
function trialBalance(caption: string, rows: readonly BooksRow[]): Html {
  const kinds = ownerKinds.filter(
    (kind) => !isRare(kind) || rows.some(({ balances }) => balances[kind] !== 0n),
  )
  return table(
    caption,
    [
      'Currency',
      ...kinds.map((kind) => number(owners[kind].name)),
      ...['Pending', 'Debits', 'Credits', 'Accounts'].map(number),
    ],
    rows.map(({ currency, balances, heldMinor, debitsMinor, creditsMinor, accounts, isBalanced }) => [
      isBalanced ? currency : statusBadge('bad', currency),
      ...[...kinds.map((kind) => balances[kind]), heldMinor, debitsMinor, creditsMinor].map((minor) =>
        minor === 0n ? html`<span class="quiet">—</span>` : bareAmount(minor, currency),
      ),
      count(accounts),
    ]),
    { none: 'No payments yet.' },
  )
}

function resultPage({ claims, accounts, transfers, findings }: Verification, nowMs: number): ConsolePage {
  const isClean = findings.length === 0
  return {
    title: isClean ? 'The ledger is clean' : 'The ledger is NOT clean',
    area: 'ledger',
    content: html`<div role="status">${notice(isClean ? 'good' : 'bad', html`Verified ${count(accounts)} accounts and ${count(transfers)} transfers against ${claims} rules at ${exact(nowMs)}. ${isClean ? 'All rules hold.' : `${findings.length} ${findings.length === 1 ? 'rule is' : 'rules are'} broken.`}`)}</div>
${findings.map(
  ({ claim, count: times, examples }) => html`<h2>Broken rule: ${claim}</h2>
<p>${count(times)} ${times === 1 ? 'case' : 'cases'}, such as:</p>
<ul>${examples.map((example) => html`<li><code>${example}</code></li>`)}</ul>`,
)}
<p class="acts"><a class="button" href="${path}">Back to the ledger</a></p>`,
  }
}
