// Admission control of one listener: decides which connections and requests to accept before any request is read.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { MachineTime } from '../../runtime/timer.ts'
import { TokenBuckets } from '../../runtime/token-bucket.ts'
import { type Addresses, addressKey, makeAddresses } from './addresses.ts'
import { Admission, type AdmissionShared, type ShedReason } from './admission.ts'
import { type BrokenHttp, Charges, costOfBrokenHttp } from './charges.ts'
import { OpeningQueue } from './opening-queue.ts'
import { PageQueue } from './page-queue.ts'
import { RateLimiter } from './rate-limiter.ts'
import { Slots } from './slots.ts'

export interface AdmissionOptions {
  readonly requestsInFlightMax: number
  readonly merchantRequestsPerSecond: number
  readonly failedOpeningsPerMinute: number
  readonly trustedProxies: readonly string[]
  readonly clock: Clock
  readonly time: MachineTime
  /** For operators only: every address counts as known and none is shut out. */
  readonly isPrivate?: boolean
  readonly onShed?: (reason: ShedReason) => void
}

const maxMerchants = 100_000
/** Known addresses recently sent a valid envelope. Consumers count as unknown. */
const maxKnownAddresses = 100_000
/** One address gets at most this share of the slots, so blocking the listener takes several addresses. */
const addressShare = 1 / 4
/** How many more requests may be received than processed. Half of these slots are reserved for known addresses. */
const receivingTimes = 2
/** Concurrent envelopes of unknown addresses: with refusals of 5 ms, 400 a second. */
const openingTurns = 2
/**
 * Pages of unknown addresses: how many start in one turn of the event loop, and how many are in progress. With four
 * in progress, a checkout view cost twice the CPU because batching stopped.
 */
const pages = { begun: 4, underWay: 32 } as const
/** Per address, which may be a whole office. A page with its assets is about five requests. */
export const pageRate = { perSecond: 100, burst: 1_000 } as const

export class AdmissionControl {
  readonly #addresses: Addresses
  readonly #isPrivate: boolean
  readonly #shared: AdmissionShared
  readonly #onShutOut: ((key: string) => void)[] = []

  constructor(options: AdmissionOptions) {
    const { requestsInFlightMax: total, clock, time, isPrivate = false } = options
    const perKey = Math.ceil(total * addressShare)
    const known = new BoundedMap<string, true>(maxKnownAddresses)
    this.#addresses = makeAddresses(options.trustedProxies)
    this.#isPrivate = isPrivate
    this.#shared = {
      receiving: new Slots({ total: total * receivingTimes, perKey, reserved: total }),
      working: new Slots({ total, perKey: total }),
      charges: new Charges({
        envelopesPerMinute: options.failedOpeningsPerMinute,
        clock,
        onShutOut: (key) => {
          for (const cut of this.#onShutOut) cut(key)
        },
      }),
      openings: new OpeningQueue({
        turns: openingTurns,
        waiting: Math.ceil(total / 2),
        waitingPerAddress: perKey,
        nowMs: time.nowMs,
      }),
      pages: new RateLimiter({ rate: pageRate, clock: { now: time.nowMs } }),
      pageTurns: new PageQueue({ ...pages, waiting: total * receivingTimes, time }),
      merchants: new TokenBuckets({ maxBuckets: maxMerchants }),
      merchantRequestsPerSecond: options.merchantRequestsPerSecond,
      late: { connections: new WeakSet(), count: 0 },
      isKnown: isPrivate ? () => true : (key) => known.has(key),
      know: (key) => known.set(key, true),
      now: () => clock.now(),
      time,
      onShed: options.onShed ?? (() => {}),
    }
  }

  admit(request: IncomingMessage): Admission {
    return new Admission(this.#shared, { request, address: this.#addresses.clientOf(request) })
  }

  isProxy(address: string): boolean {
    return this.#addresses.isProxy(address)
  }

  isKnown(address: string): boolean {
    return this.#shared.isKnown(addressKey(address))
  }

  isShutOut(address: string): boolean {
    return !this.#isPrivate && this.#shared.charges.isShutOut(addressKey(address))
  }

  onShutOut(cut: (key: string) => void): void {
    if (!this.#isPrivate) this.#onShutOut.push(cut)
  }

  connectionCame(): void {
    this.#shared.pageTurns.connectionCame()
  }

  /** Charges a connection on which no request could be read. */
  chargeBrokenHttp(error: BrokenHttp, socket: Socket): void {
    const key = this.#chargedKey(socket)
    if (key === undefined) return
    const isKnown = this.#shared.isKnown(key)
    const cost = costOfBrokenHttp(error, { bytesRead: socket.bytesRead, isKnown })
    if (cost > 0) this.#shared.charges.charge(key, cost)
  }

  shutOutConnection(socket: Socket): void {
    const key = this.#chargedKey(socket)
    if (key !== undefined) this.#shared.charges.shutOut(key)
  }

  get inFlight(): number {
    return this.#shared.working.taken
  }

  /** Behind a proxy, the client is unknown until a request is read. */
  #chargedKey({ remoteAddress }: Socket): string | undefined {
    if (this.#isPrivate || remoteAddress === undefined || this.isProxy(remoteAddress)) return undefined
    return addressKey(remoteAddress)
  }
}
