// What the console is given by the gateway.
import type { RandomBytes } from '@tillgate/protocol'
import type { Act } from '../../acts/act.ts'
import type { OperatorService } from '../../acts/service.ts'
import type { Downloads } from '../../http/downloads.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'

export interface ConsoleParts {
  readonly mode: 'sandbox' | 'live'
  readonly random: RandomBytes
  readonly clock: Clock
  readonly log: Log
  readonly downloads: Downloads
  readonly isUnavailable: (error: unknown) => boolean
  /** Throws while the gateway is still starting. */
  readonly running: () => OperatorService
  readonly catalogue: readonly Act[]
}
