// Requests that wait for a second operator, and what became of earlier ones: who asked for what, why, from where and
// until when; approved, rejected or withdrawn from here.
import { uuidPattern } from '@tillgate/protocol'
import { type Content, type Html, html } from '../../../http/html.ts'
import { type MemberRole, memberRoleMeanings } from '../../../members/rules/member.ts'
import {
  type ApprovableAct,
  type ApprovalRequest,
  approvalStatuses,
  approverRoles,
  describeAct,
  describeKey,
  merchantIdOf,
} from '../../../operators/rules/approval.ts'
import { mayAct } from '../../../operators/rules/operator.ts'
import { describeBankDetails } from '../../../payouts/rules/bank-account.ts'
import { actForms } from '../act-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { status } from '../statuses.ts'
import { empty, facts, pages } from '../tables.ts'
import { ago, amount, moment } from '../words.ts'

const path = '/approvals'
const perPage = 50

export const approvalsArea: readonly ConsoleRoute[] = [{ path, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query, service } = visit
  const wanted = approvalStatuses.find((each) => each === query.get('status'))
  const before = query.get('before') ?? ''
  // Ends what is too old, so that the list tells the truth.
  await service.approvals.countWaiting()
  const page = await service.approvals.listRequests(
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

/** Not a row of a table: whoever approves on a phone must see what. */
function card(visit: Visit, request: ApprovalRequest): Html {
  const { nowMs } = visit
  const { act, requestedAs, requestedAtMs, expiresAtMs, reason, decidedAtMs } = request
  const { title, facts: about } = described(act)
  return html`<section class="card approval"><h2>${title}${'currency' in act && html`: ${amount(act.amountMinor, act.currency)}`}</h2>
${facts([
  ['Status', outcome(request)],
  ...about.map(([name, text]) => [name, html`<span class="wrap">${text}</span>`] as const),
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

interface Described {
  readonly title: Html
  readonly facts: readonly (readonly [string, Content])[]
}

/**
 * By its number: two merchants may bear one name, and whoever approves must see which one it is. Of a key also the
 * fingerprint, to be compared with the merchant's own.
 */
function described(act: ApprovableAct): Described {
  const [kind, page, id] =
    'paymentId' in act
      ? ['Order', `/orders/${act.merchantId}/${act.paymentId}`, act.paymentId]
      : act.kind === 'wallet.top-up'
        ? ['Wallet', `/wallets/${act.walletId}`, act.walletId]
        : ['Merchant', `/merchants/${merchantIdOf(act)}`, merchantIdOf(act)]
  const subject = html`<a href="${page}">${kind === 'Order' ? 'an' : 'a'} ${kind.toLowerCase()}</a>`
  const number = [kind, html`<code class="wrap">${id}</code>`] as const
  const through =
    'outside' in act && act.outside
      ? [
          ['Bank account', act.outside.bankName] as const,
          ['Reference', act.outside.reference ?? 'the transfer’s own number'] as const,
          ['Value date', act.outside.valueDate ?? 'the day on which it is approved'] as const,
        ]
      : []
  switch (act.kind) {
    case 'order.refund':
      return { title: html`Refund of ${subject}`, facts: [number] }
    case 'merchant.payout':
      return {
        title: html`Payout to ${subject}`,
        facts: [number, ...(act.outside ? [['Bank account that pays', act.outside.bankName] as const] : [])],
      }
    case 'merchant.bank-account':
      return {
        title: html`New bank account of ${subject} for payouts in ${act.account.currency}`,
        facts: [number, ['Account', describeBankDetails(act.account)]],
      }
    case 'wallet.top-up':
      return { title: html`Top-up of ${subject}`, facts: [number, ...through] }
    case 'transfer.confirm': {
      const { outsideReference, valueDate, party, bankName } = act.entry
      return {
        title: html`Bank transfer that came for ${subject}`,
        facts: [
          number,
          ['Rail', act.railId],
          ['Bank’s reference', html`<span class="wrap">${outsideReference}</span>`],
          ['Value date', valueDate],
          ['Other side', html`<span class="wrap">${party ?? '—'}</span>`],
          ['Bank account', bankName ?? 'that of the rail'],
        ],
      }
    }
    case 'correction': {
      const { corrects, outside } = act.correction
      return {
        title: html`Correction`,
        facts: [
          ['What', describeAct(act)],
          ['Transfer', html`<code class="wrap">${corrects ?? '—'}</code>`],
          ['Reference', outside.reference ?? 'the transfer’s own number'],
        ],
      }
    }
    case 'key.add':
      return {
        title: html`New ${act.key.kind.toUpperCase()} key of ${subject}`,
        facts: [number, ['Key', describeKey(act.key)]],
      }
    case 'merchant.callback-hosts':
      return {
        title: html`Callback hosts of ${subject}`,
        facts: [number, ['Hosts', act.callbackHosts?.join(', ') ?? 'any']],
      }
    case 'member.invite':
      return {
        title: html`Invitation to the portal of ${subject}`,
        facts: [number, ['Whom', act.login], ['Role', describeRole(act.role)]],
      }
    case 'member.change-role':
      return {
        title: html`Another role of a member of ${subject}`,
        facts: [number, ['Member', act.login], ['Role', describeRole(act.role)]],
      }
    case 'member.recover':
      return {
        title: html`Link to a new password of a member of ${subject}`,
        facts: [number, ['Member', act.login]],
      }
    case 'member.reset-totp':
      return {
        title: html`Second step taken away from a member of ${subject}`,
        facts: [number, ['Member', act.login]],
      }
  }
}

function describeRole(role: MemberRole): string {
  return `${role}: ${memberRoleMeanings[role]}`
}

function outcome({ status: is, decidedAs, decisionReason }: ApprovalRequest): Html {
  return html`${status(is)}${decidedAs !== undefined && html`<br><span class="wrap">${decidedAs}: ${decisionReason}</span>`}`
}
