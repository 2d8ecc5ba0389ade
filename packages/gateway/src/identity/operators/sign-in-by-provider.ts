// Signs in an operator through the identity provider. The operator must be declared here first: the first sign-in
// matches the address, later ones the provider's subject. The role follows the provider's claim, and a lower role ends
// all access, like every other weakening of an account.

import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { type Role, roles } from '../../core/authority/rules/roles.ts'
import { normaliseEmail } from '../../core/emails/rules/email.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { OpenIdClaims } from '../../platform/runtime/outside/openid.ts'
import type { Access } from '../accounts/rules/account.ts'
import type { OperatorIdentities } from './store/operator-identities.ts'

export type ProviderSignIn =
  | { readonly kind: 'right'; readonly access: Access }
  /** No operator was declared, or the account is disabled. */
  | { readonly kind: 'unknown' }
  /** The provider's groups map to no role in the settings. */
  | { readonly kind: 'no_role' }

export interface SignInByProviderParts extends ClockAndRandom {
  readonly identities: OperatorIdentities
  /** Roles by group; if empty, roles stay as declared. */
  readonly rolesByGroup: ReadonlyMap<string, Role>
}

export type SignInByProvider = ReturnType<typeof makeSignInByProvider>

export function makeSignInByProvider({ identities, rolesByGroup, clock, random }: SignInByProviderParts) {
  return async (claims: OpenIdClaims, actorOf: (login: string) => string): Promise<ProviderSignIn> => {
    const { issuer, subject, email } = claims
    const role = rolesByGroup.size === 0 ? 'as declared' : roleOf(claims, rolesByGroup)
    const found = await identities.signIn({
      identity: `${issuer} ${subject}`,
      email: email === undefined ? undefined : normaliseEmail(email),
      role,
      nowMs: clock.now(),
      entryFor: (login, entry, reason) =>
        makeAuditEntry({ clock, random }, { actor: actorOf(login) }, entry, login, { reason }),
    })
    if (!found) return { kind: 'unknown' }
    return role === undefined ? { kind: 'no_role' } : { kind: 'right', access: found }
  }
}

/** The highest role of any group. */
function roleOf({ groups }: OpenIdClaims, rolesByGroup: ReadonlyMap<string, Role>): Role | undefined {
  const given = groups.map((group) => rolesByGroup.get(group))
  return roles.findLast((role) => given.includes(role))
}
