// Signs in a member through the identity provider, by its subject once bound. An account is created only for a holder
// of an invitation to an address that the provider has verified.

import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { normaliseEmail } from '../../core/emails/rules/email.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { OpenIdClaims } from '../../platform/runtime/outside/openid.ts'
import type { Access } from '../accounts/rules/account.ts'
import type { OpenInvitation } from './open-links.ts'
import type { MemberIdentities } from './store/member-identities.ts'

export type SignInMemberByProvider = ReturnType<typeof makeSignInMemberByProvider>

export function makeSignInMemberByProvider(
  parts: ClockAndRandom & { readonly identities: MemberIdentities },
) {
  const { identities, clock, random } = parts
  /** Undefined if the subject is unknown, or the account is disabled or uses a password. */
  return async (
    { issuer, subject, email }: OpenIdClaims,
    {
      invitation,
      actorOf,
    }: { readonly invitation: OpenInvitation | undefined; readonly actorOf: (login: string) => string },
  ): Promise<Access | undefined> => {
    const identity = `${issuer} ${subject}`
    const found = await identities.findAccess(identity)
    if (found || !invitation || email === undefined || normaliseEmail(email) !== invitation.login)
      return found
    const { login, linkId } = invitation
    const entry = makeAuditEntry({ clock, random }, { actor: actorOf(login) }, 'member.bind-identity', login)
    const made = await identities.insertAccount({ login, linkId, identity, nowMs: clock.now() }, entry)
    return made ? identities.findAccess(identity) : undefined
  }
}
