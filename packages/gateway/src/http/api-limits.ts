// How much the merchant API takes on: requests in flight, requests a second a merchant, and junk an address. What an
// address costs us for nothing is counted in envelopes that could not be opened, half a millisecond each.
import { Failure, httpStatusOf } from '@tillgate/protocol'
import ipaddr from 'ipaddr.js'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { Clock } from '../platform/clock.ts'
import type { MachineTime } from '../platform/timer.ts'
import { TokenBuckets } from '../platform/token-bucket.ts'
import { refusalBeatMs } from './admission/refusal-beat.ts'
import { Places } from './places.ts'
import { Strangers } from './strangers.ts'

export interface ApiLimitsOptions {
  readonly requestsInFlightMax: number
  readonly merchantRequestsPerSecond: number
  readonly failedOpeningsPerMinute: number
  readonly clock: Clock
  readonly time: Pick<MachineTime, 'nowMs' | 'startTimer'>
  readonly onShed?: (reason: 'in_flight' | 'junk' | 'merchant_rate' | 'strangers') => void
}

const maxMerchants = 100_000
const maxAddresses = 100_000
/** One address has at most this share of the places, so that it takes several to be in everybody's way. */
const addressShare = 1 / 4
/** How many more requests may be on their way in than are worked on; each holds its body in memory at most. */
const receivingTimes = 2
/** Strangers' envelopes that are opened at once: with refusals on a beat of 5 ms, 400 a second. */
const strangersTurns = 2
/** In envelopes: a request that is refused for what it looks like, or how old it is. */
const untriedCost = 0.1
/** An allowance takes a minute to come in. Who only asks on is told 429, and owes no more for it. */
const shutOutBeyondMs = 60_000
/** Whoever only has a wrong key owes no more, so that a spare connection of a browser beside it changes nothing. */
const notOpenedOwesMs = 30_000

/** What an address costs its listener, and what the listener then does about it. */
export interface AddressCosts {
  /** So many envelopes' worth; one, unless told. */
  noteJunk(address: string, envelopes?: number): void
  /** For what nobody does by mistake. */
  shutOut(address: string): void
  /** It used its allowance twice over, and is not even listened to for now. */
  isShutOut(address: string): boolean
  /** No envelope from there was opened lately. */
  isStranger(address: string): boolean
  onShutOut(heard: (key: string) => void): void
}

export class ApiLimits implements AddressCosts {
  readonly #options: ApiLimitsOptions
  readonly #merchants = new TokenBuckets({ maxBuckets: maxMerchants })
  readonly #junk = new TokenBuckets({ maxBuckets: maxAddresses })
  readonly #receiving: Places
  readonly #working: Places
  readonly #strangers: Strangers
  readonly #heardOfShutOut: ((key: string) => void)[] = []

  constructor(options: ApiLimitsOptions) {
    this.#options = options
    const total = options.requestsInFlightMax
    const perAddress = Math.ceil(total * addressShare)
    this.#receiving = new Places({ total: total * receivingTimes, perAddress })
    this.#working = new Places({ total, perAddress: total })
    this.#strangers = new Strangers({
      turns: strangersTurns,
      waiting: Math.ceil(total / 2),
      waitingPerAddress: perAddress,
      maxKnown: maxAddresses,
      nowMs: options.time.nowMs,
    })
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

  isStranger(address: string): boolean {
    return this.#strangers.has(addressKey(address))
  }

  /** It sent so much junk that nothing of it is read for now, or was never heard of. */
  mustRest(address: string): boolean {
    return this.#junkWaitMs(address) > 0 || this.isStranger(address)
  }

  /** Those that came at the same time all count. */
  noteJunk(address: string, envelopes = 1): void {
    const wasShutOut = this.isShutOut(address)
    this.#charge(address, envelopes)
    if (wasShutOut || !this.isShutOut(address)) return
    // For a minute at least: who may come back every second does its worst every second.
    this.#charge(address, this.#options.failedOpeningsPerMinute)
    for (const heard of this.#heardOfShutOut) heard(addressKey(address))
  }

  shutOut(address: string): void {
    this.noteJunk(address, 2 * this.#options.failedOpeningsPerMinute)
  }

  isShutOut(address: string): boolean {
    return this.#junk.size > 0 && this.#junkWaitMs(address) > shutOutBeyondMs
  }

  onShutOut(heard: (key: string) => void): void {
    this.#heardOfShutOut.push(heard)
  }

  /**
   * Opens what came from this address, a stranger's in its turn. Who is not opened has sent junk, and what is so broken
   * that it cannot even be tried is junk too.
   */
  async open<Opened>(address: string, open: () => Promise<Opened | undefined>): Promise<Opened | undefined> {
    const key = addressKey(address)
    const end = this.#strangers.has(key) ? await this.#turnOf(key) : undefined
    try {
      // It may have used up its allowance while it waited.
      if (end) this.#refuseJunk(address)
      const opened = await open()
      if (opened === undefined) this.#noteNotOpened(address, 1)
      else this.#strangers.know(key)
      return opened
    } catch (error) {
      if (isSendersFault(error)) {
        this.#noteNotOpened(address, untriedCost)
        // What is refused before it is tried gives its turn back no sooner than what is tried.
        if (end) await new Promise<void>((resolve) => this.#options.time.startTimer(refusalBeatMs, resolve))
      }
      throw error
    } finally {
      end?.()
    }
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

  /** However many were under way when a key was revoked: nobody is shut out for envelopes that only stay closed. */
  #noteNotOpened(address: string, envelopes: number): void {
    const costMs = (envelopes * 60_000) / this.#options.failedOpeningsPerMinute
    const waitMs = this.#junkWaitMs(address)
    if (waitMs === 0 || waitMs + costMs <= notOpenedOwesMs) this.#charge(address, envelopes)
  }

  #charge(address: string, envelopes: number): void {
    this.#junk.charge(addressKey(address), this.#junkAllowance(), this.#options.clock.now(), envelopes)
  }

  async #turnOf(key: string): Promise<() => void> {
    const end = await this.#strangers.turn(key)
    if (end) return end
    this.#options.onShed?.('strangers')
    throw tooMany(1_000)
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

/** Not where it is told to come again: that asking on costs nothing is part of the bargain, and our own trouble is ours. */
function isSendersFault(error: unknown): boolean {
  if (!(error instanceof Failure)) return false
  const status = httpStatusOf(error.code)
  return status < 500 && status !== 429
}

function tooMany(waitMs: number): Failure {
  return new Failure('too_many_requests', { retryAfterSeconds: Math.ceil(waitMs / 1000) })
}

/** One IPv4 address, or one IPv6 network of 64 bits: whoever has one address of it has them all. */
export function addressKey(given: string): string {
  // As Node writes it, and so as it is nearly always: reading it would cost 10 µs, twice a request.
  if (/^\d+\.\d+\.\d+\.\d+$/.test(given)) return given
  const address = withoutPort(given)
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}

/** Some proxies tell it too, and it is another one for every connection. */
function withoutPort(given: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(given)?.[1] ?? /^([\d.]+):\d+$/.exec(given)?.[1] ?? given
}
