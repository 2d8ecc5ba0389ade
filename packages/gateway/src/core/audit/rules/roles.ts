// Roles of operators and of merchants' members, and which role includes which.
import { Failure } from '@tillgate/protocol'

/** In ascending order. */
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

/** Every member can read everything of the merchant; roles differ in their actions. */
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
