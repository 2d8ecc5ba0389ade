// How much the merchant API takes on: requests in flight, requests a second a merchant, and junk an address.
import { Failure } from '@tillgate/protocol'
import ipaddr from 'ipaddr.js'
import type { Clock } from '../clock.ts'
import type { Merchant } from '../domain/merchant.ts'
import { TokenBuckets } from '../domain/token-bucket.ts'
import { Places } from './places.ts'

export interface ApiLimitsOptions {
  readonly requestsInFlightMax: number
  readonly merchantRequestsPerSecond: number
  readonly failedOpeningsPerMinute: number
  readonly clock: Clock
  readonly onShed?: (reason: 'in_flight' | 'junk' | 'merchant_rate') => void
}

const maxMerchants = 100_000
const maxAddresses = 100_000
/** One address has at most this share of the places, so that it takes several to be in everybody's way. */
const addressShare = 1 / 4
/** How many more requests may be on their way in than are worked on; each holds its body in memory at most. */
const receivingTimes = 2

export class ApiLimits {
  readonly #options: ApiLimitsOptions
  readonly #merchants = new TokenBuckets({ maxBuckets: maxMerchants })
  readonly #junk = new TokenBuckets({ maxBuckets: maxAddresses })
  readonly #receiving: Places
  readonly #working: Places

  constructor(options: ApiLimitsOptions) {
    this.#options = options
    const total = options.requestsInFlightMax
    const perAddress = Math.ceil(total * addressShare)
    this.#receiving = new Places({ total: total * receivingTimes, perAddress })
    this.#working = new Places({ total, perAddress: total })
  }

  /** Before anything is read. The place is given back when the body is there or the connection is gone. */
  admit(address: string): () => void {
    this.#refuseJunk(address)
    return this.#receiving.take(addressKey(address)) ?? this.#refuse()
  }

  /** When the body is there. The place is given back when the work is done, whoever still waits for it. */
  begin(address: string): () => void {
    this.#refuseJunk(address)
    return this.#working.take(addressKey(address)) ?? this.#refuse()
  }

  /** It sent so much junk that nothing of it is read for now. */
  isTurnedAway(address: string): boolean {
    return this.#junk.size > 0 && this.#junkWaitMs(address) > 0
  }

  /** A request from this address could not be opened. Those that came at the same time all count. */
  noteJunk(address: string): void {
    this.#junk.charge(addressKey(address), this.#junkAllowance(), this.#options.clock.now())
  }

  /** Only after a request was opened: nobody uses up what belongs to another. */
  charge({ merchantId, requestsPerSecond }: Pick<Merchant, 'merchantId' | 'requestsPerSecond'>): void {
    const perSecond = requestsPerSecond ?? this.#options.merchantRequestsPerSecond
    const waitMs = this.#merchants.take(
      merchantId,
      { perSecond, burst: perSecond },
      this.#options.clock.now(),
    )
    if (waitMs <= 0) return
    this.#options.onShed?.('merchant_rate')
    throw tooMany(waitMs)
  }

  /** How many are worked on. */
  get inFlight(): number {
    return this.#working.taken
  }

  #refuse(): never {
    this.#options.onShed?.('in_flight')
    throw new Failure('unavailable', { retryAfterSeconds: 1 })
  }

  #refuseJunk(address: string): void {
    // Nobody sent junk lately: the usual case, and not worth reading the address for.
    if (this.#junk.size === 0) return
    const waitMs = this.#junkWaitMs(address)
    if (waitMs <= 0) return
    this.#options.onShed?.('junk')
    throw tooMany(waitMs)
  }

  #junkWaitMs(address: string): number {
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
  // As Node writes it, and so as it is nearly always: reading it would cost 10 µs, twice a request.
  if (/^\d+\.\d+\.\d+\.\d+$/.test(address) || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}
