// Payout runs: payouts that go to the bank as one file, the state of the run, and each of its payouts.
import { uuidPattern } from '@tillgate/protocol'
import type { RunWithTotals } from '../../../finance/payouts/manage-runs.ts'
import { describeHolder } from '../../../finance/payouts/rules/merchant-bank-account.ts'
import { type Payout, type PayoutRun, payoutStatuses } from '../../../finance/payouts/rules/payout.ts'
import { type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { facts, noneFits, number, pages, table, urlWith } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { type ConsolePage, type ConsoleRoute, type Download, orNothing, type Visit } from '../console.ts'
import { status, wordOf } from '../statuses.ts'
import { ago, amount, count, moment } from '../words.ts'
import { moneyTabs } from './money/money.ts'

const path = '/payouts'
const perPage = 50

export const payoutsArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}/:runId`, show: showRun },
  { path: `${path}/:runId/payouts.xml`, download: (visit) => download(visit, 'xml') },
  { path: `${path}/:runId/payouts.csv`, download: (visit) => download(visit, 'csv') },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const asked = visit.query.get('before') ?? ''
  const before = uuidPattern.test(asked) ? asked : undefined
  const { operations, context } = visit
  const found = await operations.payoutRuns.listRuns(context, { before, limit: perPage + 1 })
  const runs = found.slice(0, perPage)
  return {
    title: 'Payouts',
    area: 'money',
    beside: actionForms(visit, 'payout-runs'),
    content: html`${moneyTabs(path)}
${table(
  'Payout runs, newest first',
  ['Run', 'Status', 'Currency', 'Bank account', 'Created'],
  runs.map((run) => [
    html`<a href="${path}/${run.runId}">${nameOf(run)}</a>`,
    stateOf(run),
    run.currency,
    run.bankName,
    ago(run.createdAtMs, visit.nowMs),
  ]),
  {
    isTall: true,
    none: 'No payouts yet. Add a bank account and a payout schedule on a merchant’s page.',
  },
)}
${pages(path, visit.query, { older: found.length > perPage ? runs.at(-1)?.runId : undefined })}`,
  }
}

async function showRun(visit: Visit): Promise<ConsolePage | undefined> {
  const { runId = '' } = visit.params
  const { operations, context } = visit
  const found = await orNothing(operations.payoutRuns.showRun(context, runId))
  if (!found) return undefined
  const { run } = found
  const wanted = payoutStatuses.find((each) => each === visit.query.get('status'))
  const before = visit.query.get('before') ?? undefined
  const listed = await operations.payouts.listPayouts(
    context,
    { runId, status: wanted },
    { before, limit: perPage + 1 },
  )
  const shown = listed.slice(0, perPage)
  const here = `${path}/${runId}`
  return {
    title: `Run ${nameOf(run)}, ${run.currency}`,
    area: 'money',
    beside: actionForms(visit, 'payout-run', {
      subject: { ...run, totals: found.totals },
      values: { runId },
    }),
    content: html`<p>${stateOf(run)} · <a href="${path}">All runs</a></p>
${files(run)}
<div class="grid"><section><h2>Run</h2>${factsOf(run, visit.nowMs)}</section>
<section><h2>Payouts by status</h2>${totals(found, here)}</section></div>
<h2>${wanted === undefined ? 'Payouts' : `${wordOf(wanted)} payouts`}</h2>
${payoutTable(shown, { nowMs: visit.nowMs, none: wanted === undefined ? 'No payouts yet.' : noneFits('payout', here) })}
${pages(here, visit.query, { older: listed.length > perPage ? shown.at(-1)?.payoutId : undefined })}`,
  }
}

async function download(visit: Visit, format: 'xml' | 'csv'): Promise<Download | undefined> {
  const { runId = '' } = visit.params
  const content = await orNothing(visit.operations.payoutRuns.exportRun(visit.context, runId, format))
  if (!content) return undefined
  const type = format === 'xml' ? 'application/xml' : 'text/csv'
  return { fileName: `payouts-${runId}.${format}`, type: `${type}; charset=utf-8`, content }
}

function files(run: PayoutRun): Html | undefined {
  if (!run.debtor) return undefined
  const isPayable = run.debtor.iban !== undefined || run.debtor.lines !== undefined
  return html`<p class="acts">${isPayable && html`<a class="button" href="${path}/${run.runId}/payouts.xml" download>Payment file (pain.001)</a>`}
<a class="button" href="${path}/${run.runId}/payouts.csv" download>List (CSV)</a></p>${
    !isPayable &&
    html`<p class="quiet">No payment file: the bank account ${run.bankName} had no IBAN or account details when the run was sent.</p>`
  }`
}

function factsOf(run: PayoutRun, nowMs: number): Html {
  return facts([
    ['runId', html`<code class="wrap">${run.runId}</code>`],
    ['Type', run.part === undefined ? 'Manual payout' : `Schedules of ${run.day}`],
    ['Bank account', html`<a href="/money/banks/${run.bankName}">${run.bankName}</a>`],
    ['Created', moment(run.createdAtMs, nowMs)],
    ['Closed', moment(run.closedAtMs, nowMs)],
    ['Sent', moment(run.sentAtMs, nowMs)],
    run.reference !== undefined &&
      (['Bank’s reference', html`<span class="wrap">${run.reference}</span>`] as const),
    run.valueDate !== undefined && (['Value date', run.valueDate] as const),
    run.message !== undefined && (['Reason', html`<span class="wrap">${run.message}</span>`] as const),
    ['Ended', moment(run.endedAtMs, nowMs)],
  ])
}

function totals({ run, totals: all }: RunWithTotals, here: string): Html {
  const by = new Map(all.map((each) => [each.status, each]))
  return table(
    'Payouts by status',
    ['Status', number('Payouts'), number('Total')],
    payoutStatuses.flatMap((each) => {
      const total = by.get(each)
      if (!total) return []
      return [
        [
          html`<a href="${urlWith(here, new URLSearchParams(), { status: each })}">${status(each)}</a>`,
          count(total.payouts),
          amount(total.sumMinor, run.currency),
        ],
      ]
    }),
    { none: 'No payouts yet.' },
  )
}

export function payoutTable(
  payouts: readonly Payout[],
  { nowMs, none }: { nowMs: number; none: Html | string },
): Html {
  return table(
    'Payouts, newest first',
    [number('Amount'), 'Status', 'To', 'Requested', 'Merchant or wallet', 'Payout'],
    payouts.map(({ merchantId, walletId, payoutId, ...payout }) => [
      html`<a href="/merchants/${merchantId}/payouts/${payoutId}">${amount(payout.amountMinor, payout.currency)}</a>`,
      status(payout.status),
      html`<span class="wrap">${describeHolder(payout.account.holder)}</span>`,
      ago(payout.requestedAtMs, nowMs),
      walletId === undefined
        ? html`<a href="/merchants/${merchantId}/payouts"><code>${merchantId}</code></a>`
        : html`<a href="/wallets/${walletId}"><code>${walletId}</code></a>`,
      html`<code>${payoutId}</code>`,
    ]),
    { isTall: true, none },
  )
}

export function nameOf({ day, part }: Pick<PayoutRun, 'day' | 'part'>): string {
  if (part === undefined) return `${day}, manual`
  return part === 1 ? day : `${day}, part ${part}`
}

function stateOf({ closedAtMs, sentAtMs, ending, endedAtMs }: PayoutRun): Html {
  if (ending !== undefined)
    return endedAtMs === undefined
      ? statusBadge('wait', `${wordOf(ending)}, updating payouts`)
      : statusBadge(ending === 'paid' ? 'good' : 'off', wordOf(ending))
  if (sentAtMs !== undefined) return statusBadge('wait', 'Sent')
  return closedAtMs === undefined
    ? statusBadge('wait', 'Collecting payouts')
    : statusBadge('wait', 'Ready to send')
}
