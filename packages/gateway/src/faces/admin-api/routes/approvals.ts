// Requests that wait for a second operator, over the admin API. A token is its operator: it cannot approve what that
// operator asked for, by whatever way.
import { toDecimalText } from '@tillgate/protocol'
import type { Approved } from '../../../operators/decide-approvals.ts'
import {
  type ApprovableAct,
  type ApprovalRequest,
  type ApprovalStatus,
  approvalStatuses,
  approverRoles,
  type Decision,
  merchantIdOf,
} from '../../../operators/rules/approval.ts'
import {
  type ApiRoute,
  aesKey,
  callbackHosts,
  currency,
  limit,
  merchantId,
  pageOf,
  paymentId,
  publicKey,
  reason,
  route,
  uuid,
} from '../api.ts'
import { amount, list, object, oneOf, optional, present, text, timeMs } from '../fields.ts'

// Safe: these are its own keys.
const kinds = Object.keys(approverRoles) as ApprovableAct['kind'][]

export const approvalFields = {
  approvalId: uuid('The request’s number.'),
  act: oneOf('What is asked for.', kinds),
  merchantId: optional(merchantId),
  paymentId: optional(paymentId),
  walletId: optional(text('The wallet to be topped up.', { max: 64 })),
  referRefundNo: optional(text('The refund’s number.', { max: 64 })),
  amount: optional(amount('How much, of an act on money.')),
  currency: optional(currency),
  keyKind: optional(oneOf('Of a new key. An AES key is made when it is approved.', ['rsa', 'aes'])),
  publicKey: optional(publicKey),
  callbackHosts: optional(callbackHosts),
  reason,
  requestedBy: text('The login of whoever asked.', { max: 64 }),
  requestedAs: text('Who and from where, as in the audit log.', { max: 256 }),
  requestedAtMs: timeMs('When.'),
  expiresAtMs: timeMs('Until when it can be decided.'),
  status: oneOf('What became of it.', approvalStatuses),
  decidedBy: optional(text('The login of whoever decided.', { max: 64 })),
  decidedAtMs: optional(timeMs('When.')),
  decisionReason: optional(text('Why so.', { max: 256 })),
}
const approval = object('A request.', approvalFields)
const key = object('Which request.', { approvalId: uuid('The request’s number.') })

/** Of an act that may wait. */
export const outcomeFields = {
  outcome: oneOf(
    'waiting: nothing moves before another operator approves it. refused: it was rejected, withdrawn, or has expired.',
    ['done', 'waiting', 'refused'],
  ),
  approval: optional(object('The request, where it needs a second operator.', approvalFields)),
}

const outcomes = {
  waiting: 'waiting',
  approved: 'done',
  rejected: 'refused',
  withdrawn: 'refused',
  expired: 'refused',
} as const satisfies Record<ApprovalStatus, string>

/** A request that is sent again is answered with what became of it. */
export function toOutcome(request: ApprovalRequest) {
  return { outcome: outcomes[request.status], approval: toApproval(request) }
}

const summaries = {
  approve: 'Approve a request: the act is carried out at once',
  reject: 'Reject a request',
  withdraw: 'Withdraw one’s own request',
} as const satisfies Record<Decision, string>

export const approvalRoutes: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/approvals',
    id: 'listApprovals',
    scope: 'approvals:read',
    summary: 'Requests for a second operator’s approval, the newest first',
    query: object('Which requests.', {
      status: optional(oneOf('Of this status.', approvalStatuses)),
      before: optional(uuid('Only what is older than this request.')),
      limit,
    }),
    answer: object('A page.', {
      approvals: list('The newest first.', approval),
      older: optional(uuid('`before` of the next page; not there on the last one.')),
    }),
    async act({ service, query }) {
      await service.approvals.countWaiting()
      const { items, ...older } = await pageOf(
        query,
        (page) => service.approvals.listRequests({ status: query.status }, page),
        (each) => each.approvalId,
      )
      return { approvals: items.map(toApproval), ...older }
    },
  }),
  route({
    method: 'GET',
    path: '/approvals/:approvalId',
    id: 'showApproval',
    scope: 'approvals:read',
    summary: 'One request',
    params: key,
    answer: approval,
    act: async ({ service, params }) => toApproval(await service.approvals.findRequest(params.approvalId)),
  }),
  ...(['approve', 'reject', 'withdraw'] as const).map((decision) =>
    route({
      method: 'POST',
      path: `/approvals/:approvalId/${decision}`,
      id: `${decision}Request`,
      scope: 'approvals:decide',
      summary: summaries[decision],
      params: key,
      body: object('Why.', { reason }),
      answer: object('The request.', {
        ...approvalFields,
        ...(decision === 'approve' && { aesKey: optional(aesKey) }),
      }),
      async act({ service, operator, actor, params, body }) {
        const decide = service.approvals[decision]
        const decided: Approved = await decide(params.approvalId, { operator, actor }, body.reason)
        return { ...toApproval(decided), ...present({ aesKey: decided.aesKey }) }
      },
    }),
  ),
]

export function toApproval(request: ApprovalRequest) {
  const { act } = request
  return present({
    approvalId: request.approvalId,
    act: act.kind,
    merchantId: merchantIdOf(act),
    paymentId: act.kind === 'order.refund' ? act.paymentId : undefined,
    walletId: act.kind === 'wallet.top-up' ? act.walletId : undefined,
    referRefundNo: act.kind === 'order.refund' ? act.referRefundNo : undefined,
    amount: 'currency' in act ? toDecimalText(act.amountMinor, act.currency) : undefined,
    currency: 'currency' in act ? act.currency : undefined,
    keyKind: act.kind === 'key.add' ? act.key.kind : undefined,
    publicKey: act.kind === 'key.add' && act.key.kind === 'rsa' ? act.key.publicKey : undefined,
    callbackHosts:
      act.kind === 'merchant.callback-hosts' && act.callbackHosts ? [...act.callbackHosts] : undefined,
    reason: request.reason,
    requestedBy: request.requestedBy,
    requestedAs: request.requestedAs,
    requestedAtMs: request.requestedAtMs,
    expiresAtMs: request.expiresAtMs,
    status: request.status,
    decidedBy: request.decidedBy,
    decidedAtMs: request.decidedAtMs,
    decisionReason: request.decisionReason,
  })
}
