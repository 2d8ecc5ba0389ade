// Requests that wait for a second operator. A token acts as its operator, so it cannot approve what its operator
// requested in any way. Approving runs the action again in the requester's name, under fresh checks.
import assert from 'node:assert/strict'
import { Failure } from '@tillgate/protocol'
import { reachingAll } from '../../core/authority/context.ts'
import {
  type ApprovalDecision,
  type ApprovalRequest,
  type ApprovalStatus,
  approvalStatuses,
} from '../../core/authority/rules/approval.ts'
import { ApprovalNeeded } from '../../core/authority/rules/authority.ts'
import { type Action, type ActionCall, defineAction, form, type Reply } from '../action.ts'
import { answerOf, isFile } from '../answers.ts'
import { anyObject, count, list, object, oneOf, optional, text, timeMs } from '../fields.ts'
import { fieldsOf, titleOf } from '../running/describe-fields.ts'
import { limit, merchantId, nextPage, pageOf, reason, uuid } from '../shared-fields.ts'
import type { RunAction } from './decide-approvals.ts'

const approvalFields = {
  approvalId: uuid('The request’s ID.'),
  action: text('The requested action.', { max: 64 }),
  summary: text('A summary of the action.', { max: 65_536 }),
  params: anyObject('The parameters of the action.'),
  input: anyObject('The input of the action.'),
  merchantId: optional(merchantId),
  reason: text('The requester’s reason.', { min: 0, max: 256 }),
  requestedBy: text('The requester’s login.', { max: 64 }),
  requestedAs: text('The requester and their address, as in the audit log.', { max: 256 }),
  requestedAtMs: timeMs('When it was requested.'),
  expiresAtMs: timeMs('The deadline for the decision.'),
  status: oneOf('The state of the request.', approvalStatuses),
  decidedBy: optional(text('The login of the operator who decided.', { max: 64 })),
  decidedAtMs: optional(timeMs('When it was decided.')),
  decisionReason: optional(text('The reason for the decision.', { max: 256 })),
}
const approval = object('A request.', approvalFields)
const key = object('Which request.', { approvalId: uuid('The request’s ID.') })

/** The answer of an action that waits, with HTTP status 202, instead of its own answer. */
export const waitingAnswer = object('The action needs a second operator.', {
  outcome: oneOf(
    'waiting: another operator must approve the request. done: this repeats an approved request. refused: this repeats a request that was rejected, withdrawn, or has expired.',
    ['waiting', 'done', 'refused'],
  ),
  approval,
})

const outcomes = {
  waiting: 'waiting',
  approved: 'done',
  rejected: 'refused',
  withdrawn: 'refused',
  expired: 'refused',
} as const satisfies Record<ApprovalStatus, string>

export function toWaitingAnswer(request: ApprovalRequest): object {
  // Safe: the result is cut to the schema of an object.
  return answerOf(waitingAnswer, { outcome: outcomes[request.status], approval: request }) as object
}

export function notifyWaiting({ status }: ApprovalRequest): Reply {
  if (status === 'waiting')
    return {
      text: 'Nothing was changed yet. This request waits for another operator’s approval.',
      page: '/approvals',
    }
  return {
    text: `This was requested before: the request ${status === 'expired' ? 'has expired' : `was ${status}`}, and ${status === 'approved' ? 'the action ran once' : 'nothing was changed'}. Reload the page to request it again.`,
    page: `/approvals?status=${status}`,
  }
}

const summaries = {
  approve: 'Approve a request and run its action',
  reject: 'Reject a request',
  withdraw: 'Withdraw your own request',
} as const satisfies Record<ApprovalDecision, string>

const flashMessages = {
  approve: 'Approved. The action was carried out.',
  reject: 'Rejected. Nothing was changed.',
  withdraw: 'Withdrawn. Nothing was changed.',
} as const satisfies Record<ApprovalDecision, string>

const forms = {
  approve: {
    label: 'Approve…',
    explains: ({ summary }: ApprovalRequest) =>
      `${summary}. The action runs at once, and every limit is checked again. If the action creates a secret, it is shown to you only once. Pass it to its recipient.`,
    button: 'Approve and run',
    needsConfirmation: true,
  },
  reject: {
    label: 'Reject…',
    explains: 'Nothing changes, and the request can no longer be approved.',
    button: 'Reject',
    isDangerous: true,
  },
  withdraw: {
    label: 'Withdraw…',
    explains: 'Nothing changes, and the request can no longer be approved.',
    button: 'Withdraw my request',
  },
} as const

/** Bookings of statement lines: many a day, and none creates a secret or gives access. */
export function mayApproveSelected(
  { action, params, status, requestedBy }: ApprovalRequest,
  login: string,
): boolean {
  const isOfLine = action.startsWith('reconcile.') && 'breakId' in { ...params }
  return isOfLine && status === 'waiting' && requestedBy !== login
}

/** A page of the list. */
const maxSelected = 50

export type FindAction = (name: string) => Action | undefined

/** `findAction` finds the actions that may wait, which the catalog lists beside these. */
export function makeApprovalActions(findAction: FindAction): readonly Action[] {
  return [
    defineAction({
      name: 'approval.list',
      command: false,
      scope: 'approvals:read',
      summary: 'List requests for a second operator’s approval, newest first',
      input: object('Which requests.', {
        status: optional(oneOf('Only requests with this status.', approvalStatuses)),
        before: optional(uuid('Only requests older than this one.')),
        limit,
      }),
      answer: object('A page.', {
        approvals: list('Newest first.', approval),
        older: optional(uuid(nextPage)),
      }),
      async run({ operations, input }) {
        await operations.approvals.countWaiting()
        return pageOf('approvals', input, {
          read: (at) => operations.approvals.listRequests({ status: input.status }, at),
          keyOf: ({ approvalId }) => approvalId,
        })
      },
    }),
    defineAction({
      name: 'approval.show',
      command: false,
      scope: 'approvals:read',
      summary: 'Show a request',
      params: key,
      answer: approval,
      run: ({ operations, params }) => operations.approvals.findRequest(params.approvalId),
    }),
    ...(['approve', 'reject', 'withdraw'] as const).map((decision) =>
      defineAction({
        name: `approval.${decision}`,
        command: false,
        scope: 'approvals:decide',
        summary: summaries[decision],
        params: key,
        input: object('The reason.', { reason }),
        answer: object('The request.', {
          ...approvalFields,
          result: optional(anyObject('The action’s result, if it was approved.')),
        }),
        form: form<ApprovalRequest>({
          ...forms[decision],
          place: 'approval',
          path: `/approvals/:approvalId/${decision}`,
          page: '/approvals',
          isOffered: ({ requestedBy }, { login }) => (requestedBy === login) === (decision === 'withdraw'),
        }),
        async run(call) {
          const { operations, params, input } = call
          const request = await operations.approvals.findRequest(params.approvalId)
          const action = findAction(request.action)
          if (decision !== 'approve')
            return operations.approvals[decision](request.approvalId, deciderOf(call, action), input.reason)
          const approved = await approveOne(call, request, { action, reason: input.reason })
          return { ...approved.request, result: approved.result as Record<string, unknown> }
        },
        reply: (answer) => {
          const action = findAction(answer.action)
          const { result } = answer
          // Safe, both: it is the action's own answer to its own parameters and input.
          const replied =
            action && result
              ? action.reply?.(result, { params: answer.params, input: answer.input })
              : undefined
          return { ...replied, text: replied ? `Approved. ${replied.text}` : flashMessages[decision] }
        },
      }),
    ),
    approveSelected(findAction),
  ]
}

function approveSelected(findAction: FindAction): Action {
  return defineAction({
    name: 'approval.approve-selected',
    // Each request keeps its own.
    effects: [],
    command: false,
    scope: 'approvals:decide',
    summary: 'Approve the selected bookings of statement lines',
    input: object('Which requests.', {
      approval: list('Request IDs.', uuid('A request of the list.'), { max: maxSelected }),
      reason,
    }),
    answer: object('The result.', {
      selected: count('Requests that were selected.'),
      approved: count('Requests that were approved.'),
    }),
    form: form<readonly ApprovalRequest[]>({
      place: 'approvals.selected',
      path: '/approvals/approve-selected',
      page: '/approvals',
      label: 'Approve selected…',
      explains:
        'Approves each booking that you selected. Each is carried out at once, and every limit is checked again.',
      button: 'Approve and run selected',
      fields: ['reason'],
      formId: 'approve-selected',
      isOffered: (requests) => requests.length > 0,
      needsConfirmation: true,
    }),
    async run(call) {
      const { operations, input } = call
      const ids = [...new Set(input.approval)]
      let approved = 0
      for (const approvalId of ids) {
        try {
          const request = await operations.approvals.findRequest(approvalId)
          if (!mayApproveSelected(request, call.operator?.login ?? '')) continue
          await approveOne(call, request, { action: findAction(request.action), reason: input.reason })
          approved++
        } catch (error) {
          if (!(error instanceof Failure)) throw error
        }
      }
      return { selected: ids.length, approved }
    },
    reply: ({ selected, approved }) => ({
      text: `${approved} of ${selected} requests approved.${approved < selected ? ' The others can no longer be approved, or must be approved individually. Open each to decide.' : ''}`,
      page: '/approvals',
    }),
  })
}

function approveOne(
  call: ActionCall,
  request: ApprovalRequest,
  { action, reason }: { readonly action: Action | undefined; readonly reason: string },
) {
  return call.operations.approvals.approve(request.approvalId, deciderOf(call, action), {
    reason,
    run: (waiting, { requester, approval }) => runWaiting(call, action, waiting, { requester, approval }),
  })
}

function deciderOf({ operator, context: { actor, authority } }: ActionCall, action: Action | undefined) {
  assert(operator && authority?.kind === 'operator', 'only a person decides')
  return { operator, actor, needs: action?.needs ?? 'admin', authority } as const
}

async function runWaiting(
  { operations, nowMs }: ActionCall,
  action: Action | undefined,
  { action: name, approvalId, params, input, requestedAs }: ApprovalRequest,
  { requester, approval: given }: Parameters<RunAction>[1],
): Promise<unknown> {
  if (!action || isFile(action.answer))
    throw new Failure('status_does_not_allow', {
      message: `This version has no action ${name}. Reject the request.`,
    })
  const authority = {
    kind: 'operator',
    login: requester.login,
    needs: action.needs,
    accessVersion: undefined,
    tokenId: undefined,
    policy: operations.approvalPolicy,
    approval: given,
  } as const
  const call = {
    operations,
    context: reachingAll({ actor: requestedAs, authority }),
    operator: requester,
    nowMs,
    params: action.params && params,
    input: action.input && input,
    idempotencyKey: action.isOnce ? approvalId : undefined,
  }
  return action.run(call).catch((error: unknown) => {
    if (!(error instanceof ApprovalNeeded)) throw error
    throw new Failure('status_does_not_allow', {
      message:
        'This request no longer covers everything that the action does. Reject the request and submit the action again.',
    })
  })
}

/** The details that an operator compares before approving. */
export function describeRequest(
  { action: name, params, input, summary }: ApprovalRequest,
  findAction: FindAction,
) {
  const action = findAction(name)
  return action
    ? { title: titleOf(action), fields: fieldsOf(action, { params, input }) }
    : { title: summary, fields: [] }
}
