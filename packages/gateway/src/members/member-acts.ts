// The one way by which operators say who acts for a merchant in its portal: at once, or as a request where that wants a
// second operator. A merchant's own owners come through here too, and ask nobody.
import { Failure } from '@tillgate/protocol'
import type { SecondStep } from '../accounts/second-step.ts'
import { type AskApprovalParts, makeAskApproval, type Outcome } from '../operators/ask-approval.ts'
import type { Invited, MadeLink, ManageMembers } from './manage-members.ts'
import type { MemberRole } from './rules/member.ts'

export interface MemberActsParts extends AskApprovalParts {
  readonly members: ManageMembers
  readonly memberSecondStep: Pick<SecondStep, 'reset'>
}

interface MemberKey {
  readonly merchantId: string
  readonly login: string
}

export type MemberActs = ReturnType<typeof makeMemberActs>

export function makeMemberActs(parts: MemberActsParts) {
  const { members, memberSecondStep, policy, actor, operator } = parts
  const ask = makeAskApproval(parts)

  /** Whoever acts alone need not say why; whoever asks another does. */
  const demandReason = (reason: string | undefined): string => {
    if (reason === undefined && operator)
      throw new Failure('invalid_field', {
        field: 'reason',
        message: 'reason is missing: a second operator decides about this.',
      })
    return reason ?? ''
  }

  return {
    async invite({ reason, ...invited }: Invited & { readonly reason?: string }): Promise<Outcome<MadeLink>> {
      const kind = 'member.invite'
      if (!policy.kinds.includes(kind))
        return { kind: 'done', result: await members.inviteMember(invited, { reason }) }
      const { merchantId, role } = invited
      const login = await members.checkInvitation(invited)
      return ask({ kind, merchantId, login, role }, { reason: demandReason(reason) })
    },

    async changeRole({
      reason,
      ...change
    }: MemberKey & { readonly role: MemberRole; readonly reason?: string }): Promise<Outcome<void>> {
      const kind = 'member.change-role'
      if (!policy.kinds.includes(kind))
        return { kind: 'done', result: await members.changeRole(change, { reason }) }
      const { merchantId, role } = change
      const login = await members.demandMember(change)
      return ask({ kind, merchantId, login, role }, { reason: demandReason(reason) })
    },

    async recover(key: MemberKey, reason: string): Promise<Outcome<MadeLink>> {
      const kind = 'member.recover'
      if (!policy.kinds.includes(kind))
        return { kind: 'done', result: await members.recoverAccount(key, reason) }
      const login = await members.checkRecovery(key)
      return ask({ kind, merchantId: key.merchantId, login }, { reason })
    },

    async resetSecondStep(key: MemberKey, reason: string): Promise<Outcome<void>> {
      const kind = 'member.reset-totp'
      const login = await members.demandMember(key)
      if (!policy.kinds.includes(kind))
        return { kind: 'done', result: await memberSecondStep.reset(login, { actor, reason }) }
      return ask({ kind, merchantId: key.merchantId, login }, { reason })
    },
  }
}
