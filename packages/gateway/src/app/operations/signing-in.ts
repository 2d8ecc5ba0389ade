// How operators and members of merchants sign in and confirm.

import { normaliseEmail } from '../../core/emails/rules/email.ts'
import { makeAuthenticate } from '../../identity/accounts/authenticate.ts'
import { makeChangeName } from '../../identity/accounts/change-name.ts'
import { type ChangePasswordParts, makeChangePassword } from '../../identity/accounts/change-password.ts'
import { makePasskeys } from '../../identity/accounts/passkeys.ts'
import type { Account, AccountKind } from '../../identity/accounts/rules/account.ts'
import { makeSecondStep } from '../../identity/accounts/second-step.ts'
import { makeSessions } from '../../identity/accounts/sessions.ts'
import type { AccountSessionStore } from '../../identity/accounts/store/account-sessions.ts'
import type { AccountTotpStore } from '../../identity/accounts/store/account-totp.ts'
import type { AccountTriesStore } from '../../identity/accounts/store/account-tries.ts'
import { makeOpenLinks } from '../../identity/members/open-links.ts'
import { makeSignInMemberByProvider } from '../../identity/members/sign-in-by-provider.ts'
import { makeIdempotencyKeyOf } from '../../identity/operators/idempotency-keys.ts'
import { makeManageTokens } from '../../identity/operators/manage-api-tokens.ts'
import { normaliseOperatorLogin } from '../../identity/operators/rules/operator.ts'
import { makeSignInByProvider } from '../../identity/operators/sign-in-by-provider.ts'
import { makeTokens } from '../../platform/runtime/secrets/tokens.ts'
import type { Stores } from '../database/stores.ts'
import type { Common } from './common.ts'

export function operationsForSigningIn(stores: Stores, common: Common) {
  const { openId } = common.config
  return {
    operatorAccounts: accountsOf(stores, common, {
      kind: 'operator',
      sessions: stores.operatorSessions,
      tries: stores.operatorTries,
      totp: stores.operatorTotp,
      setPassword: stores.operators.setPassword,
      normaliseLogin: normaliseOperatorLogin,
    }),
    signInByProvider:
      openId &&
      makeSignInByProvider({
        ...common,
        identities: stores.operatorIdentities,
        rolesByGroup: openId.rolesByGroup,
      }),
    apiTokens: makeManageTokens({ ...stores, ...common, tokens: stores.apiTokens }),
    idempotencyKeyOf: makeIdempotencyKeyOf({ ...stores, ...common }),

    memberAccounts: accountsOf(stores, common, {
      kind: 'member',
      sessions: stores.memberSessions,
      tries: stores.memberTries,
      totp: stores.memberTotp,
      setPassword: stores.members.setPassword,
      normaliseLogin: normaliseEmail,
    }),
    signInMemberByProvider: makeSignInMemberByProvider({ ...common, identities: stores.memberIdentities }),
    /** Oldest first. */
    listMemberships: stores.members.listMemberships,
    memberLinks: makeOpenLinks({
      ...stores,
      ...common,
      links: stores.memberLinks,
      accounts: stores.memberSessions,
    }),
  }
}

function accountsOf<Person extends Account>(
  stores: Stores,
  common: Common,
  own: {
    readonly kind: Exclude<AccountKind, 'wallet'>
    readonly sessions: AccountSessionStore<Person>
    readonly tries: AccountTriesStore<Person>
    readonly totp: AccountTotpStore
    readonly setPassword: ChangePasswordParts['setPassword']
    /** Undefined if no account can have this login. */
    readonly normaliseLogin: (typed: string) => string | undefined
  },
) {
  const parts = { ...common, ...own }
  return {
    authenticate: makeAuthenticate(parts),
    sessions: makeSessions(parts),
    secondStep: makeSecondStep({ ...parts, issuer: nameOfSite(common) }),
    passkeys: passkeysOf(own.kind, stores, common),
    changePassword: makeChangePassword(parts),
    changeName: makeChangeName(parts),
    findAccount: own.sessions.findAccount,
  }
}

export function passkeysOf(kind: AccountKind, stores: Stores, common: Common) {
  const passkeys = {
    operator: stores.operatorPasskeys,
    member: stores.memberPasskeys,
    wallet: stores.walletPasskeys,
  }
  return makePasskeys({
    ...common,
    kind,
    passkeys: passkeys[kind],
    tokens: makeTokens(common.vault.deriveKeys(`passkeys of ${kind}s`)),
    siteName: nameOfSite(common),
  })
}

const nameOfSite = ({ publicUrl }: Common) => `Tillgate ${new URL(publicUrl).host}`
