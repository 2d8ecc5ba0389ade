// What the portal needs from operations and stores.
import type { RandomBytes } from '@tillgate/protocol'
import type { PortalService } from '../../faces/portal/portal.ts'
import type { OpenIdClient } from '../../platform/outside/openid.ts'
import { makeSealing } from '../../platform/sealing.ts'
import { makeTokens } from '../../platform/tokens.ts'
import type { Vault } from '../../platform/vault.ts'
import type { Operations } from '../operations.ts'
import type { Stores } from '../stores.ts'

export function makePortalService(parts: {
  readonly operations: Operations
  readonly stores: Stores
  readonly vault: Vault
  readonly publicUrl: string
  readonly random: RandomBytes
  /** Left out, nobody signs in at an identity provider. */
  readonly openId?: OpenIdClient | undefined
}): PortalService {
  const { operations, stores, vault, publicUrl, random, openId } = parts
  return {
    sealing: makeSealing(vault.deriveKeys('portal notes'), random),
    tokens: makeTokens(vault.deriveKeys('portal forms')),
    authenticate: operations.authenticateMember,
    sessions: operations.memberSessions,
    provider: openId && { ...openId, signIn: operations.signInMemberByProvider },
    secondStep: operations.memberSecondStep,
    passkeys: operations.memberPasskeys,
    links: operations.memberLinks,
    apply: operations.apply,
    askRecovery: operations.askRecovery,
    publicUrl,
    findAccount: stores.memberSessions.findAccount,
    listMemberships: stores.members.listMemberships,
    changePassword: (actor) => operations.as(actor).changeMemberPassword,
    scope: operations.merchantScope,
  }
}
