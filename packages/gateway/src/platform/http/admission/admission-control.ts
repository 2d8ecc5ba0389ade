// Admission control of one listener: which connections and requests it takes on. It keeps what requests have in common,
// admits each, and answers what the listener asks about a connection before any request of it is read.
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
  /** For operators alone: every address counts as known, and none is shut out. */
  readonly isPrivate?: boolean
  readonly onShed?: (reason: ShedReason) => void
}

const maxMerchants = 100_000
/** Addresses from which an envelope was opened lately: those of merchants. All others are unknown, consumers included. */
const maxKnownAddresses = 100_000
/** One address has at most this share of the slots, so that it takes several to be in everybody's way. */
const addressShare = 1 / 4
/** How many more requests may be on their way in than are worked on; half of those slots are for known addresses. */
const receivingTimes = 2
/** Envelopes of unknown addresses that are opened at once: with refusals that take 5 ms, 400 a second. */
const openingTurns = 2
/**
 * Pages of unknown addresses: so many are begun in a turn of the event loop, and what a batch of lookups answers is no more
 * than those under way. With four under way a view of the checkout cost twice the CPU: there were no batches any more.
 */
const pages = { begun: 4, underWay: 32 } as const
/** Of one address, behind which there may be an office: a page with its assets is about five requests. */
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

  /** An envelope from there was opened lately. */
  isKnown(address: string): boolean {
    return this.#shared.isKnown(addressKey(address))
  }

  isShutOut(address: string): boolean {
    return !this.#isPrivate && this.#shared.charges.isShutOut(addressKey(address))
  }

  /** Told of the address's key. */
  onShutOut(cut: (key: string) => void): void {
    if (!this.#isPrivate) this.#onShutOut.push(cut)
  }

  /** Before anything is known of it. */
  connectionCame(): void {
    this.#shared.pageTurns.connectionCame()
  }

  /** For a connection of which no request was read. */
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

  /** How many requests are worked on. */
  get inFlight(): number {
    return this.#shared.working.taken
  }

  /** Before a proxy's request is read nobody knows whose it is. */
  #chargedKey({ remoteAddress }: Socket): string | undefined {
    if (this.#isPrivate || remoteAddress === undefined || this.isProxy(remoteAddress)) return undefined
    return addressKey(remoteAddress)
  }
}
