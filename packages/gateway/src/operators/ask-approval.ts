// Asking for a second operator's approval: the one way in which an act becomes a request, whatever the act is about.
import { Failure, makeUuid } from '@tillgate/protocol'
import type { MakeNotices } from '../notices/make-notices.ts'
import { writtenTime } from '../notices/rules/notice.ts'
import { type ActParts, makeActs } from './audit-entries.ts'
import {
  type ApprovableAct,
  type ApprovalPolicy,
  type ApprovalRequest,
  asOf,
  describeAct,
  isSameAct,
  merchantIdOf,
} from './rules/approval.ts'
import type { Operator } from './rules/operator.ts'
import type { ApprovalStore } from './store/approvals.ts'

export interface AskApprovalParts extends ActParts {
  readonly approvals: ApprovalStore
  readonly policy: ApprovalPolicy
  readonly makeNotices: MakeNotices
  /** Undefined on the command line, which knows an account of the machine and no person: it cannot ask. */
  readonly operator: Pick<Operator, 'login'> | undefined
}

export type Outcome<Result> =
  /** `doneBeforeMs`: it was sent again, and nothing was done again. */
  { readonly kind: 'done'; readonly result: Result; readonly doneBeforeMs?: number } | Waiting

export interface Waiting {
  readonly kind: 'waiting'
  readonly request: ApprovalRequest
}

export function makeAskApproval(parts: AskApprovalParts) {
  const { approvals, policy, clock, random, actor, operator } = parts
  const entry = makeActs(parts)
  return async (
    act: ApprovableAct,
    { reason, actId }: { reason: string; actId?: string | undefined },
  ): Promise<Waiting> => {
    if (!operator)
      throw new Failure('not_allowed', {
        message:
          'This needs a second operator’s approval. Ask for it in the console or by the admin API, where it is known who asks.',
      })
    const nowMs = clock.now()
    const request: ApprovalRequest = {
      approvalId: actId ?? makeUuid(nowMs, random),
      act,
      reason,
      requestedBy: operator.login,
      requestedAs: actor,
      requestedAtMs: nowMs,
      expiresAtMs: nowMs + policy.lifeMs,
      status: 'waiting',
      decidedBy: undefined,
      decidedAs: undefined,
      decidedAtMs: undefined,
      decisionReason: undefined,
    }
    const isNew = await approvals.insertRequest(
      request,
      entry('approval.request', request.approvalId, {
        merchantId: merchantIdOf(act),
        reason: `${describeAct(act)}: ${reason}`,
        notices: parts.makeNotices('approval-waiting', {
          parameters: {
            act: describeAct(act),
            requestedBy: operator.login,
            reason,
            until: writtenTime(request.expiresAtMs),
          },
          giveUpAtMs: request.expiresAtMs,
        }),
      }),
    )
    return { kind: 'waiting', request: isNew ? request : await earlier(request) }
  }

  /** The same request, sent twice. */
  async function earlier({ approvalId, act, requestedBy }: ApprovalRequest): Promise<ApprovalRequest> {
    const found =
      act.kind === 'order.refund'
        ? await approvals.findByRefundNumber(act)
        : await approvals.findRequest(approvalId)
    if (found && isSameAct(found.act, act) && found.requestedBy === requestedBy)
      return asOf(found, clock.now())
    throw new Failure('number_already_used', {
      message: 'This number was already used for another request. Use a new one.',
    })
  }
}
