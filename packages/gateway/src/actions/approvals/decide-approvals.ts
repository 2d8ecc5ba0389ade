// Decides requests. Approving runs the action, whose transaction uses up the request. A second operator may reject it,
// and the requester may withdraw it.
import { Failure, makeUuid, uuidPattern } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { Actor } from '../../core/audit/context.ts'
import {
  type Approval,
  type ApprovalRequest,
  type ApprovalStatus,
  asOf,
  checkDecision,
  checkRequester,
  type Decision,
  notWaiting,
} from '../../core/audit/rules/approval.ts'
import type { Authority } from '../../core/audit/rules/authority.ts'
import type { Role } from '../../core/audit/rules/roles.ts'
import type { Operator } from '../../identity/operators/rules/operator.ts'
import type { OperatorStore } from '../../identity/operators/store/operators.ts'
import { type AskApprovalParts, type AskedAction, makeAskApproval } from './ask-approval.ts'

export interface DecideApprovalsParts extends AskApprovalParts {
  readonly operators: Pick<OperatorStore, 'findOperator'>
}

/** The person who decides, where from, and the role that the action needs. */
export interface Decider {
  readonly operator: Pick<Operator, 'login' | 'role'>
  readonly actor: string
  readonly needs: Role
  /** Checked again in the transaction of the decision. */
  readonly authority: Extract<Authority, { kind: 'operator' }>
}

/** Runs the action of a request in the requester's name. */
export type RunAction<Result> = (
  request: ApprovalRequest,
  by: { readonly requester: Operator; readonly approval: Approval },
) => Promise<Result>

export type DecideApprovals = ReturnType<typeof makeDecideApprovals>

export function makeDecideApprovals(parts: DecideApprovalsParts) {
  const { approvals, operators, clock, random } = parts

  const find = async (approvalId: string): Promise<ApprovalRequest> => {
    const found = uuidPattern.test(approvalId) ? await approvals.findRequest(approvalId) : undefined
    if (!found) throw new Failure('not_found', { message: `There is no request ${approvalId}.` })
    return asOf(found, clock.now())
  }

  const entry = (name: Decision | 'expire', request: ApprovalRequest, by: Actor, reason: string) =>
    makeAuditEntry({ clock, random }, by, `approval.${name}`, request.approvalId, {
      merchantId: request.merchantId,
      reason,
    })

  const close = async (
    decision: Decision,
    approvalId: string,
    by: Decider,
    reason: string,
  ): Promise<ApprovalRequest> => {
    const request = await find(approvalId)
    const nowMs = clock.now()
    checkDecision(decision, request, { by: by.operator, needs: by.needs, nowMs })
    const closing = {
      approvalId,
      status: statusAfter[decision],
      decidedBy: by.operator.login,
      decidedAs: by.actor,
      decidedAtMs: nowMs,
      reason,
    }
    const done = await approvals.close(closing, entry(decision, request, by, reason))
    const after = await find(approvalId)
    if (!done && after.status !== 'waiting') throw notWaiting(after.status, after.decidedBy)
    return after
  }

  const ask = makeAskApproval(parts)

  /** Requests expire when they are read, because nothing needs them to expire earlier. */
  const countWaiting = async (): Promise<number> => {
    const nowMs = clock.now()
    const { waiting, due } = await approvals.countWaiting(nowMs)
    if (due > 0)
      await approvals.expireDue(nowMs, (request) =>
        entry('expire', request, { actor: 'gateway' }, request.summary),
      )
    return waiting
  }

  return {
    async ask(asked: AskedAction): Promise<ApprovalRequest> {
      await countWaiting()
      return ask(asked)
    },

    findRequest: find,

    /** The request of an action with this id; undefined if none exists. */
    async findSent(actId: string): Promise<ApprovalRequest | undefined> {
      const found = await approvals.findRequest(actId)
      return found && asOf(found, clock.now())
    },

    listRequests: (
      filter: { status?: ApprovalStatus | undefined },
      page: { before?: string | undefined; limit: number },
    ) => approvals.listRequests(filter, page),

    countWaiting,

    /** Runs the action once, even if two operators approve at the same moment. */
    async approve<Result>(
      approvalId: string,
      by: Decider,
      { reason, run }: { readonly reason: string; readonly run: RunAction<Result> },
    ): Promise<{ readonly request: ApprovalRequest; readonly result: Result }> {
      const request = await find(approvalId)
      const nowMs = clock.now()
      checkDecision('approve', request, { by: by.operator, needs: by.needs, nowMs })
      const requester = await operators.findOperator(request.requestedBy)
      checkRequester(request, requester, by.needs)
      const approval = {
        approvalId,
        auditId: makeUuid(nowMs, random),
        decider: { ...by.authority, needs: by.needs },
        decidedAs: by.actor,
        decidedAtMs: nowMs,
        reason,
      }
      const result = await run(request, { requester, approval })
      const after = await find(approvalId)
      // The action no longer needed approval, for example after a change of settings.
      if (after.status === 'waiting')
        return { request: await close('approve', approvalId, by, reason), result }
      if (after.decidedBy !== by.operator.login || after.status !== 'approved')
        throw notWaiting(after.status, after.decidedBy)
      return { request: after, result }
    },

    reject: (approvalId: string, by: Decider, reason: string) => close('reject', approvalId, by, reason),
    withdraw: (approvalId: string, by: Decider, reason: string) => close('withdraw', approvalId, by, reason),
  }
}

const statusAfter = {
  approve: 'approved',
  reject: 'rejected',
  withdraw: 'withdrawn',
} as const satisfies Record<Decision, ApprovalStatus>
