// Requests that wait for a second operator, and decided ones, with the forms that approve, reject and withdraw.
import { uuidPattern } from '@tillgate/protocol'
import { describeRequest, mayApproveSelected } from '../../../actions/approvals/approval-actions.ts'
import { findAction } from '../../../actions/catalog.ts'
import type { DescribedField } from '../../../actions/running/describe-fields.ts'
import { type ApprovalRequest, approvalStatuses } from '../../../core/authority/rules/approval.ts'
import { mayAct } from '../../../core/authority/rules/roles.ts'
import type { Names } from '../../../finance/overview/store/names.ts'
import { type Html, html } from '../../kit/html.ts'
import { empty, facts, pages, urlWith } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { actorCell, loginOf } from '../audit-entries.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../console.ts'
import { status, wordOf } from '../statuses.ts'
import { ago, amount, moment } from '../words.ts'
import { moneyOf } from './approval-money.ts'
import { textCell } from './reconciliation/tabs.ts'

const path = '/approvals'
const perPage = 50

export const approvalsArea: readonly ConsoleRoute[] = [{ path, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query, operations } = visit
  const wanted = approvalStatuses.find((each) => each === query.get('status'))
  const before = query.get('before') ?? ''
  // Expires overdue requests, so that the list is correct.
  await operations.approvals.countWaiting()
  const page = await operations.approvals.listRequests(
    { status: query.get('status') === 'all' ? undefined : (wanted ?? 'waiting') },
    { limit: perPage + 1, before: uuidPattern.test(before) ? before : undefined },
  )
  const shown = page.slice(0, perPage)
  const names = await operations.readNames(visit.context, shown.flatMap(idsOf))
  return {
    title: 'Approvals',
    area: 'approvals',
    isLive: true,
    content: html`<form class="filters" action="${path}">
<label>Status<select name="status">${[...approvalStatuses, 'all' as const].map(
      (each) =>
        html`<option value="${each}"${each === (query.get('status') ?? 'waiting') && html` selected`}>${each === 'all' ? 'All' : wordOf(each)}</option>`,
    )}</select></label>
<button>Filter</button></form>
${
  shown.length === 0
    ? empty(
        html`No requests. The settings <code>APPROVAL_FOR</code> and <code>APPROVAL_REFUND_ABOVE</code> decide which actions need a second operator.`,
      )
    : html`${await Promise.all(shown.map((request) => card(visit, request, names)))}
${approveSelected(visit, shown)}
${pages(path, query, { older: page.length > perPage ? shown.at(-1)?.approvalId : undefined })}`
}`,
  }
}

/** For the checkboxes of the cards. */
function approveSelected(visit: Visit, shown: readonly ApprovalRequest[]): Html {
  const selectable = shown.filter((request) => isSelectable(visit, request))
  return html`${actionForms(visit, 'approvals.selected', { subject: selectable })}${
    selectable.length > 1 &&
    !visit.query.has('all') &&
    html`<p class="acts"><a class="button" href="${urlWith(path, visit.query, { all: 'selected' })}">Select all on this page</a></p>`
  }`
}

function isSelectable({ account }: Visit, request: ApprovalRequest): boolean {
  return (
    mayAct(account.role, findAction(request.action)?.needs ?? 'admin') &&
    mayApproveSelected(request, account.login)
  )
}

function checkbox({ query, refused }: Visit, { approvalId }: ApprovalRequest, title: string): Html {
  const isTicked = query.has('all') || refused?.typed.getAll('approval').includes(approvalId)
  return html`<input type="checkbox" name="approval" value="${approvalId}" form="approve-selected"${isTicked && html` checked`} aria-label="${title}"> `
}

function idsOf({ requestedAs, decidedAs = '', merchantId = '', params, input }: ApprovalRequest): string[] {
  const texts = [params, input]
    .flatMap((each) => Object.values(each ?? {}))
    .filter((each) => typeof each === 'string')
  return [loginOf(requestedAs), loginOf(decidedAs), merchantId, ...texts]
}

/** A card instead of a table row: the whole request must be readable on a phone. */
async function card(visit: Visit, request: ApprovalRequest, names: Names): Promise<Html> {
  const { nowMs } = visit
  const { requestedAs, requestedAtMs, expiresAtMs, reason, decidedAtMs } = request
  const { title, fields } = describeRequest(request, findAction)
  const about = await subjectOf(visit, request, names)
  return html`<section class="card approval"><h2>${isSelectable(visit, request) && checkbox(visit, request, title)}${title}</h2>
${facts([
  ['Status', outcome(request, names)],
  ...about,
  ...fields.map((field) => [field.label, fact(field, request, names)] as const),
  ['Requested by', html`${actorCell(requestedAs, names)}, ${ago(requestedAtMs, nowMs)}`],
  ['Reason', html`<span class="wrap">${reason || '—'}</span>`],
  request.status === 'waiting'
    ? ['Expires', moment(expiresAtMs, nowMs)]
    : ['Decided', moment(decidedAtMs, nowMs)],
])}
${
  request.status === 'waiting' &&
  mayAct(visit.account.role, findAction(request.action)?.needs ?? 'admin') &&
  actionForms(visit, 'approval', { subject: request, values: { approvalId: request.approvalId } })
}</section>`
}

/** The merchant, the order and the wallet by name, because IDs alone do not help the approver. */
async function subjectOf(
  visit: Visit,
  request: ApprovalRequest,
  names: Names,
): Promise<(readonly [string, Html])[]> {
  const { merchantId, params, input } = request
  // Safe: these are text in every schema.
  const { paymentId, breakId, walletId, applicationId } = { ...input, ...params } as Readonly<
    Partial<Record<'paymentId' | 'breakId' | 'walletId' | 'applicationId', string>>
  >
  const about = [
    ...(breakId === undefined ? [] : await lineOf(visit, breakId, names)),
    ...(walletId === undefined ? [] : await walletOf(visit, walletId)),
    ...(applicationId === undefined ? [] : await applicationOf(visit, applicationId)),
  ]
  const { operations, context } = visit
  const details =
    merchantId === undefined || paymentId === undefined
      ? undefined
      : await operations.showOrder(context, { merchantId, paymentId })
  about.push(...(await moneyOf(visit, request, details)))
  if (merchantId === undefined) return about
  const merchant = await orNothing(operations.merchants.showMerchant(context, merchantId))
  return [
    ...about,
    ...(merchant
      ? [
          [
            'Merchant',
            html`<a class="wrap" href="/merchants/${merchantId}">${merchant.merchant.name}</a>`,
          ] as const,
        ]
      : []),
    ...(details
      ? ([
          [
            'Order',
            html`<a class="wrap" href="/orders/${merchantId}/${paymentId}">${details.order.orderNo}</a>`,
          ],
          ['Order total', amount(details.order.paymentAmountMinor, details.order.currency)],
        ] as const)
      : []),
  ]
}

/** A file is evidence of the person who supplied it alone, and of the one who saved its mapping. */
async function lineOf(
  { operations, context }: Visit,
  breakId: string,
  names: Names,
): Promise<(readonly [string, Html])[]> {
  const shown = await orNothing(operations.reconciliation.breaks.showBreak(context, breakId))
  if (shown?.found.line === undefined) return []
  const { importedBy, mappedBy } = shown
  const { line, currency, account } = shown.found
  return [
    ['Statement line', html`${amount(line.amountMinor, currency)} at ${account}, ${line.day}`],
    ['Text', textCell(line)],
    ...(importedBy === undefined ? [] : [['Imported by', actorCell(importedBy, names)] as const]),
    ...(mappedBy === undefined ? [] : [['CSV mapping saved by', actorCell(mappedBy, names)] as const]),
  ]
}

async function walletOf(
  { operations, context }: Visit,
  walletId: string,
): Promise<(readonly [string, Html])[]> {
  const shown = await orNothing(operations.wallets.showWallet(context, walletId))
  return shown
    ? [['Consumer', html`<span class="wrap">${shown.wallet.name}, ${shown.wallet.login}</span>`]]
    : []
}

async function applicationOf(
  { operations, context }: Visit,
  applicationId: string,
): Promise<(readonly [string, Html])[]> {
  const found = await orNothing(operations.applications.findApplication(context, applicationId))
  if (!found) return []
  const text = (value: string) => html`<span class="wrap">${value}</span>`
  return [
    ['Business', text(`${found.business}, ${found.website}`)],
    ['First member', text(found.email)],
  ]
}

/** IDs link to their pages: two merchants can share a name, and the ID tells them apart. */
function fact({ name, value }: DescribedField, { merchantId }: ApprovalRequest, names: Names): Html {
  const page = {
    merchantId: `/merchants/${value}`,
    paymentId: merchantId === undefined ? undefined : `/orders/${merchantId}/${value}`,
    walletId: `/wallets/${value}`,
    breakId: `/reconciliation/breaks/${value}`,
    railId: `/rails/${value}`,
    runId: `/payouts/${value}`,
    applicationId: `/applications/${value}`,
    payoutId: merchantId === undefined ? undefined : `/merchants/${merchantId}/payouts/${value}`,
  }[name]
  // Merchant and order have a line of their own.
  const known = name === 'merchantId' || name === 'paymentId' ? undefined : names.get(value)?.name
  const text = html`<span class="wrap">${known === undefined || known === value ? value : `${value} (${known})`}</span>`
  return page === undefined ? text : html`<a href="${page}">${text}</a>`
}

function outcome({ status: is, decidedAs, decisionReason }: ApprovalRequest, names: Names): Html {
  return html`${status(is)}${decidedAs !== undefined && html`<br>${actorCell(decidedAs, names)}<br><span class="wrap">${decisionReason}</span>`}`
}
