// How operators and members of merchants sign in and confirm.

import { normaliseEmail } from '../../core/emails/rules/email.ts'
import { makeAuthenticate } from '../../identity/accounts/authenticate.ts'
import { makePasskeys } from '../../identity/accounts/passkeys.ts'
import type { AccountKind } from '../../identity/accounts/rules/account.ts'
import { makeSecondStep } from '../../identity/accounts/second-step.ts'
import { makeSessions } from '../../identity/accounts/sessions.ts'
import { makeOpenLinks } from '../../identity/members/open-links.ts'
import { makeSignInMemberByProvider } from '../../identity/members/sign-in-by-provider.ts'
import { makeManageTokens } from '../../identity/operators/manage-api-tokens.ts'
import { normaliseOperatorLogin } from '../../identity/operators/rules/operator.ts'
import { makeSignInByProvider } from '../../identity/operators/sign-in-by-provider.ts'
import { makeTokens } from '../../platform/runtime/secrets/tokens.ts'
import type { Stores } from '../database/stores.ts'
import type { Common } from './common.ts'

export function operationsForSigningIn(stores: Stores, common: Common) {
  const { openId } = common.config
  const issuer = nameOfSite(common)
  return {
    authenticateOperator: makeAuthenticate({
      ...common,
      kind: 'operator',
      tries: stores.operatorTries,
      normaliseLogin: normaliseOperatorLogin,
    }),
    operatorSessions: makeSessions({ ...common, kind: 'operator', sessions: stores.operatorSessions }),
    signInByProvider:
      openId &&
      makeSignInByProvider({
        ...common,
        identities: stores.operatorIdentities,
        rolesByGroup: openId.rolesByGroup,
      }),
    operatorPasskeys: passkeysOf('operator', stores, common),
    secondStep: makeSecondStep({
      ...common,
      kind: 'operator',
      totp: stores.operatorTotp,
      tries: stores.operatorTries,
      issuer,
    }),
    apiTokens: makeManageTokens({ ...stores, ...common, tokens: stores.apiTokens }),

    authenticateMember: makeAuthenticate({
      ...common,
      kind: 'member',
      tries: stores.memberTries,
      normaliseLogin: normaliseEmail,
    }),
    memberSessions: makeSessions({ ...common, kind: 'member', sessions: stores.memberSessions }),
    signInMemberByProvider: makeSignInMemberByProvider({ ...common, identities: stores.memberIdentities }),
    memberPasskeys: passkeysOf('member', stores, common),
    memberSecondStep: makeSecondStep({
      ...common,
      kind: 'member',
      totp: stores.memberTotp,
      tries: stores.memberTries,
      issuer,
    }),
    memberLinks: makeOpenLinks({
      ...stores,
      ...common,
      links: stores.memberLinks,
      accounts: stores.memberSessions,
    }),
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
