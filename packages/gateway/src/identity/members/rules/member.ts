// A merchant's members, and the lifetime of their links.
import type { MemberRole } from '../../../core/authority/rules/roles.ts'

export interface Member {
  readonly merchantId: string
  /** An email address in lower case. */
  readonly login: string
  readonly role: MemberRole
  readonly createdAtMs: number
}

/** A merchant of which the login is a member. */
export interface Membership extends Member {
  readonly merchantName: string
}

export interface ListedMember extends Member {
  readonly name: string | undefined
  /** False if the member signs in with an identity provider. */
  readonly hasPassword: boolean
  readonly hasSecondStep: boolean
}

export type LinkKind = 'invitation' | 'recovery'

export interface MemberLink {
  readonly linkId: string
  readonly kind: LinkKind
  readonly login: string
  /** The person's name, if the inviter gave it. */
  readonly name: string | undefined
  /** Only for an invitation. */
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
/** The minimum time between two password links for one address. */
export const recoveryEveryMs = 5 * 60_000
/** Members and open invitations of one merchant together. */
export const maxMembers = 100
/** Counts all invitations of a merchant, including withdrawn ones, because each may be an unwanted email. */
export const invitationLimit = { most: 2 * maxMembers, withinMs: 24 * hourMs } as const

/**
 * The account whose access a link depends on, from the actor that made the link; undefined for the gateway and for
 * accounts of the machine.
 */
export function makerOf(
  actor: string,
): { readonly kind: 'member' | 'operator'; readonly login: string } | undefined {
  const [, member] = /^member:(.+)@[^@]*$/.exec(actor) ?? []
  if (member !== undefined) return { kind: 'member', login: member }
  const [, operator] = /^(?:console:([^@/]+)@|api:([^@/]+)\/)/.exec(actor)?.filter(Boolean) ?? []
  return operator === undefined ? undefined : { kind: 'operator', login: operator }
}
