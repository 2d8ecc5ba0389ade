// What the console is given by the gateway.
import type { RandomBytes } from '@tillgate/protocol'
import type { Action } from '../../actions/action.ts'
import type { Role } from '../../core/audit/rules/roles.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { OpenIdClient } from '../../platform/runtime/outside/openid.ts'
import type { CookieSecrets } from '../kit/accounts/cookies.ts'
import type { Downloads } from '../kit/downloads.ts'
import type { ConsoleOperations } from './console.ts'

export interface ConsoleParts {
  readonly mode: 'sandbox' | 'live'
  readonly random: RandomBytes
  readonly clock: Clock
  readonly log: Log
  readonly downloads: Downloads
  readonly isUnavailable: (error: unknown) => boolean
  /** Throws while the gateway is still starting. */
  readonly running: () => {
    readonly operations: ConsoleOperations
    readonly secrets: CookieSecrets
    readonly provider: OpenIdClient | undefined
  }
  readonly secondStepRoles: readonly Role[]
  /** Whether anyone may apply for live keys. */
  readonly takesApplications: boolean
  readonly catalog: readonly Action[]
}
