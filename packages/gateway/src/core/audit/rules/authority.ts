// By whose right an action runs. It travels with the audit entry, and the store checks it again in the transaction of
// the change: a person whose access ended meanwhile, or who needs a second person, commits nothing.
import { Failure } from '@tillgate/protocol'
import { type Access, type Approval, type ApprovalPolicy, coversAny } from './approval.ts'
import type { Effect } from './effects.ts'
import type { MemberRole } from './roles.ts'

export type Authority =
  | (Access & {
      readonly kind: 'operator'
      readonly policy: ApprovalPolicy
      /** Where a second operator agreed. It lets one guarded change through. */
      readonly approval: Approval | undefined
    })
  | {
      readonly kind: 'member'
      readonly login: string
      readonly merchantId: string
      readonly roles: readonly MemberRole[]
      readonly policy: ApprovalPolicy
    }
  /** The command line: an account of the machine, and no person who could ask. */
  | { readonly kind: 'machine'; readonly policy: ApprovalPolicy; readonly isRecovery: boolean }
  /** A pass over imported statements: one person supplied them, so nothing that needs two is booked. */
  | { readonly kind: 'statement'; readonly policy: ApprovalPolicy }

/** A second operator must agree first. The change was rolled back; every check before it has passed. */
export class ApprovalNeeded extends Failure {
  constructor(message = 'This needs a second operator’s approval.') {
    super('not_allowed', { message })
  }
}

export function needsApproval(authority: Authority | undefined, effects: readonly Effect[]): boolean {
  if (!authority) return false
  switch (authority.kind) {
    case 'member':
      // What a merchant's members do with its own money and people is theirs to decide, except where payouts go.
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
