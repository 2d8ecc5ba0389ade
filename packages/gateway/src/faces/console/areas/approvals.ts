// Requests that wait for a second operator, and what became of earlier ones: who asked for what, why, from where and
// until when; approved, rejected or withdrawn from here.
import { uuidPattern } from '@tillgate/protocol'
import type { OperatorService } from '../../../acts/service.ts'
import { type Html, html } from '../../../http/html.ts'
import {
  type ApprovableAct,
  type ApprovalRequest,
  approvalStatuses,
  approverRoles,
  describeKey,
} from '../../../operators/rules/approval.ts'
import { mayAct } from '../../../operators/rules/operator.ts'
import { actForms } from '../act-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { status } from '../statuses.ts'
import { empty, facts, pages } from '../tables.ts'
import { ago, amount, moment } from '../words.ts'

const path = '/approvals'
const perPage = 50

export function approvalsArea(running: () => OperatorService): readonly ConsoleRoute[] {
  return [{ path, show }]

  async function show(visit: Visit): Promise<ConsolePage> {
    const { query } = visit
    const wanted = approvalStatuses.find((each) => each === query.get('status'))
    const before = query.get('before') ?? ''
    // Ends what is too old, so that the list tells the truth.
    await running().approvals.countWaiting()
    const page = await running().approvals.listRequests(
      { status: query.get('status') === 'all' ? undefined : (wanted ?? 'waiting') },
      { limit: perPage + 1, before: uuidPattern.test(before) ? before : undefined },
    )
    const shown = page.slice(0, perPage)
    return {
      title: 'Approvals',
      area: 'approvals',
      isLive: true,
      content: html`<form class="filters" action="${path}">
<label>Status<select name="status">${[...approvalStatuses, 'all'].map(
        (each) =>
          html`<option${each === (query.get('status') ?? 'waiting') && html` selected`}>${each}</option>`,
      )}</select></label>
<button>Filter</button></form>
${
  shown.length === 0
    ? empty(
        html`Nothing here. What needs a second operator is set by <code>APPROVAL_FOR</code> and <code>APPROVAL_REFUND_ABOVE</code>.`,
      )
    : html`${shown.map((request) => card(visit, request))}
${pages(path, query, { older: page.length > perPage ? shown.at(-1)?.approvalId : undefined })}`
}`,
    }
  }
}

/** Not a row of a table: whoever approves on a phone must see what. */
function card(visit: Visit, request: ApprovalRequest): Html {
  const { nowMs } = visit
  const { act, requestedAs, requestedAtMs, expiresAtMs, reason, decidedAtMs } = request
  return html`<section class="card approval"><h2>${what(act)}${'currency' in act && html`: ${amount(act.amountMinor, act.currency)}`}</h2>
${facts([
  ['Status', outcome(request)],
  subject(act),
  ...details(act),
  ['Asked by, from where', html`<span class="wrap">${requestedAs}</span>, ${ago(requestedAtMs, nowMs)}`],
  ['Reason', html`<span class="wrap">${reason}</span>`],
  request.status === 'waiting'
    ? ['Until', moment(expiresAtMs, nowMs)]
    : ['Decided', moment(decidedAtMs, nowMs)],
])}
${
  request.status === 'waiting' &&
  mayAct(visit.operator.role, approverRoles[act.kind]) &&
  actForms(visit, 'approval', { subject: request, values: { approvalId: request.approvalId } })
}</section>`
}

function what(act: ApprovableAct): Html {
  switch (act.kind) {
    case 'order.refund':
      return html`Refund of <a href="/orders/${act.merchantId}/${act.paymentId}">an order</a>`
    case 'merchant.payout':
      return html`Payout to <a href="/merchants/${act.merchantId}">a merchant</a>`
    case 'wallet.top-up':
      return html`Top-up of <a href="/wallets/${act.walletId}">a wallet</a>`
    case 'key.add':
      return html`New ${act.key.kind.toUpperCase()} key of <a href="/merchants/${act.merchantId}">a merchant</a>`
    case 'merchant.callback-hosts':
      return html`Callback hosts of <a href="/merchants/${act.merchantId}">a merchant</a>`
  }
}

/** By its number: two merchants may bear one name, and whoever approves must see which one it is. */
function subject(act: ApprovableAct): readonly [string, Html] {
  switch (act.kind) {
    case 'order.refund':
      return ['Order', html`<code class="wrap">${act.paymentId}</code>`]
    case 'wallet.top-up':
      return ['Wallet', html`<code class="wrap">${act.walletId}</code>`]
    default:
      return ['Merchant', html`<code class="wrap">${act.merchantId}</code>`]
  }
}

/** Of what is not about money: whoever approves compares the fingerprint with the merchant's own. */
function details(act: ApprovableAct): (readonly [string, Html])[] {
  switch (act.kind) {
    case 'key.add':
      return [['Key', html`<span class="wrap">${describeKey(act.key)}</span>`]]
    case 'merchant.callback-hosts':
      return [['Hosts', html`<span class="wrap">${act.callbackHosts?.join(', ') ?? 'any'}</span>`]]
    default:
      return []
  }
}

function outcome({ status: is, decidedAs, decisionReason }: ApprovalRequest): Html {
  return html`${status(is)}${decidedAs !== undefined && html`<br><span class="wrap">${decidedAs}: ${decisionReason}</span>`}`
}
