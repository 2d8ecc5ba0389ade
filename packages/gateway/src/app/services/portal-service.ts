// What the portal needs from operations and stores.
import type { RandomBytes } from '@tillgate/protocol'
import type { PortalService } from '../../adapters/portal/portal.ts'
import type { OpenIdClient } from '../../platform/runtime/outside/openid.ts'
import { makeSealing } from '../../platform/runtime/secrets/sealing.ts'
import { makeTokens } from '../../platform/runtime/secrets/tokens.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { Stores } from '../database/stores.ts'
import type { Operations } from '../operations.ts'

export function makePortalService(parts: {
  readonly operations: Operations
  readonly stores: Stores
  readonly vault: Vault
  readonly random: RandomBytes
  /** If undefined, no member signs in at an identity provider. */
  readonly openId?: OpenIdClient | undefined
}): PortalService {
  const { operations, stores, vault, random, openId } = parts
  return {
    sealing: makeSealing(vault.deriveKeys('portal notes'), random),
    tokens: makeTokens(vault.deriveKeys('portal forms')),
    authenticate: operations.authenticateMember,
    sessions: operations.memberSessions,
    provider: openId,
    signInByProvider: operations.signInMemberByProvider,
    secondStep: operations.memberSecondStep,
    passkeys: operations.memberPasskeys,
    links: operations.memberLinks,
    apply: operations.apply,
    askRecovery: operations.askRecovery,
    findAccount: stores.memberSessions.findAccount,
    listMemberships: stores.members.listMemberships,
    changePassword: operations.changeMemberPassword,
    operations,
    publicUrl: operations.publicUrl,
  }
}
