// A merchant's people: who they are, and how long a link to them lives.
import type { MemberRole } from '../../../core/audit/rules/roles.ts'

export interface Member {
  readonly merchantId: string
  /** An e-mail address in lower case. */
  readonly login: string
  readonly role: MemberRole
  readonly createdAtMs: number
}

/** A merchant that somebody is a member of. */
export interface Membership extends Member {
  readonly merchantName: string
}

export interface ListedMember extends Member {
  readonly hasSecondStep: boolean
}

export type LinkKind = 'invitation' | 'recovery'

export interface MemberLink {
  readonly linkId: string
  readonly kind: LinkKind
  readonly login: string
  /** Of an invitation. */
  readonly merchantId: string | undefined
  readonly role: MemberRole | undefined
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly usedAtMs: number | undefined
}

const hourMs = 60 * 60 * 1000
export const linkLifeMs = { invitation: 72 * hourMs, recovery: 24 * hourMs } as const satisfies Record<
  LinkKind,
  number
>
/** Whoever forgot the password is sent one link in so long a time. */
export const recoveryEveryMs = 5 * 60_000
/** Members and open invitations of one merchant together. */
export const maxMembers = 100
/** Of one merchant, also those that were withdrawn: somebody who never asked for it may get the mail. */
export const invitationLimit = { most: 2 * maxMembers, withinMs: 24 * hourMs } as const

/** Whose access a link depends on, by the actor that made it; undefined: the gateway, or an account of the machine. */
export function makerOf(
  actor: string,
): { readonly kind: 'member' | 'operator'; readonly login: string } | undefined {
  const [, member] = /^member:(.+)@[^@]*$/.exec(actor) ?? []
  if (member !== undefined) return { kind: 'member', login: member }
  const [, operator] = /^(?:console:([^@/]+)@|api:([^@/]+)\/)/.exec(actor)?.filter(Boolean) ?? []
  return operator === undefined ? undefined : { kind: 'operator', login: operator }
}
