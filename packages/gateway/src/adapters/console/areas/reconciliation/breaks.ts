// Breaks: a work list, oldest and largest first, and each break with both of its sides.

import { mayAct } from '../../../../core/authority/rules/roles.ts'
import {
  type Break,
  breakMeanings,
  isUnbooked,
  returnReference,
} from '../../../../finance/reconciliation/rules/break.ts'
import { breakKinds } from '../../../../finance/reconciliation/rules/match.ts'
import { type Html, html } from '../../../kit/html.ts'
import { notice } from '../../../kit/pages/flash.ts'
import { empty, facts, noneFits, rowsBefore, table, urlWith } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../../console.ts'
import { amount, moment } from '../../words.ts'
import { breakTable, kindLabels, stateOf } from './break-table.ts'
import { selectedPath } from './selected.ts'
import { accountLink, partyCell, reconciliationPath as path, reconciliationTabs } from './tabs.ts'

const perPage = 50
const requestsLooked = 200

export const breaksArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}/breaks/:breakId`, show: showBreak },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query } = visit
  const status = query.get('status') === 'resolved' ? 'resolved' : 'open'
  const kind = breakKinds.find((each) => each === query.get('kind'))
  const account = query.get('account') ?? undefined
  const owner = query.get('owner') ?? undefined
  const skip = Math.min(100_000, rowsBefore(query.get('skip')))
  const { breaks } = visit.operations.reconciliation
  const found = await breaks.listBreaks(
    visit.context,
    { status, kind, account, owner },
    { skip, limit: perPage + 1 },
  )
  const reconciled = await visit.operations.reconciliation.days.listAccounts(visit.context)
  const maySelect = status === 'open' && mayAct(visit.account.role, 'operator')
  const isFiltered = [...query.keys()].some((name) => name !== 'status' && name !== 'all')
  return {
    title: 'Reconciliation',
    area: 'reconciliation',
    content: html`${reconciliationTabs(path)}
${filters(visit, status)}
${breakTable(visit, found.slice(0, perPage), {
  caption: status === 'open' ? 'Open breaks, oldest and largest first' : 'Resolved breaks, newest first',
  time: status === 'open' ? 'Found' : 'Resolved',
  waiting: await waitingBreaks(visit),
  ...(maySelect && { select: (each: Break) => checkbox(visit, each) }),
  none: isFiltered
    ? noneFits('break', path)
    : status === 'open'
      ? reconciled.length === 0
        ? html`No statements yet. <a href="${path}/imports?open=reconcile.import">Import a statement</a> to compare it with the books.`
        : `No open breaks. The statements of ${[...new Set(reconciled.map((each) => each.account))].join(', ')} agree with the books.`
      : 'No resolved breaks yet.',
})}
${
  maySelect &&
  found.length > 0 &&
  html`<form id="selection" action="${selectedPath}" class="acts"><button>Resolve selected…</button>${!query.has('all') && html`<a class="button" href="${urlWith(path, query, { all: 'selected' })}">Select all on this page</a>`}</form>`
}
${found.length > perPage && html`<p class="acts"><a class="button" rel="next" href="${urlWith(path, query, { skip: String(skip + perPage) })}">More</a></p>`}`,
  }
}

/** Breaks whose resolution waits for a second operator. */
async function waitingBreaks({ operations }: Visit): Promise<ReadonlySet<string>> {
  const requests = await operations.approvals.listRequests(
    { status: 'waiting' },
    { limit: requestsLooked, before: undefined },
  )
  return new Set(requests.flatMap(({ params }) => Object.entries({ ...params }).flatMap(breakIdOf)))
}

function breakIdOf([name, value]: readonly [string, unknown]): string[] {
  return name === 'breakId' ? [String(value)] : []
}

function checkbox({ query }: Visit, { breakId, kind, day }: Break): Html {
  return html`<input type="checkbox" name="break" value="${breakId}" form="selection"${query.has('all') && html` checked`} aria-label="${kindLabels[kind]}, ${day}">`
}

function filters({ query, account }: Visit, status: string): Html {
  const link = (label: string, changes: Record<string, string | undefined>, isOn: boolean) =>
    html`<li><a href="${urlWith(path, query, { skip: undefined, all: undefined, ...changes })}"${isOn && html` aria-current="true"`}>${label}</a></li>`
  const kind = query.get('kind')
  const isMine = query.get('owner') === account.login
  return html`<ul class="chips">${link('Open', { status: undefined }, status === 'open')}${link('Resolved', { status: 'resolved' }, status === 'resolved')}${link('Assigned to you', { owner: isMine ? undefined : account.login }, isMine)}</ul>
<ul class="chips">${link('All kinds', { kind: undefined, account: undefined }, kind === null)}${breakKinds.map((each) => link(kindLabels[each], { kind: each }, kind === each))}</ul>`
}

async function showBreak(visit: Visit): Promise<ConsolePage | undefined> {
  const { breakId = '' } = visit.params
  const shown = await orNothing(visit.operations.reconciliation.breaks.showBreak(visit.context, breakId))
  if (!shown) return undefined
  const { found, notes, parked } = shown
  const isWaiting = found.resolution === undefined && (await waitingBreaks(visit)).has(breakId)
  return {
    title: `Break: ${kindLabels[found.kind]}, ${found.day}`,
    area: 'reconciliation',
    content: html`<p>${stateOf(found)} · ${found.resolution === undefined ? breakMeanings[found.kind] : 'Resolved'} · <a href="${path}">All breaks</a></p>
${actionForms(visit, 'break', { subject: found, values: { breakId, owner: found.owner } })}
<div class="grid"><section><h2>Statement</h2>${outsideSide(found)}</section>
<section><h2>Books</h2>${bookSide(found)}</section></div>
${isWaiting && notice('wait', html`<p>A resolution of this break waits for a second operator under <a href="/approvals">Approvals</a>.</p>`)}
<h2>Break</h2>${about(found, visit.nowMs)}
${next(found, parked)}
<h2>Notes</h2>${
      notes.length === 0
        ? empty('No notes yet.')
        : table(
            'Notes',
            ['Time', 'Author', 'Note'],
            notes.map((note) => [
              moment(note.notedAtMs, visit.nowMs),
              html`<span class="wrap">${note.actor}</span>`,
              html`<span class="wrap">${note.text}</span>`,
            ]),
          )
    }`,
  }
}

function outsideSide({ line, currency, account }: Break): Html {
  if (!line) return empty('No statement contains this transfer.')
  return facts([
    ['Amount', amount(line.amountMinor, currency)],
    ['Account', accountLink(account)],
    ['Booking date', line.day],
    ['Value date', line.valueDay],
    ['Reference', html`<code class="wrap">${line.entryReference ?? '—'}</code>`],
    ['References', html`<span class="wrap">${[...new Set(line.references)].join(', ') || '—'}</span>`],
    ['Counterparty', partyCell(line)],
    ['Text', html`<span class="wrap">${line.description ?? '—'}</span>`],
    ['Line in the file', String(line.lineNumber)],
  ])
}

function bookSide(found: Break): Html {
  const { item, currency, amountMinor } = found
  if (!item)
    return empty(
      found.resolution === undefined
        ? 'The books contain no matching transfer.'
        : 'The books contained no matching transfer when the break was found.',
    )
  const isBooked = item.kind === 'booked' || (amountMinor === 0n && !isUnbooked(found))
  return facts([
    ['Amount', amount(item.amountMinor, currency)],
    ['Type', `${item.what.replaceAll('_', ' ')}, ${isBooked ? 'booked' : 'expected, not booked yet'}`],
    ['Day', item.day],
    ['Transfer ID', html`<code class="wrap">${item.transferId}</code>`],
    item.merchantId !== '' &&
      ([
        'Merchant',
        html`<a href="/merchants/${item.merchantId}"><code>${item.merchantId}</code></a>`,
      ] as const),
    item.kind === 'transfer' &&
      ([
        'Order',
        html`<a href="/orders/${item.merchantId}/${item.transferId}"><code class="wrap">${item.transferId}</code></a>`,
      ] as const),
    ['References', html`<span class="wrap">${item.references.join(', ') || '—'}</span>`],
  ])
}

/** The next step after unknown money was parked or returned, or where money of an order is too much. */
function next(found: Break, parked: string | undefined): Html | undefined {
  if (found.resolution === 'returned')
    return notice(
      'wait',
      html`<p>Transfer ${amount(found.line?.amountMinor ?? 0n, found.currency)} to ${partyCell(found.line)} with the reference <code>${returnReference(found)}</code>. The gateway matches the statement line of that transfer with this return.</p>`,
    )
  const { item, amountMinor } = found
  if (item?.kind === 'transfer' && amountMinor === 0n && found.resolution === undefined)
    return notice(
      'info',
      html`<p>The books contain this money. The amount that exceeds <a href="/orders/${item.merchantId}/${item.transferId}">its order</a> is in suspense. Return the excess from the order’s page or under <a href="/money/corrections">Corrections</a>, then accept the break.</p>`,
    )
  return parked === undefined
    ? undefined
    : notice(
        'info',
        html`<p>The money is in suspense as transfer <code>${parked}</code>. Release it or write it off under <a href="/money/corrections">Corrections</a>.</p>`,
      )
}

function about(found: Break, nowMs: number): Html {
  const { amountMinor, currency, resolution } = found
  return facts([
    [
      resolution === undefined ? 'Unexplained' : 'Was unexplained',
      amountMinor === 0n ? 'Nothing' : amount(amountMinor, currency),
    ],
    ['Found', moment(found.foundAtMs, nowMs)],
    ['Owner', html`<span class="wrap">${found.owner ?? 'Unassigned'}</span>`],
    resolution !== undefined &&
      ([
        'Resolved',
        html`${resolution.replace('_', ' ')} by <span class="wrap">${found.resolvedBy}</span>, ${moment(found.resolvedAtMs, nowMs)}`,
      ] as const),
    found.reason !== undefined && (['Reason', html`<span class="wrap">${found.reason}</span>`] as const),
    resolution === undefined &&
      found.correctionId !== undefined &&
      ([
        'Resolution in progress',
        html`<code class="wrap">${found.correctionId}</code> may be waiting under <a href="/approvals">Approvals</a>`,
      ] as const),
  ])
}
