// Actions that wait for a second operator: which effects need one, who may decide, and until when. A request stores
// the action's name, parameters and input; on approval the action runs again under fresh checks.
import { Failure } from '@tillgate/protocol'
import { type ApprovalWord, alwaysGuarded, type Effect, effects } from './effects.ts'
import { mayAct, type Role } from './roles.ts'

export const approvalStatuses = ['waiting', 'approved', 'rejected', 'withdrawn', 'expired'] as const
export type ApprovalStatus = (typeof approvalStatuses)[number]

export interface WaitingAction {
  readonly action: string
  readonly params: Readonly<Record<string, unknown>>
  readonly input: Readonly<Record<string, unknown>>
}

export interface ApprovalRequest extends WaitingAction {
  readonly approvalId: string
  /** As shown when it was requested. */
  readonly summary: string
  readonly merchantId: string | undefined
  readonly reason: string
  readonly requestedBy: string
  /** As in the audit log. */
  readonly requestedAs: string
  readonly requestedAtMs: number
  readonly expiresAtMs: number
  readonly status: ApprovalStatus
  readonly decidedBy: string | undefined
  readonly decidedAs: string | undefined
  readonly decidedAtMs: number | undefined
  readonly decisionReason: string | undefined
}

/** A person's access when they started, checked again in each transaction. */
export interface ActorAccess {
  readonly login: string
  readonly needs: Role
  /** The version at sign-in; revoking all access increments it. Undefined if an approved request runs. */
  readonly accessVersion: number | undefined
  /** Only for the admin API. */
  readonly tokenId: string | undefined
}

/** The second operator's approval, recorded in the action's transaction. */
export interface Approval {
  readonly approvalId: string
  readonly auditId: string
  readonly decider: ActorAccess
  readonly decidedAs: string
  readonly decidedAtMs: number
  readonly reason: string
}

export interface ApprovalPolicy {
  /** The total that operators may refund per order without approval, by currency; undefined if not set. */
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
 * The amount that may be refunded without approval; undefined if there is no limit. If outgoing money needs approval,
 * so does every refund above the configured limits; a currency without a limit has no allowance.
 */
export function refundLimitMinor(policy: ApprovalPolicy, currency: string): bigint | undefined {
  if (policy.refundLimits) return policy.refundLimits.get(currency) ?? 0n
  return policy.words.includes('money-out') ? 0n : undefined
}

export function isApprovalInUse({ refundLimits, words }: ApprovalPolicy): boolean {
  return refundLimits !== undefined || words.length > 0
}

/** A request past its time has expired, even if its row does not say so yet. */
export function asOf(request: ApprovalRequest, nowMs: number): ApprovalRequest {
  const isDue = request.status === 'waiting' && request.expiresAtMs <= nowMs
  return isDue ? { ...request, status: 'expired' } : request
}

export type ApprovalDecision = 'approve' | 'reject' | 'withdraw'

interface ActingOperator {
  readonly login: string
  readonly role: Role
}

interface Requester extends ActingOperator {
  readonly status: 'active' | 'disabled'
}

interface Deciding {
  readonly by: ActingOperator
  /** An operator who may run the action may also approve it. */
  readonly needs: Role
  readonly nowMs: number
}

export function checkDecision(
  decision: ApprovalDecision,
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

export function checkRequester(
  { requestedBy }: ApprovalRequest,
  requester: Requester | undefined,
  needs: Role,
): asserts requester is Requester {
  const refuse = (why: string) =>
    new Failure('status_does_not_allow', {
      message: `${why}. Reject this request; another operator can submit it again.`,
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
