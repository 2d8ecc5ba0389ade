// The authority under which an action runs. The store checks it again in the transaction of the change, so a person
// whose access ended or who needs a second operator commits nothing.
import { Failure } from '@tillgate/protocol'
import { type ActorAccess, type Approval, type ApprovalPolicy, coversAny } from './approval.ts'
import type { Effect } from './effects.ts'
import type { MemberRole } from './roles.ts'

export type Authority =
  | (ActorAccess & {
      readonly kind: 'operator'
      readonly policy: ApprovalPolicy
      /** The approval permits one guarded change. */
      readonly approval: Approval | undefined
    })
  | {
      readonly kind: 'member'
      readonly login: string
      readonly merchantId: string
      readonly roles: readonly MemberRole[]
      readonly policy: ApprovalPolicy
    }
  /** The command line: a machine account that cannot request approvals. */
  | { readonly kind: 'machine'; readonly policy: ApprovalPolicy; readonly isRecovery: boolean }
  /** Processing of imported statements: one person supplied them, so changes that need two people are not booked. */
  | { readonly kind: 'statement'; readonly policy: ApprovalPolicy }

/** A second operator must approve first. Every earlier check has passed, and the change was rolled back. */
export class ApprovalNeeded extends Failure {
  constructor(message = 'This needs a second operator’s approval.') {
    super('not_allowed', { message })
  }
}

export function needsApproval(authority: Authority | undefined, effects: readonly Effect[]): boolean {
  if (!authority) return false
  switch (authority.kind) {
    case 'member':
      // A merchant's members decide about their own money and people, except for payout destinations.
      return effects.includes('names where money goes') && coversAny(authority.policy, effects)
    case 'machine':
      return !authority.isRecovery && coversAny(authority.policy, effects)
    default:
      return coversAny(authority.policy, effects)
  }
}

export function approvalNeeded(authority: Authority): Failure {
  switch (authority.kind) {
    case 'operator':
      return new ApprovalNeeded()
    case 'member':
      return new Failure('not_allowed', {
        message:
          'The operator of this gateway confirms such changes with a second person. Contact the operator.',
      })
    case 'machine':
      return new Failure('not_allowed', {
        message:
          'This needs a second operator’s approval. Request it in the console or through the admin API, which identify the requester.',
      })
    case 'statement':
      return new Failure('not_allowed', {
        message: 'A statement line cannot book this without a second operator. Resolve its break.',
      })
  }
}
