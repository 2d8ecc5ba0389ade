// Requests that wait for a second operator. A token is its operator: it cannot approve what that
// operator asked for, by whatever way.
import assert from 'node:assert/strict'
import { toDecimalText } from '@tillgate/protocol'
import { memberRoles } from '../members/rules/member.ts'
import type { Approved } from '../operators/decide-approvals.ts'
import {
  type ApprovableAct,
  type ApprovalRequest,
  type ApprovalStatus,
  approvalStatuses,
  approverRoles,
  type Decision,
  describeAct,
  merchantIdOf,
} from '../operators/rules/approval.ts'
import { describeBankDetails } from '../payouts/rules/bank-account.ts'
import type { Correction } from '../treasury/rules/correction.ts'
import { type Act, defineAct, form, type Told } from './act.ts'
import { amount, list, object, oneOf, optional, text, timeMs } from './fields.ts'
import {
  aesKey,
  bankName,
  callbackHosts,
  currency,
  limit,
  memberLink,
  merchantId,
  nextPage,
  pageOf,
  paymentId,
  publicKey,
  reason,
  uuid,
} from './shared-fields.ts'

// Safe: these are its own keys.
const kinds = Object.keys(approverRoles) as ApprovableAct['kind'][]

export const approvalFields = {
  approvalId: uuid('The request’s number.'),
  act: oneOf('What is asked for.', kinds),
  merchantId: optional(merchantId),
  paymentId: optional(paymentId),
  walletId: optional(text('The wallet whose money moves.', { max: 64 })),
  referRefundNo: optional(text('The refund’s number.', { max: 64 })),
  amount: optional(amount('How much, of an act on money.')),
  currency: optional(currency),
  bank: optional(bankName),
  reference: optional(text('By what the bank knows it.', { max: 140 })),
  valueDate: optional(text('The bank’s value date.', { max: 10 })),
  transferId: optional(text('The transfer that a correction puts right.', { max: 30 })),
  what: text('All of it, in words.', { max: 65_536 }),
  keyKind: optional(oneOf('Of a new key. An AES key is made when it is approved.', ['rsa', 'aes'])),
  publicKey: optional(publicKey),
  callbackHosts: optional(callbackHosts),
  bankAccount: optional(text('Where a merchant’s payouts are to go: currency and account.', { max: 1024 })),
  login: optional(text('The member’s e-mail address, of an act on a merchant’s people.', { max: 254 })),
  role: optional(oneOf('What that person is to be allowed.', memberRoles)),
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
  doneBeforeMs: optional(timeMs('It was sent again: it was done then, and nothing was done again.')),
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

/** Of an act that waits, or was sent before; undefined: it was done now. */
export function tellWaiting({
  approval: request,
  doneBeforeMs,
}: {
  approval?: { status: ApprovalStatus }
  doneBeforeMs?: number
}): Told | undefined {
  if (doneBeforeMs !== undefined) {
    const at = new Date(doneBeforeMs).toISOString().slice(0, 19).replace('T', ' ')
    return { text: `This was already done at ${at} UTC; nothing moved again.` }
  }
  if (!request) return undefined
  const { status } = request
  if (status === 'waiting')
    return {
      text: 'Nothing was done yet: this waits for another operator’s approval. It stands in this list.',
      page: '/approvals',
    }
  return {
    text: `This was asked for before: it was ${status}, and ${status === 'approved' ? 'the money has moved, once' : 'nothing moved'}. Load the page anew to ask again.`,
    page: `/approvals?status=${status}`,
  }
}

const summaries = {
  approve: 'Approve a request: the act is carried out at once',
  reject: 'Reject a request',
  withdraw: 'Withdraw one’s own request',
} as const satisfies Record<Decision, string>

const notes = {
  approve: 'Approved and carried out.',
  reject: 'Rejected: nothing was done.',
  withdraw: 'Withdrawn: nothing was done.',
} as const satisfies Record<Decision, string>

const forms = {
  approve: {
    label: 'Approve…',
    explains: ({ act }: ApprovalRequest) =>
      `It is carried out at once: ${describeAct(act)}. All limits are checked anew.${describeSecret(act)}`,
    button: 'Approve and carry out',
    wantsProof: true,
  },
  reject: {
    label: 'Reject…',
    explains: 'Nothing is done, and nobody can approve it any more.',
    button: 'Reject',
    isDangerous: true,
  },
  withdraw: {
    label: 'Withdraw…',
    explains: 'Nobody can approve it any more. Nothing was done, and nothing will be.',
    button: 'Withdraw my request',
  },
} as const

export const approvalActs: readonly Act[] = [
  defineAct({
    name: 'approval.list',
    api: { method: 'GET', path: '/approvals', id: 'listApprovals' },
    scope: 'approvals:read',
    summary: 'Requests for a second operator’s approval, the newest first',
    input: object('Which requests.', {
      status: optional(oneOf('Of this status.', approvalStatuses)),
      before: optional(uuid('Only what is older than this request.')),
      limit,
    }),
    answer: object('A page.', {
      approvals: list('The newest first.', approval),
      older: optional(uuid(nextPage)),
    }),
    async run({ service, input }) {
      await service.approvals.countWaiting()
      const { approvals, older } = await pageOf('approvals', input, {
        read: (at) => service.approvals.listRequests({ status: input.status }, at),
        keyOf: ({ approvalId }) => approvalId,
      })
      return { approvals: approvals.map(toApproval), older }
    },
  }),
  defineAct({
    name: 'approval.show',
    api: { method: 'GET', path: '/approvals/:approvalId', id: 'showApproval' },
    scope: 'approvals:read',
    summary: 'One request',
    params: key,
    answer: approval,
    run: async ({ service, params }) => toApproval(await service.approvals.findRequest(params.approvalId)),
  }),
  ...(['approve', 'reject', 'withdraw'] as const).map((decision) =>
    defineAct({
      name: `approval.${decision}`,
      api: { method: 'POST', path: `/approvals/:approvalId/${decision}`, id: `${decision}Request` },
      scope: 'approvals:decide',
      summary: summaries[decision],
      params: key,
      input: object('Why.', { reason }),
      answer: object('The request.', {
        ...approvalFields,
        ...(decision === 'approve' && {
          aesKey: optional(aesKey),
          link: optional(memberLink),
        }),
      }),
      form: form<ApprovalRequest>({
        ...forms[decision],
        place: 'approval',
        path: `/approvals/:approvalId/${decision}`,
        page: '/approvals',
        isOffered: ({ requestedBy }, { login }) => (requestedBy === login) === (decision === 'withdraw'),
      }),
      async run({ service, operator, actor, params, input, prove }) {
        await prove?.()
        assert(operator, 'only a person decides')
        const decide = service.approvals[decision]
        const decided: Approved = await decide(params.approvalId, { operator, actor }, input.reason)
        return { ...toApproval(decided), aesKey: decided.aesKey, link: decided.link }
      },
      tell: ({ aesKey: secret, link, merchantId: of }) => ({
        text: notes[decision],
        ...(typeof secret === 'string' && {
          secrets: [
            ['merchantId', of ?? ''],
            ['AES key', secret],
          ],
          page: `/merchants/${of}`,
        }),
        ...(typeof link === 'string' && { secrets: [['Link', link]], page: `/merchants/${of}` }),
      }),
    }),
  ),
]

/** What whoever approves is told beside that it is done. */
function describeSecret(act: ApprovableAct): string {
  if (act.kind === 'key.add' && act.key.kind === 'aes')
    return ' The key is shown to you, once, for you to hand over.'
  if (act.kind === 'member.invite' || act.kind === 'member.recover')
    return ' The link goes to them by mail or, without a mail server, is shown to you, once, for you to hand over.'
  return ''
}

function toApproval({ act, ...request }: ApprovalRequest) {
  const key = act.kind === 'key.add' ? act.key : undefined
  const correction = act.kind === 'correction' ? act.correction : undefined
  const outside = correction?.outside ?? ('outside' in act ? act.outside : undefined)
  const entry = act.kind === 'transfer.confirm' ? act.entry : undefined
  return {
    ...act,
    ...request,
    act: act.kind,
    merchantId: merchantIdOf(act),
    amount: 'currency' in act ? toDecimalText(act.amountMinor, act.currency) : undefined,
    walletId: 'walletId' in act ? act.walletId : correctedWallet(correction),
    transferId: correction?.corrects,
    what: describeAct(act),
    bank: outside?.bankName ?? entry?.bankName,
    reference: outside?.reference ?? entry?.outsideReference,
    valueDate: outside?.valueDate ?? entry?.valueDate,
    keyKind: key?.kind,
    publicKey: key?.kind === 'rsa' ? key.publicKey : undefined,
    bankAccount:
      act.kind === 'merchant.bank-account'
        ? `${act.account.currency}: ${describeBankDetails(act.account)}`
        : undefined,
  }
}

function correctedWallet(correction: Correction | undefined): string | undefined {
  return correction && 'walletId' in correction ? correction.walletId : undefined
}
