// Stores an action as a request that waits for a second operator's approval.
import { createHash } from 'node:crypto'
import { Failure, makeUuid } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import {
  type ApprovalPolicy,
  type ApprovalRequest,
  asOf,
  type WaitingAction,
} from '../../core/authority/rules/approval.ts'
import type { Authority } from '../../core/authority/rules/authority.ts'
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import { writtenTime } from '../../core/emails/rules/email.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { ApprovalStore, NewRequest } from './store/approvals.ts'

export interface AskApprovalParts extends ClockAndRandom {
  readonly approvals: ApprovalStore
  readonly policy: ApprovalPolicy
  readonly makeEmails: MakeEmails
}

export interface AskedAction extends WaitingAction {
  readonly summary: string
  readonly merchantId: string | undefined
  readonly reason: string
  readonly requestedBy: string
  readonly requestedAs: string
  /** Checked again in the transaction that stores the request. */
  readonly authority: Authority | undefined
  /** The action's idempotency key; the request has the same id. */
  readonly idempotencyKey: string | undefined
}

/** A repeat of a request is the same request. */
export async function askApproval(
  parts: AskApprovalParts,
  { idempotencyKey, authority, ...asked }: AskedAction,
): Promise<ApprovalRequest> {
  const nowMs = parts.clock.now()
  const { action, params, input } = asked
  const request: NewRequest = {
    ...asked,
    approvalId: idempotencyKey ?? makeUuid(nowMs, parts.random),
    requestedAtMs: nowMs,
    expiresAtMs: nowMs + parts.policy.lifeMs,
    status: 'waiting',
    decidedBy: undefined,
    decidedAs: undefined,
    decidedAtMs: undefined,
    decisionReason: undefined,
    contentHash: idempotencyKey === undefined ? hashOf([action, params, input]) : undefined,
  }
  const { merchantId, summary, reason, requestedBy, requestedAs } = request
  const emails = parts.makeEmails('approval-waiting', {
    parameters: { act: summary, requestedBy, reason, until: writtenTime(request.expiresAtMs) },
    giveUpAtMs: request.expiresAtMs,
  })
  const entry = makeAuditEntry(
    parts,
    { actor: requestedAs, authority },
    'approval.request',
    request.approvalId,
    { merchantId, reason: `${summary}: ${reason}`, emails },
  )
  return (await parts.approvals.insertRequest(request, entry)) ? request : earlier(parts, request)
}

async function earlier(
  { approvals, clock }: AskApprovalParts,
  request: NewRequest,
): Promise<ApprovalRequest> {
  const found =
    (await approvals.findRequest(request.approvalId)) ?? (await approvals.findSameWaiting(request))
  // An id has one content, which the adapters enforce for idempotency keys.
  if (found?.action === request.action && found.requestedBy === request.requestedBy)
    return asOf(found, clock.now())
  throw new Failure('number_already_used', {
    message: 'This idempotency key was already used for another request. Use a new one.',
  })
}

function hashOf(content: readonly unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(content)).digest()
}
