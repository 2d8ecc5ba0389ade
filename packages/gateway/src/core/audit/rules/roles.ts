// Roles of operators and of a merchant's members: what each may do, and which role covers which.
import { Failure } from '@tillgate/protocol'

/** From the one who may least to the one who may most. */
export const roles = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roles)[number]

export const roleMeanings = {
  viewer: 'sees everything, changes nothing',
  operator: 'also cancels, refunds, sends callbacks again, pauses hosts and locks wallets',
  admin: 'also manages merchants, keys, money and operators',
} as const satisfies Record<Role, string>

export function mayAct(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** Everybody sees everything of their merchant; the roles differ in what they may do. */
export const memberRoles = ['viewer', 'finance', 'developer', 'owner'] as const
export type MemberRole = (typeof memberRoles)[number]

export const memberRoleMeanings = {
  viewer: 'sees everything, changes nothing',
  finance: 'also refunds and cancels orders, makes payment links, stops a new bank account',
  developer: 'also manages keys, callbacks and the look of the checkout',
  owner: 'does all of this, and manages members',
} as const satisfies Record<MemberRole, string>

export function accessEnded(login: string): Failure {
  return new Failure('status_does_not_allow', {
    message: `The access of ${login} was ended meanwhile, so nothing was done. Sign in again.`,
  })
}
