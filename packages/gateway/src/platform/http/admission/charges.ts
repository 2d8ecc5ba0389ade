// What addresses cost the gateway for nothing, one account for each. The unit is an envelope that cannot be opened,
// half a millisecond of work; an allowance takes a minute to come in. Past its allowance an address is answered 429,
// past twice its allowance it is shut out: its connections are cut and no new ones are accepted.
import type { Socket } from 'node:net'
import type { Clock } from '../../runtime/clock.ts'
import { type Allowance, TokenBuckets } from '../../runtime/token-bucket.ts'

/** In envelopes. */
export const costs = {
  notOpened: 1,
  /** Refused for what it looks like, or how old it is. */
  untried: 0.1,
  tooLarge: 1,
  /** Of what is read for nothing of a body that is too large. */
  discardedMebibyte: 1,
  brokenHttp: 1,
  /** A connection that is opened, kept and cut for nothing takes a tenth of the time. */
  silence: 0.1,
  /** A request of an unknown address that did not come in time. */
  slow: 1,
} as const
/** A body that did not come whole costs an envelope for each so long that it was waited for. */
const bodyMsPerEnvelope = 5_000

const maxAddresses = 100_000
const allowanceMs = 60_000
/** Envelopes that stay closed are charged up to here, so that other costs beside them still shut nobody out. */
const withinAllowanceMs = 30_000

export type BrokenHttp = Error & { readonly code?: string; readonly reason?: string }

/** What it costs its address. A known one is not charged for being slow here, only where its body is received. */
export function costOfBrokenHttp(
  error: BrokenHttp,
  connection: Pick<Socket, 'bytesRead'> & { readonly isKnown: boolean },
): number {
  const { code = '' } = error
  if (code.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE') return costs.brokenHttp
  if (isSilence(error, connection)) return costs.silence
  return isTooSlow(error) && !connection.isKnown ? costs.slow : 0
}

/** Timed out or broken off. */
export function costOfUnfinishedBody(waitedMs: number): number {
  return Math.max(costs.untried, waitedMs / bodyMsPerEnvelope)
}

export function isTooSlow({ code }: BrokenHttp): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT'
}

/** It never said anything. */
export function isSilence(error: BrokenHttp, { bytesRead }: Pick<Socket, 'bytesRead'>): boolean {
  return isTooSlow(error) && bytesRead === 0
}

export interface ChargesOptions {
  readonly envelopesPerMinute: number
  readonly clock: Pick<Clock, 'now'>
  readonly onShutOut: (key: string) => void
}

/** By the key of an address. */
export class Charges {
  readonly #buckets = new TokenBuckets({ maxBuckets: maxAddresses })
  readonly #options: ChargesOptions
  readonly #allowance: Allowance

  constructor(options: ChargesOptions) {
    this.#options = options
    const burst = options.envelopesPerMinute
    this.#allowance = { perSecond: (burst * 1_000) / allowanceMs, burst }
  }

  /** Requests that came at the same time all count. */
  charge(key: string, envelopes: number): void {
    const wasShutOut = this.isShutOut(key)
    this.#take(key, envelopes)
    if (wasShutOut || !this.isShutOut(key)) return
    // For a minute at least: an address that may come back every second does its worst every second.
    this.#take(key, this.#allowance.burst)
    this.#options.onShutOut(key)
  }

  /** Never shuts out, however many requests were under way: for what a merchant with a revoked key does. */
  chargeWithinAllowance(key: string, envelopes: number): void {
    const costMs = (envelopes * allowanceMs) / this.#allowance.burst
    const waitMs = this.waitMs(key)
    if (waitMs === 0 || waitMs + costMs <= withinAllowanceMs) this.#take(key, envelopes)
  }

  /** For what nobody does by mistake. */
  shutOut(key: string): void {
    this.charge(key, 2 * this.#allowance.burst)
  }

  isShutOut(key: string): boolean {
    return this.waitMs(key) > allowanceMs
  }

  /** 0, or in how many milliseconds the address is within its allowance again. */
  waitMs(key: string): number {
    // Nobody was charged lately: the usual case.
    if (this.#buckets.size === 0) return 0
    return this.#buckets.waitMs(key, this.#allowance, this.#options.clock.now())
  }

  #take(key: string, envelopes: number): void {
    this.#buckets.charge(key, this.#allowance, this.#options.clock.now(), envelopes)
  }
}
