// Decides requests. Approving runs the action, whose transaction uses up the request. A second operator may reject it,
// and the requester may withdraw it.
import { Failure, makeUuid, uuidPattern } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { Actor } from '../../core/authority/context.ts'
import {
  type Approval,
  type ApprovalDecision,
  type ApprovalRequest,
  type ApprovalStatus,
  asOf,
  checkDecision,
  checkRequester,
  notWaiting,
} from '../../core/authority/rules/approval.ts'
import type { Authority } from '../../core/authority/rules/authority.ts'
import type { Role } from '../../core/authority/rules/roles.ts'
import type { Operator } from '../../identity/operators/rules/operator.ts'
import type { OperatorStore } from '../../identity/operators/store/operators.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import { type AskApprovalParts, type AskedAction, askApproval } from './ask-approval.ts'

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
export type RunAction = (
  request: ApprovalRequest,
  by: { readonly requester: Operator; readonly approval: Approval },
) => Promise<unknown>

export type DecideApprovals = ReturnType<typeof makeDecideApprovals>

export function makeDecideApprovals(parts: DecideApprovalsParts) {
  return {
    ...bindAll(parts, { ask, findRequest, findSent, countWaiting, approve, reject, withdraw }),
    listRequests: parts.approvals.listRequests,
  }
}

async function ask(parts: DecideApprovalsParts, asked: AskedAction): Promise<ApprovalRequest> {
  await countWaiting(parts)
  return askApproval(parts, asked)
}

/** Requests expire when they are read, because nothing needs them to expire earlier. */
async function countWaiting(parts: DecideApprovalsParts): Promise<number> {
  const nowMs = parts.clock.now()
  const { waiting, due } = await parts.approvals.countWaiting(nowMs)
  if (due > 0)
    await parts.approvals.expireDue(nowMs, (request) =>
      entryOf(parts, 'expire', request, { by: { actor: 'gateway' }, reason: request.summary }),
    )
  return waiting
}

async function findRequest(
  { approvals, clock }: DecideApprovalsParts,
  approvalId: string,
): Promise<ApprovalRequest> {
  const found = uuidPattern.test(approvalId) ? await approvals.findRequest(approvalId) : undefined
  if (!found) throw new Failure('not_found', { message: `There is no request ${approvalId}.` })
  return asOf(found, clock.now())
}

/** The request of an action with this id; undefined if none exists. */
async function findSent(
  { approvals, clock }: DecideApprovalsParts,
  idempotencyKey: string,
): Promise<ApprovalRequest | undefined> {
  const found = await approvals.findRequest(idempotencyKey)
  return found && asOf(found, clock.now())
}

/** Runs the action once, even if two operators approve at the same moment. */
async function approve(
  parts: DecideApprovalsParts,
  approvalId: string,
  by: Decider,
  { reason, run }: { readonly reason: string; readonly run: RunAction },
): Promise<{ readonly request: ApprovalRequest; readonly result: unknown }> {
  const request = await findRequest(parts, approvalId)
  const nowMs = parts.clock.now()
  checkDecision('approve', request, { by: by.operator, needs: by.needs, nowMs })
  const requester = await parts.operators.findOperator(request.requestedBy)
  checkRequester(request, requester, by.needs)
  const approval = {
    approvalId,
    auditId: makeUuid(nowMs, parts.random),
    decider: { ...by.authority, needs: by.needs },
    decidedAs: by.actor,
    decidedAtMs: nowMs,
    reason,
  }
  const result = await run(request, { requester, approval })
  const after = await findRequest(parts, approvalId)
  // The action no longer needed approval, for example after a change of settings.
  if (after.status === 'waiting')
    return { request: await close(parts, 'approve', approvalId, { by, reason }), result }
  if (after.decidedBy !== by.operator.login || after.status !== 'approved')
    throw notWaiting(after.status, after.decidedBy)
  return { request: after, result }
}

function reject(parts: DecideApprovalsParts, approvalId: string, by: Decider, reason: string) {
  return close(parts, 'reject', approvalId, { by, reason })
}

function withdraw(parts: DecideApprovalsParts, approvalId: string, by: Decider, reason: string) {
  return close(parts, 'withdraw', approvalId, { by, reason })
}

async function close(
  parts: DecideApprovalsParts,
  decision: ApprovalDecision,
  approvalId: string,
  { by, reason }: { readonly by: Decider; readonly reason: string },
): Promise<ApprovalRequest> {
  const request = await findRequest(parts, approvalId)
  const nowMs = parts.clock.now()
  checkDecision(decision, request, { by: by.operator, needs: by.needs, nowMs })
  const closing = {
    approvalId,
    status: statusAfter[decision],
    decidedBy: by.operator.login,
    decidedAs: by.actor,
    decidedAtMs: nowMs,
    reason,
  }
  const done = await parts.approvals.close(closing, entryOf(parts, decision, request, { by, reason }))
  const after = await findRequest(parts, approvalId)
  if (!done && after.status !== 'waiting') throw notWaiting(after.status, after.decidedBy)
  return after
}

function entryOf(
  parts: DecideApprovalsParts,
  name: ApprovalDecision | 'expire',
  { approvalId, merchantId }: ApprovalRequest,
  { by, reason }: { readonly by: Actor; readonly reason: string },
) {
  return makeAuditEntry(parts, by, `approval.${name}`, approvalId, { merchantId, reason })
}

const statusAfter = {
  approve: 'approved',
  reject: 'rejected',
  withdraw: 'withdrawn',
} as const satisfies Record<ApprovalDecision, ApprovalStatus>
