// Admits one request in stages: receive the body, start work, open the envelope, apply the merchant's rate, end. Each
// stage throws if it rejects the request, and cheap checks come first.
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
  /** Defaults to the gateway's rate. */
  readonly requestsPerSecond: number | undefined
}

export interface AdmissionShared {
  /** Each request being received holds up to one body in memory. */
  readonly receiving: Slots
  readonly working: Slots
  readonly charges: Charges
  readonly openings: OpeningQueue
  readonly pages: RateLimiter
  readonly pageTurns: PageQueue
  readonly merchants: TokenBuckets
  readonly merchantRequestsPerSecond: number
  /** Connections whose rejection is delayed, and how many delays were assigned. */
  readonly late: { readonly connections: WeakSet<Socket>; count: number }
  readonly isKnown: (key: string) => boolean
  readonly know: (key: string) => void
  readonly now: () => number
  readonly time: MachineTime
  readonly onShed: (reason: ShedReason) => void
}

/**
 * Delays a rejection whose sender would otherwise repeat it immediately. Delays vary, because clients that are
 * rejected together would return together.
 */
export const lateMs = { least: 500, most: 1_500 } as const
/** Steps by the golden ratio spread the delays evenly. */
const lateStep = 0.618
/**
 * The time for an unknown address to send its body. It shrinks as slots fill, so that requests that came together do
 * not expire together. Known addresses have the full request time.
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

  get address(): string {
    return this.#address
  }

  get isKnown(): boolean {
    return this.#shared.isKnown(this.#key)
  }

  get isReceiving(): boolean {
    return this.#receiving !== undefined
  }

  /** Runs before anything is read. `onTimeout` responds to a late body and cuts the connection. */
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

  /** Charges an incomplete body by the time spent waiting for it. */
  endReceiving({ isWhole }: { isWhole: boolean }): void {
    if (!this.#receiving) return
    const { sinceMs } = this.#receiving
    this.#giveBackReceiving()
    if (isWhole) return
    const { charges, time } = this.#shared
    const cost = costOfUnfinishedBody(time.nowMs() - sinceMs)
    // A failing network with many concurrent requests must not shut a merchant out.
    if (this.isKnown) charges.chargeWithinAllowance(this.#key, cost)
    else charges.charge(this.#key, cost)
  }

  /** Charges what was read of an oversized body after the response. */
  endDiscarding({ bytes, isWhole }: { bytes: number; isWhole: boolean }): void {
    this.charge((costs.discardedMebibyte * bytes) / (1024 * 1024))
    this.endReceiving({ isWhole })
  }

  startWork(): void {
    this.#refuseCharged()
    this.#workingSlot = this.#shared.working.take(this.#key) ?? this.#refuseFull()
  }

  /** Opens the envelope, queued for unknown addresses. Charges envelopes that cannot be opened or parsed. */
  async open<Opened>(open: () => Promise<Opened | undefined>): Promise<Opened | undefined> {
    const { charges, know, time } = this.#shared
    const endTurn = this.isKnown ? undefined : await this.#turn()
    try {
      // The address may have used up its allowance while it waited.
      if (endTurn) this.#refuseCharged()
      const opened = await refuseInConstantTime(open, time)
      if (opened === undefined) charges.chargeWithinAllowance(this.#key, costs.notOpened)
      else know(this.#key)
      return opened
    } catch (error) {
      if (isSendersFault(error)) {
        charges.chargeWithinAllowance(this.#key, costs.untried)
        // An early rejection keeps its turn as long as an attempted one.
        if (endTurn) await new Promise<void>((resolve) => time.startTimer(refusalMs, resolve))
      }
      throw error
    } finally {
      endTurn?.()
    }
  }

  /** Runs after the envelope is opened, so that no client can use up another merchant's rate. */
  takeMerchantRate(merchant: RatedMerchant): void {
    const { merchants, merchantRequestsPerSecond, now } = this.#shared
    const perSecond = merchant.requestsPerSecond ?? merchantRequestsPerSecond
    const waitMs = merchants.take(merchant.merchantId, { perSecond, burst: perSecond }, now())
    if (waitMs > 0) this.#refuseTooMany('merchant_rate', waitMs)
  }

  /** Returns 0 or the milliseconds to wait. */
  takePageRate(): number {
    const waitMs = this.#shared.pages.take(this.#key)
    if (waitMs > 0) this.#shared.onShed('page_rate')
    return waitMs
  }

  /** Returns the function that ends the turn; undefined if too many requests wait. */
  async pageTurn(): Promise<(() => void) | undefined> {
    if (this.isKnown) return () => {}
    const end = await this.#shared.pageTurns.turn(this.#key)
    if (!end) this.#shared.onShed('unknown_addresses')
    return end
  }

  charge(envelopes: number): void {
    this.#shared.charges.charge(this.#key, envelopes)
  }

  end(): void {
    this.#giveBackReceiving()
    this.#workingSlot?.()
  }

  /**
   * Sends a rejection about a second late and cuts clients that do not wait. Rejections are so cheap to request that
   * instant responses to a flood would block all other clients.
   */
  async endLate(): Promise<void> {
    this.end()
    const { late, time } = this.#shared
    // A proxy's connection is shared with other clients.
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

/** A 429 costs nothing and may be repeated; our own errors are not the sender's fault. */
function isSendersFault(error: unknown): boolean {
  if (!(error instanceof Failure)) return false
  const status = httpStatusOf(error.code)
  return status < 500 && status !== 429
}
