// An operation from the caller's side: attempts, retries and pauses within one time limit. Repeating any operation is
// safe, because the gateway identifies it by its numbers (orderNo, referRefundNo, paymentId). Each attempt has a new
// timestamp and signature.
import type { JsonObject, Method } from '@tillgate/protocol'
import { attempt } from './attempt.ts'
import type { Keyring } from './credentials.ts'
import { type TillgateError, TimeoutError } from './errors.ts'
import { type CallOptions, checkRetries, checkTimeout, type Settings } from './options.ts'
import { retryDelayMs } from './retry-delay.ts'

/** The body is a function of the time, so that a clock correction also corrects its times. */
export type MakeBody = (nowMs: number) => string
export type Call = (method: Method, makeBody: MakeBody, options?: CallOptions) => Promise<JsonObject>

export interface Caller {
  readonly call: Call
  /** The gateway's time, as far as known. */
  readonly now: () => number
}

export function makeCaller(keyring: Keyring, settings: Settings): Caller {
  // Learned from a gateway that rejected our time, and kept, because a wrong clock stays wrong.
  let clockOffsetMs = 0
  const now = () => settings.now() + clockOffsetMs
  return { call, now }

  async function call(method: Method, makeBody: MakeBody, options: CallOptions = {}): Promise<JsonObject> {
    const { timeoutMs = settings.timeoutMs, maxRetries = settings.maxRetries, signal } = options
    checkTimeout('timeoutMs', timeoutMs)
    checkRetries(maxRetries)
    signal?.throwIfAborted()
    const endsAtMs = settings.now() + timeoutMs
    let body = makeBody(now())
    let clockIsCorrected = false
    for (let retries = 0; ; retries++) {
      const outcome = await attemptWithin(method, body, { remainingMs: endsAtMs - settings.now(), signal })
      switch (outcome.kind) {
        case 'answered':
          return outcome.data
        case 'refused':
          throw outcome.error
        case 'wrong_clock':
          if (clockIsCorrected || outcome.gatewayTimeMs === undefined) throw outcome.error
          clockOffsetMs = outcome.gatewayTimeMs - settings.now()
          clockIsCorrected = true
          // No request was accepted yet, so the body may have other times.
          body = makeBody(now())
          break
        case 'retryable':
          if (retries >= maxRetries) throw outcome.error
          await pause(retryDelayMs({ ...outcome, retries, random: settings.random() }), outcome.error)
      }
    }

    /** Fails at once if the pause would exceed the time limit. */
    async function pause(delayMs: number, error: TillgateError): Promise<void> {
      if (settings.now() + delayMs >= endsAtMs) throw error
      await settings.wait(delayMs, signal ?? neverAborted)
      signal?.throwIfAborted()
    }
  }

  async function attemptWithin(
    method: Method,
    body: string,
    { remainingMs, signal }: { remainingMs: number; signal: AbortSignal | undefined },
  ) {
    if (remainingMs <= 0) throw new TimeoutError('The call timed out.')
    const limitMs = Math.min(settings.attemptTimeoutMs, remainingMs)
    const timeout = AbortSignal.timeout(Math.ceil(limitMs))
    const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout])
    try {
      const request = { method, body, timestamp: Math.round(now()) }
      return await attempt(request, { keyring, fetch: settings.fetch, signal: either })
    } catch (cause) {
      signal?.throwIfAborted()
      if (!timeout.aborted) throw cause
      const message = `The gateway at ${keyring.gatewayUrl.origin} did not respond within ${Math.ceil(limitMs)} ms.`
      return { kind: 'retryable', error: new TimeoutError(message, { cause }) } as const
    }
  }
}

const neverAborted = new AbortController().signal
