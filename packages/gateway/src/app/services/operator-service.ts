// How operators sign in to the console.
import type { RandomBytes } from '@tillgate/protocol'
import type { ConsoleService } from '../../adapters/console/console.ts'
import type { OpenIdClient } from '../../platform/runtime/outside/openid.ts'
import { makeSealing } from '../../platform/runtime/secrets/sealing.ts'
import { makeTokens } from '../../platform/runtime/secrets/tokens.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { Stores } from '../database/stores.ts'
import type { Operations } from '../operations.ts'
import type { Config } from '../settings/config.ts'

export interface OperatorServiceParts {
  readonly config: Config
  readonly stores: Stores
  readonly operations: Operations
  readonly vault: Vault
  readonly random: RandomBytes
  /** If undefined, no operator signs in at an identity provider. */
  readonly openId?: OpenIdClient | undefined
}

export function makeOperatorService(parts: OperatorServiceParts): ConsoleService {
  const { config, stores, operations, vault, random, openId } = parts
  const { signInByProvider } = operations
  return {
    operations,
    authenticate: operations.authenticateOperator,
    sessions: operations.operatorSessions,
    provider: signInByProvider && openId,
    signInByProvider,
    changePassword: operations.operators.changePassword,
    findAccount: stores.operators.findOperator,
    secondStep: operations.secondStep,
    passkeys: operations.operatorPasskeys,
    // The second step of an identity provider's user is at the provider.
    needsSecondStep: ({ role, hasSecondStep, email }) =>
      !hasSecondStep && email === undefined && config.secondStepRoles.includes(role),
    takesApplications: config.takesApplications,
    sealing: makeSealing(vault.deriveKeys('console notes'), random),
    tokens: makeTokens(vault.deriveKeys('console forms')),
  }
}
