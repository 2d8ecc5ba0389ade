// An operator whom the identity provider vouches for: only whoever was declared here before, by the address at the first
// sign-in and by the provider's subject ever after. The role is what the provider's claim says now; less than before ends
// all access, as everything does that weakens an account.

import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { type Role, roles } from '../../core/audit/rules/roles.ts'
import { normaliseEmail } from '../../core/emails/rules/email.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { OpenIdClaims } from '../../platform/runtime/outside/openid.ts'
import type { Access } from '../accounts/rules/account.ts'
import type { OperatorIdentities } from './store/operator-identities.ts'

export type ProviderSignIn =
  | { readonly kind: 'right'; readonly access: Access }
  /** Nobody was declared, or it is disabled. */
  | { readonly kind: 'unknown' }
  /** The provider gives none of the roles that the settings name. */
  | { readonly kind: 'no_role' }

export interface SignInByProviderParts extends ClockAndRandom {
  readonly identities: OperatorIdentities
  /** By the claim's values; empty: roles stay as they were declared. */
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

/** The highest that any of the groups gives. */
function roleOf({ groups }: OpenIdClaims, rolesByGroup: ReadonlyMap<string, Role>): Role | undefined {
  const given = groups.map((group) => rolesByGroup.get(group))
  return roles.findLast((role) => given.includes(role))
}
