// A merchant's people: who they are, what each role may do, and how long a link to them lives.
/** Everybody sees everything of their merchant; the roles differ in what they may do. */
export const memberRoles = ['viewer', 'finance', 'developer', 'owner'] as const
export type MemberRole = (typeof memberRoles)[number]

export const memberRoleMeanings = {
  viewer: 'sees everything, changes nothing',
  finance: 'also refunds and cancels orders, makes payment links, stops a new bank account',
  developer: 'also manages keys, callbacks and the look of the checkout',
  owner: 'does all of this, and manages members',
} as const satisfies Record<MemberRole, string>

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
