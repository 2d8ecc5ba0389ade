// What the console is given by the gateway.
import type { RandomBytes } from '@tillgate/protocol'
import type { Action } from '../../actions/action.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { Downloads } from '../kit/downloads.ts'
import type { ConsoleService } from './console.ts'

export interface ConsoleParts {
  readonly mode: 'sandbox' | 'live'
  readonly random: RandomBytes
  readonly clock: Clock
  readonly log: Log
  readonly downloads: Downloads
  readonly isUnavailable: (error: unknown) => boolean
  /** Throws while the gateway is still starting. */
  readonly running: () => ConsoleService
  readonly catalog: readonly Action[]
}
