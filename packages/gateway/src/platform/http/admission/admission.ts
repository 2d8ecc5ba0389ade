// The admission of one request: receive its body, work on it, open its envelope, take from its merchant's rate, end. Each
// stage throws where the request is refused. What is cheap is checked first, so that junk costs little.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Failure, httpStatusOf } from '@tillgate/protocol'
import type { MachineTime } from '../../runtime/timer.ts'
import type { TokenBuckets } from '../../runtime/token-bucket.ts'
import { addressKey } from './addresses.ts'
import { type Charges, costOfUnfinishedBody, costs } from './charges.ts'
import { refusalMs, refuseInConstantTime } from './constant-time-refusal.ts'
import type { OpeningQueue } from './opening-queue.ts'
import type { PageQueue } from './page-queue.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { GiveBack, Slots } from './slots.ts'

export type ShedReason = 'in_flight' | 'junk' | 'merchant_rate' | 'page_rate' | 'unknown_addresses'

export interface RatedMerchant {
  readonly merchantId: string
  /** Its own rate; undefined: the gateway's. */
  readonly requestsPerSecond: number | undefined
}

/** What all requests of a listener share. */
export interface AdmissionShared {
  /** How many requests are on their way in; each holds its body in memory at most. */
  readonly receiving: Slots
  readonly working: Slots
  readonly charges: Charges
  readonly openings: OpeningQueue
  readonly pages: RateLimiter
  readonly pageTurns: PageQueue
  readonly merchants: TokenBuckets
  readonly merchantRequestsPerSecond: number
  /** Connections whose refusal is held back, and how many were before. */
  readonly late: { readonly connections: WeakSet<Socket>; count: number }
  readonly isKnown: (key: string) => boolean
  readonly know: (key: string) => void
  readonly now: () => number
  readonly time: MachineTime
  readonly onShed: (reason: ShedReason) => void
}

/**
 * After which a refusal is sent that would otherwise be asked for as fast as it comes. Not all after the same time: who was
 * refused together would come back together, hundreds at once, again and again.
 */
export const lateMs = { least: 500, most: 1_500 } as const
/** Steps of it go round evenly, however many there are: the golden ratio's. */
const lateStep = 0.618
/**
 * For the body of an unknown address, from the end of the headers on: the less, the more of their slots are taken, so that
 * what came together does not run out together. A known one has as long as any request.
 */
export const unknownBodyMs = { most: 5_000, least: 1_000 } as const

export class Admission {
  readonly #shared: AdmissionShared
  readonly #socket: Socket
  readonly #address: string
  readonly #key: string
  #receiving: { readonly giveBack: GiveBack; readonly sinceMs: number } | undefined
  #cancelDeadline: (() => void) | undefined
  #workingSlot: GiveBack | undefined

  constructor(shared: AdmissionShared, { request, address }: { request: IncomingMessage; address: string }) {
    this.#shared = shared
    this.#socket = request.socket
    this.#address = address
    this.#key = addressKey(address)
  }

  /** Of the client, as our proxies report it. */
  get address(): string {
    return this.#address
  }

  /** An envelope from its address was opened lately. */
  get isKnown(): boolean {
    return this.#shared.isKnown(this.#key)
  }

  /** The body has not come whole yet. */
  get isReceiving(): boolean {
    return this.#receiving !== undefined
  }

  /** Before anything is read. `onTimeout` answers a body that is too late and cuts the connection. */
  startReceiving({ onTimeout = () => {} } = {}): void {
    this.#refuseCharged()
    const { receiving, time } = this.#shared
    const { isKnown } = this
    const { most, least } = unknownBodyMs
    const bodyMs = most - (most - least) * receiving.shareTakenByUnknown
    const giveBack = receiving.take(this.#key, { isKnown }) ?? this.#refuseFull()
    this.#receiving = { giveBack, sinceMs: time.nowMs() }
    if (isKnown) return
    this.#cancelDeadline = time.startTimer(bodyMs, () => {
      this.endReceiving({ isWhole: false })
      onTimeout()
    })
  }

  /** The body is there, or will not come. What does not come whole is charged by the time it was waited for. */
  endReceiving({ isWhole }: { isWhole: boolean }): void {
    if (!this.#receiving) return
    const { sinceMs } = this.#receiving
    this.#giveBackReceiving()
    if (isWhole) return
    const { charges, time } = this.#shared
    const cost = costOfUnfinishedBody(time.nowMs() - sinceMs)
    // A network that fails under many requests of a merchant must not shut it out.
    if (this.isKnown) charges.chargeWithinAllowance(this.#key, cost)
    else charges.charge(this.#key, cost)
  }

  /** The body is too large: what was read of it after the answer is charged beside it. */
  endDiscarding({ bytes, isWhole }: { bytes: number; isWhole: boolean }): void {
    this.charge((costs.discardedMebibyte * bytes) / (1024 * 1024))
    this.endReceiving({ isWhole })
  }

  /** When the body is there. */
  startWork(): void {
    this.#refuseCharged()
    this.#workingSlot = this.#shared.working.take(this.#key) ?? this.#refuseFull()
  }

  /**
   * Opens the envelope, an unknown address's in its turn. One that is not opened is charged, and so is one that is so
   * broken that it cannot even be tried.
   */
  async open<Opened>(open: () => Promise<Opened | undefined>): Promise<Opened | undefined> {
    const { charges, know, time } = this.#shared
    const endTurn = this.isKnown ? undefined : await this.#turn()
    try {
      // It may have used up its allowance while it waited.
      if (endTurn) this.#refuseCharged()
      const opened = await refuseInConstantTime(open, time)
      if (opened === undefined) charges.chargeWithinAllowance(this.#key, costs.notOpened)
      else know(this.#key)
      return opened
    } catch (error) {
      if (isSendersFault(error)) {
        charges.chargeWithinAllowance(this.#key, costs.untried)
        // What is refused before it is tried gives its turn back no sooner than what is tried.
        if (endTurn) await new Promise<void>((resolve) => time.startTimer(refusalMs, resolve))
      }
      throw error
    } finally {
      endTurn?.()
    }
  }

  /** Only after the envelope was opened: nobody uses up what belongs to another. */
  takeMerchantRate(merchant: RatedMerchant): void {
    const { merchants, merchantRequestsPerSecond, now } = this.#shared
    const perSecond = merchant.requestsPerSecond ?? merchantRequestsPerSecond
    const waitMs = merchants.take(merchant.merchantId, { perSecond, burst: perSecond }, now())
    if (waitMs > 0) this.#refuseTooMany('merchant_rate', waitMs)
  }

  /** Of an ordinary page: 0, or how many milliseconds to wait. */
  takePageRate(): number {
    const waitMs = this.#shared.pages.take(this.#key)
    if (waitMs > 0) this.#shared.onShed('page_rate')
    return waitMs
  }

  /** What ends the turn, an unknown address's after some waiting; undefined: too many wait. */
  async pageTurn(): Promise<(() => void) | undefined> {
    if (this.isKnown) return () => {}
    const end = await this.#shared.pageTurns.turn(this.#key)
    if (!end) this.#shared.onShed('unknown_addresses')
    return end
  }

  charge(envelopes: number): void {
    this.#shared.charges.charge(this.#key, envelopes)
  }

  /** The work is done, whoever still waits for the answer. */
  end(): void {
    this.#giveBackReceiving()
    this.#workingSlot?.()
  }

  /**
   * Ends with a refusal, about a second late, and whoever does not wait for it loses the connection: a refusal takes
   * so little that answering a flood as fast as it comes, a merchant's or an operator's too, would hold up everybody else.
   */
  async endLate(): Promise<void> {
    this.end()
    const { late, time } = this.#shared
    // A proxy's connection is not the sender's: others use it next.
    if (this.#address !== this.#socket.remoteAddress) return
    if (late.connections.has(this.#socket)) {
      this.charge(costs.notOpened)
      this.#socket.destroy()
      return
    }
    late.connections.add(this.#socket)
    const delayMs = lateMs.least + ((late.count++ * lateStep) % 1) * (lateMs.most - lateMs.least)
    await new Promise<void>((resolve) => time.startTimer(delayMs, resolve))
    late.connections.delete(this.#socket)
  }

  #giveBackReceiving(): void {
    this.#cancelDeadline?.()
    this.#receiving?.giveBack()
    this.#receiving = undefined
  }

  async #turn(): Promise<() => void> {
    return (await this.#shared.openings.turn(this.#key)) ?? this.#refuseTooMany('unknown_addresses', 1_000)
  }

  #refuseCharged(): void {
    const waitMs = this.#shared.charges.waitMs(this.#key)
    if (waitMs > 0) this.#refuseTooMany('junk', waitMs)
  }

  #refuseTooMany(reason: ShedReason, waitMs: number): never {
    this.#shared.onShed(reason)
    throw new Failure('too_many_requests', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
  }

  #refuseFull(): never {
    this.#shared.onShed('in_flight')
    throw new Failure('unavailable', { retryAfterSeconds: 1 })
  }
}

/** Not a 429: asking on costs nothing. Nor trouble of our own. */
function isSendersFault(error: unknown): boolean {
  if (!(error instanceof Failure)) return false
  const status = httpStatusOf(error.code)
  return status < 500 && status !== 429
}
