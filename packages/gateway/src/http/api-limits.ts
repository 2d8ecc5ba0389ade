// How much the merchant API takes on: requests in flight, requests a second a merchant, and junk an address.
import type { ServerResponse } from 'node:http'
import { Failure } from '@tillgate/protocol'
import ipaddr from 'ipaddr.js'
import type { Clock } from '../clock.ts'
import type { Merchant } from '../domain/merchant.ts'
import { TokenBuckets } from '../domain/token-bucket.ts'

export interface ApiLimitsOptions {
  readonly requestsInFlightMax: number
  readonly merchantRequestsPerSecond: number
  readonly failedOpeningsPerMinute: number
  readonly clock: Clock
}

const maxMerchants = 100_000
const maxAddresses = 100_000

export class ApiLimits {
  readonly #options: ApiLimitsOptions
  readonly #merchants = new TokenBuckets({ maxBuckets: maxMerchants })
  readonly #junk = new TokenBuckets({ maxBuckets: maxAddresses })
  #inFlight = 0

  constructor(options: ApiLimitsOptions) {
    this.#options = options
  }

  /** Before anything is read. The place is given back when the answer is sent or the connection is gone. */
  admit(address: string, response: ServerResponse): void {
    if (this.#inFlight >= this.#options.requestsInFlightMax) {
      throw new Failure('unavailable', { retryAfterSeconds: 1 })
    }
    const waitMs = this.#junkWaitMs(address)
    if (waitMs > 0) throw tooMany(waitMs)
    this.#inFlight++
    response.once('close', () => {
      this.#inFlight--
    })
  }

  /** A request from this address could not be opened. */
  noteJunk(address: string): void {
    this.#junk.take(addressKey(address), this.#junkAllowance(), this.#options.clock.now())
  }

  /** Only after a request was opened: nobody uses up what belongs to another. */
  charge({ merchantId, requestsPerSecond }: Merchant): void {
    const perSecond = requestsPerSecond ?? this.#options.merchantRequestsPerSecond
    const waitMs = this.#merchants.take(
      merchantId,
      { perSecond, burst: perSecond },
      this.#options.clock.now(),
    )
    if (waitMs > 0) throw tooMany(waitMs)
  }

  #junkWaitMs(address: string): number {
    // Nobody sent junk lately: the usual case, and not worth reading the address for.
    if (this.#junk.size === 0) return 0
    return this.#junk.waitMs(addressKey(address), this.#junkAllowance(), this.#options.clock.now())
  }

  #junkAllowance() {
    const { failedOpeningsPerMinute } = this.#options
    return { perSecond: failedOpeningsPerMinute / 60, burst: failedOpeningsPerMinute }
  }
}

function tooMany(waitMs: number): Failure {
  return new Failure('too_many_requests', { retryAfterSeconds: Math.ceil(waitMs / 1000) })
}

/** One IPv4 address, or one IPv6 network of 64 bits: whoever has one address of it has them all. */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}
