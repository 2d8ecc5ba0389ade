// Roles of operators and of merchants' members, and which role includes which.
import { Failure } from '@tillgate/protocol'

/** In ascending order. */
export const roles = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roles)[number]

export const roleMeanings = {
  viewer: 'read-only access',
  operator: 'can also cancel and refund orders, resend callbacks, pause hosts, and lock wallets',
  admin: 'can also manage merchants, keys, money, and operators',
} as const satisfies Record<Role, string>

export function mayAct(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** Every member can read everything of the merchant; roles differ in their actions. */
export const memberRoles = ['viewer', 'finance', 'developer', 'owner'] as const
export type MemberRole = (typeof memberRoles)[number]

export const memberRoleMeanings = {
  viewer: 'read-only access',
  finance: 'can also refund and cancel orders, create payment links, and stop a new bank account',
  developer: 'can also manage keys, callbacks, and the appearance of the checkout',
  owner: 'full access, including members',
} as const satisfies Record<MemberRole, string>

export function accessEnded(login: string): Failure {
  return new Failure('status_does_not_allow', {
    message: `${login} no longer has access, so nothing was changed. Sign in again.`,
  })
}
