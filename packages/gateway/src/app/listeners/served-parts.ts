import type { Action } from '../../actions/action.ts'
import type { CookieJar } from '../../adapters/kit/cookies.ts'
import type { Downloads } from '../../adapters/kit/downloads.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { GatewayState } from '../gateway-state.ts'

/** What the routes of both listeners need. */
export interface ServedParts extends ClockAndRandom {
  readonly state: GatewayState
  readonly log: Log
  readonly jar: CookieJar
  readonly downloads: Downloads
  readonly catalog: readonly Action[]
  /** The address of the demo shop, once it is open. */
  readonly shopUrl: () => string | undefined
}
