// Requests that wait for a second operator, and what became of earlier ones: who asked for what, why, from where and
// until when; approved, rejected or withdrawn from here.
import { uuidPattern } from '@tillgate/protocol'
import { type Html, html } from '../../../http/html.ts'
import {
  type ApprovalRequest,
  approvalStatuses,
  type Decision,
  type MoneyAct,
  moneyActRoles,
} from '../../../operators/rules/approval.ts'
import { mayAct } from '../../../operators/rules/operator.ts'
import type { Outcome } from '../../../treasury/money-acts.ts'
import type { ConsolePage, ConsoleRoute, Done, Visit } from '../console.ts'
import { foldedAct, reasonOf } from '../forms.ts'
import type { ConsoleService } from '../service.ts'
import { status } from '../statuses.ts'
import { empty, facts, pages } from '../tables.ts'
import { ago, amount, moment } from '../words.ts'

const path = '/approvals'
const perPage = 50

const decisions = ['approve', 'reject', 'withdraw'] as const satisfies readonly Decision[]

const notes = {
  approve: 'Approved and carried out.',
  reject: 'Rejected: nothing was done.',
  withdraw: 'Withdrawn: nothing was done.',
} as const satisfies Record<Decision, string>

export function approvalsArea(running: () => ConsoleService): readonly ConsoleRoute[] {
  return [
    { path, show },
    ...decisions.map((decision) => ({
      path: `${path}/:approvalId/${decision}`,
      needs: 'operator' as const,
      back: () => path,
      async act(visit: Visit, form: URLSearchParams): Promise<Done> {
        await running().approvals[decision](visit.params['approvalId'] ?? '', visit, reasonOf(form))
        return { kind: 'go', to: path, note: notes[decision] }
      },
    })),
  ]

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

/** For the areas whose acts may wait; undefined: it was done at once. A form that is sent again is told what became of it. */
export function waitsFor(outcome: Extract<Outcome<unknown>, { kind: 'waiting' }>): Done
export function waitsFor(outcome: Outcome<unknown>): Done | undefined
export function waitsFor(outcome: Outcome<unknown>): Done | undefined {
  if (outcome.kind === 'done') return undefined
  const { status: is } = outcome.request
  if (is !== 'waiting')
    return {
      kind: 'go',
      to: `${path}?status=${is}`,
      note: `This was asked for before: it was ${is}, and ${is === 'approved' ? 'the money has moved, once' : 'nothing moved'}. Load the page anew to ask again.`,
    }
  return {
    kind: 'go',
    to: path,
    note: 'Nothing moved yet: this waits for another operator’s approval. It stands in this list.',
  }
}

/** Not a row of a table: whoever approves on a phone must see what. */
function card(visit: Visit, request: ApprovalRequest): Html {
  const { nowMs } = visit
  const { act, requestedAs, requestedAtMs, expiresAtMs, reason, decidedAtMs } = request
  return html`<section class="card approval"><h2>${what(act)}: ${amount(act.amountMinor, act.currency)}</h2>
${facts([
  ['Status', outcome(request)],
  subject(act),
  ['Asked by, from where', html`<span class="wrap">${requestedAs}</span>, ${ago(requestedAtMs, nowMs)}`],
  ['Reason', html`<span class="wrap">${reason}</span>`],
  request.status === 'waiting'
    ? ['Until', moment(expiresAtMs, nowMs)]
    : ['Decided', moment(decidedAtMs, nowMs)],
])}
${acts(visit, request)}</section>`
}

function what(act: MoneyAct): Html {
  switch (act.kind) {
    case 'order.refund':
      return html`Refund of <a href="/orders/${act.merchantId}/${act.paymentId}">an order</a>`
    case 'merchant.payout':
      return html`Payout to <a href="/merchants/${act.merchantId}">a merchant</a>`
    case 'wallet.top-up':
      return html`Top-up of <a href="/wallets/${act.walletId}">a wallet</a>`
  }
}

/** By its number: two merchants may bear one name, and whoever approves must see which one it is. */
function subject(act: MoneyAct): readonly [string, Html] {
  switch (act.kind) {
    case 'order.refund':
      return ['Order', html`<code class="wrap">${act.paymentId}</code>`]
    case 'merchant.payout':
      return ['Merchant', html`<code class="wrap">${act.merchantId}</code>`]
    case 'wallet.top-up':
      return ['Wallet', html`<code class="wrap">${act.walletId}</code>`]
  }
}

function outcome({ status: is, decidedAs, decisionReason }: ApprovalRequest): Html {
  return html`${status(is)}${decidedAs !== undefined && html`<br><span class="wrap">${decidedAs}: ${decisionReason}</span>`}`
}

function acts(visit: Visit, { approvalId, act, requestedBy, status: is }: ApprovalRequest): Html | undefined {
  const needs = moneyActRoles[act.kind]
  if (is !== 'waiting' || !mayAct(visit.operator.role, needs)) return undefined
  const action = (decision: Decision) => `${path}/${approvalId}/${decision}`
  if (requestedBy === visit.operator.login)
    return foldedAct(visit, {
      needs,
      action: action('withdraw'),
      label: 'Withdraw…',
      explains: 'Nobody can approve it any more. Nothing was done, and nothing will be.',
      button: 'Withdraw my request',
      wantsReason: true,
    })
  return html`<div class="acts">${foldedAct(visit, {
    needs,
    action: action('approve'),
    label: 'Approve…',
    explains: html`It is carried out at once: ${what(act)} over ${amount(act.amountMinor, act.currency)}. All limits are checked anew.`,
    button: 'Approve and carry out',
    wantsReason: true,
  })}${foldedAct(visit, {
    needs,
    action: action('reject'),
    label: 'Reject…',
    explains: 'Nothing is done, and nobody can approve it any more.',
    button: 'Reject',
    isDangerous: true,
    wantsReason: true,
  })}</div>`
}
