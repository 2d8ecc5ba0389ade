// Charges each address for wasted work. The unit is one unopenable envelope (0.5 ms); the allowance refills in a
// minute. Above it, the address gets 429. Above twice the allowance, its connections are cut and refused.
import type { Socket } from 'node:net'
import type { Clock } from '../../runtime/clock.ts'
import { type Allowance, TokenBuckets } from '../../runtime/token-bucket.ts'

/** The unit is one unopenable envelope. */
export const costs = {
  notOpened: 1,
  /** Rejected by its form or age. */
  untried: 0.1,
  tooLarge: 1,
  /** Oversized bodies, per MiB that was read in vain. */
  discardedMebibyte: 1,
  brokenHttp: 1,
  /** An idle connection that is cut costs a tenth of the time. */
  silence: 0.1,
  slow: 1,
} as const
/** An incomplete body costs one envelope per period that the gateway waited. */
const bodyMsPerEnvelope = 5_000

const maxAddresses = 100_000
const allowanceMs = 60_000
/** Envelopes that cannot be opened are charged up to this point, so that other costs alone never block the address. */
const withinAllowanceMs = 30_000

export type BrokenHttp = Error & { readonly code?: string; readonly reason?: string }

/** Known addresses are charged for slowness only where the body is received. */
export function costOfBrokenHttp(
  error: BrokenHttp,
  connection: Pick<Socket, 'bytesRead'> & { readonly isKnown: boolean },
): number {
  const { code = '' } = error
  if (code.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE') return costs.brokenHttp
  if (isSilence(error, connection)) return costs.silence
  return isTooSlow(error) && !connection.isKnown ? costs.slow : 0
}

export function costOfUnfinishedBody(waitedMs: number): number {
  return Math.max(costs.untried, waitedMs / bodyMsPerEnvelope)
}

export function isTooSlow({ code }: BrokenHttp): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT'
}

export function isSilence(error: BrokenHttp, { bytesRead }: Pick<Socket, 'bytesRead'>): boolean {
  return isTooSlow(error) && bytesRead === 0
}

export interface ChargesOptions {
  readonly envelopesPerMinute: number
  readonly clock: Pick<Clock, 'now'>
  readonly onShutOut: (key: string) => void
}

export class Charges {
  readonly #buckets = new TokenBuckets({ maxBuckets: maxAddresses })
  readonly #options: ChargesOptions
  readonly #allowance: Allowance

  constructor(options: ChargesOptions) {
    this.#options = options
    const burst = options.envelopesPerMinute
    this.#allowance = { perSecond: (burst * 1_000) / allowanceMs, burst }
  }

  charge(key: string, envelopes: number): void {
    const wasShutOut = this.isShutOut(key)
    this.#take(key, envelopes)
    if (wasShutOut || !this.isShutOut(key)) return
    // For at least a minute: a shorter block would let the address attack again after every second.
    this.#take(key, this.#allowance.burst)
    this.#options.onShutOut(key)
  }

  /** Never shuts out, however many requests were in progress, such as those of a merchant with a revoked key. */
  chargeWithinAllowance(key: string, envelopes: number): void {
    const costMs = (envelopes * allowanceMs) / this.#allowance.burst
    const waitMs = this.waitMs(key)
    if (waitMs === 0 || waitMs + costMs <= withinAllowanceMs) this.#take(key, envelopes)
  }

  /** Shuts out an address for abuse that cannot happen by mistake. */
  shutOut(key: string): void {
    this.charge(key, 2 * this.#allowance.burst)
  }

  isShutOut(key: string): boolean {
    return this.waitMs(key) > allowanceMs
  }

  /** Returns 0 or the milliseconds until the address is within its allowance. */
  waitMs(key: string): number {
    if (this.#buckets.size === 0) return 0
    return this.#buckets.waitMs(key, this.#allowance, this.#options.clock.now())
  }

  #take(key: string, envelopes: number): void {
    this.#buckets.charge(key, this.#allowance, this.#options.clock.now(), envelopes)
  }
}
