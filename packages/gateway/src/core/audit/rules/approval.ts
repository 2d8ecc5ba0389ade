// Actions that wait for a second operator: which effects need one, who may decide, and until when. A request stores the
// action's name, parameters and input; when it is approved, the action runs again under fresh checks.
import { Failure } from '@tillgate/protocol'
import { type ApprovalWord, alwaysGuarded, type Effect, effects } from './effects.ts'
import { mayAct, type Role } from './roles.ts'

export const approvalStatuses = ['waiting', 'approved', 'rejected', 'withdrawn', 'expired'] as const
export type ApprovalStatus = (typeof approvalStatuses)[number]

/** An action as it was asked for, in the terms of the catalog. */
export interface WaitingAction {
  readonly action: string
  readonly params: Readonly<Record<string, unknown>>
  readonly input: Readonly<Record<string, unknown>>
}

export interface ApprovalRequest extends WaitingAction {
  readonly approvalId: string
  /** In words, as of the request. */
  readonly summary: string
  readonly merchantId: string | undefined
  readonly reason: string
  /** The operator's login. */
  readonly requestedBy: string
  /** Who and from where, as in the audit. */
  readonly requestedAs: string
  readonly requestedAtMs: number
  readonly expiresAtMs: number
  readonly status: ApprovalStatus
  readonly decidedBy: string | undefined
  readonly decidedAs: string | undefined
  readonly decidedAtMs: number | undefined
  readonly decisionReason: string | undefined
}

/** By what a person acts, as it was when they began: it is read again in the transaction of what they do. */
export interface Access {
  readonly login: string
  readonly needs: Role
  /** As of sign-in: raised when all access is ended. Undefined where a second operator runs what was requested. */
  readonly accessVersion: number | undefined
  /** Of the admin API alone. */
  readonly tokenId: string | undefined
}

/** The second operator's consent. It travels with the action that it allows and is recorded in its transaction. */
export interface Approval {
  readonly approvalId: string
  readonly auditId: string
  readonly decider: Access
  readonly decidedAs: string
  readonly decidedAtMs: number
  readonly reason: string
}

export interface ApprovalPolicy {
  /** How much of an order operators may refund in all without approval, by currency; undefined: not set. */
  readonly refundLimits: ReadonlyMap<string, bigint> | undefined
  readonly words: readonly ApprovalWord[]
  readonly lifeMs: number
}

export function coversAny(policy: ApprovalPolicy, all: readonly Effect[]): boolean {
  return (
    all.some((effect) => policy.words.includes(effects[effect])) ||
    (all.includes(alwaysGuarded) && isApprovalInUse(policy))
  )
}

/**
 * Undefined: any amount. Where money out needs approval, so does every refund, up to the limits that the settings allow;
 * a currency that they do not name has no allowance.
 */
export function refundLimitMinor(policy: ApprovalPolicy, currency: string): bigint | undefined {
  if (policy.refundLimits) return policy.refundLimits.get(currency) ?? 0n
  return policy.words.includes('money-out') ? 0n : undefined
}

export function isApprovalInUse({ refundLimits, words }: ApprovalPolicy): boolean {
  return refundLimits !== undefined || words.length > 0
}

/** As of now: a request that was not decided in time has expired, even if its row does not say so yet. */
export function asOf(request: ApprovalRequest, nowMs: number): ApprovalRequest {
  const isDue = request.status === 'waiting' && request.expiresAtMs <= nowMs
  return isDue ? { ...request, status: 'expired' } : request
}

export type Decision = 'approve' | 'reject' | 'withdraw'

interface ActingOperator {
  readonly login: string
  readonly role: Role
}

interface Requester extends ActingOperator {
  readonly status: 'active' | 'disabled'
}

interface Deciding {
  readonly by: ActingOperator
  /** The role that the action needs: an operator who may run it may approve it. */
  readonly needs: Role
  readonly nowMs: number
}

/** Throws where this operator may not decide so, now. */
export function checkDecision(
  decision: Decision,
  request: ApprovalRequest,
  { by, needs, nowMs }: Deciding,
): void {
  const { status, decidedBy } = asOf(request, nowMs)
  if (status !== 'waiting') throw notWaiting(status, decidedBy)
  if (!mayAct(by.role, needs))
    throw new Failure('not_allowed', { message: `This needs the role ${needs}; yours is ${by.role}.` })
  const isOwn = by.login === request.requestedBy
  if (isOwn && decision !== 'withdraw')
    throw new Failure('not_allowed', {
      message: 'This is your own request: another operator must decide. You can withdraw it.',
    })
  if (!isOwn && decision === 'withdraw')
    throw new Failure('not_allowed', {
      message: 'Only the requester can withdraw this request. You can reject it.',
    })
}

/** Throws where the requester could not ask any more. */
export function checkRequester(
  { requestedBy }: ApprovalRequest,
  requester: Requester | undefined,
  needs: Role,
): asserts requester is Requester {
  const refuse = (why: string) =>
    new Failure('status_does_not_allow', {
      message: `${why}. Reject this request; another operator can make it.`,
    })
  if (requester?.status !== 'active') throw refuse(`The requester, ${requestedBy}, is disabled`)
  if (!mayAct(requester.role, needs))
    throw refuse(`This needs the role ${needs}; the requester, ${requestedBy}, is ${requester.role} now`)
}

export function notWaiting(
  status: Exclude<ApprovalStatus, 'waiting'> | 'decided',
  decidedBy?: string,
): Failure {
  const by = decidedBy === undefined ? '' : ` by ${decidedBy}`
  return new Failure('status_does_not_allow', {
    message: `This request is no longer waiting: it ${status === 'expired' ? 'has expired' : `was ${status}${by}`}.`,
  })
}
