// What the console is given by the gateway.
import type { RandomBytes } from '@tillgate/protocol'
import type { Action } from '../../actions/action.ts'
import type { OperatorService } from '../../actions/service.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { Downloads } from '../kit/downloads.ts'

export interface ConsoleParts {
  readonly mode: 'sandbox' | 'live'
  readonly random: RandomBytes
  readonly clock: Clock
  readonly log: Log
  readonly downloads: Downloads
  readonly isUnavailable: (error: unknown) => boolean
  /** Throws while the gateway is still starting. */
  readonly running: () => OperatorService
  readonly catalogue: readonly Action[]
}
