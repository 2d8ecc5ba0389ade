// Polls until a state is final, at growing intervals. Temporary errors do not end the wait; other errors do.
import {
  ConnectionError,
  RateLimitError,
  type TillgateError,
  TimeoutError,
  UnavailableError,
} from './errors.ts'
import { type CallOptions, checkTimeout, type Settings } from './options.ts'

const firstPauseMs = 500
const maxPauseMs = 5_000
const growth = 1.5
const defaultTimeoutMs = 15 * 60_000

export interface WaitOptions {
  /** Cancels the wait, which rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** The time limit, after which a TimeoutError is thrown. 15 minutes by default. */
  readonly timeoutMs?: number
}

export interface Observation<T> {
  readonly value: T
  readonly status: string
  readonly isFinal: boolean
}

export async function pollUntil<T>(
  observe: (options: CallOptions) => Promise<Observation<T>>,
  { now, wait, timeoutMs: callTimeoutMs }: Settings,
  { signal = new AbortController().signal, timeoutMs = defaultTimeoutMs }: WaitOptions = {},
): Promise<T> {
  checkTimeout('timeoutMs', timeoutMs)
  const endsAtMs = now() + timeoutMs
  let last: { status?: string; error?: TillgateError } = {}
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * growth)) {
    signal.throwIfAborted()
    try {
      const remainingMs = Math.max(1, endsAtMs - now())
      const observation = await observe({ signal, timeoutMs: Math.min(callTimeoutMs, remainingMs) })
      if (observation.isFinal) return observation.value
      last = { status: observation.status }
    } catch (error) {
      if (!isPassing(error)) throw error
      last = { ...last, error }
    }
    if (now() + pauseMs >= endsAtMs) throw tooLate(timeoutMs, last)
    await wait(pauseMs, signal)
  }
}

function isPassing(error: unknown): error is TillgateError {
  return (
    error instanceof ConnectionError || error instanceof UnavailableError || error instanceof RateLimitError
  )
}

function tooLate(
  timeoutMs: number,
  { status, error }: { status?: string; error?: TillgateError },
): TimeoutError {
  const seen = status === undefined ? 'the gateway could not be asked' : `the last status seen was ${status}`
  return new TimeoutError(`No final status within ${timeoutMs} ms: ${seen}.`, error && { cause: error })
}
