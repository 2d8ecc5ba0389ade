import { Failure } from '@tillgate/protocol'
import { askedSeldom, type Readiness } from '../platform/http/health.ts'
import type { Service } from './service.ts'

/** A gateway between its start and its end. Listeners are open before the service runs, so they look here. */
export class GatewayState {
  /** Empty without the role api. */
  publicUrl: string
  adminUrl = ''
  service: Service | undefined
  isStopping = false
  /** Whether a stop waits for open connections to be reused. */
  isPatient = false

  constructor(publicUrl = '') {
    this.publicUrl = publicUrl
  }

  readonly #askService = askedSeldom(async () => this.running().readiness())

  /** The service, or the failure that asks the client to try again in a second. */
  readonly running = (): Service => {
    if (!this.service) throw new Failure('unavailable', { retryAfterSeconds: 1 })
    return this.service
  }

  readonly readiness = async (): Promise<Readiness> => {
    if (this.isStopping) return { ready: false, reason: 'the gateway is stopping' }
    if (!this.service) return { ready: false, reason: 'the gateway is starting' }
    return this.#askService()
  }
}
