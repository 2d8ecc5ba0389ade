// Options of a client and of a single call, with their defaults, and the parts of the outside world that tests replace.
import { setTimeout as delay } from 'node:timers/promises'

/** For one call; the client's options are the defaults. */
export interface CallOptions {
  /** Cancels the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** For the whole call, including retries and pauses. 30 seconds by default. */
  readonly timeoutMs?: number
  /** The number of retries. 4 by default; 0 disables them. */
  readonly maxRetries?: number
}

/** The part of the standard `fetch` that the SDK uses. */
export type Fetch = (
  url: string,
  init: {
    readonly method: 'POST' | 'GET'
    readonly headers: Record<string, string>
    readonly body?: string
    readonly redirect: 'manual'
    readonly signal: AbortSignal
  },
) => Promise<{
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}>

export interface ClientOptions {
  /** For a whole call, including retries and pauses. 30 seconds by default. */
  readonly timeoutMs?: number
  /** The number of retries. 4 by default; 0 disables them. */
  readonly maxRetries?: number
  /** For one attempt. 10 seconds by default. */
  readonly attemptTimeoutMs?: number
  /** A replacement for sending, such as through a proxy. The global `fetch` by default. */
  readonly fetch?: Fetch
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** From 0 to 1, for the jitter between retries. */
  readonly random?: () => number
  /** Resolves after that many milliseconds; rejects if the signal is aborted. */
  readonly wait?: (durationMs: number, signal: AbortSignal) => Promise<void>
}

export type Settings = Required<ClientOptions>

const defaults: Settings = {
  timeoutMs: 30_000,
  maxRetries: 4,
  attemptTimeoutMs: 10_000,
  // Looked up on every call, so that a later replacement of the global `fetch` is used.
  fetch: (url, init) => globalThis.fetch(url, init),
  now: Date.now,
  random: Math.random,
  wait: async (durationMs, signal) => {
    // The AbortError of the timer would hide the caller's reason.
    await delay(durationMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  },
}

export function withDefaults(options: ClientOptions): Settings {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const settings: Settings = { ...defaults, ...Object.fromEntries(given) }
  for (const name of ['timeoutMs', 'attemptTimeoutMs'] as const) checkTimeout(name, settings[name])
  checkRetries(settings.maxRetries)
  return settings
}

// Timers count in 31 bits; a longer one would fire at once.
const maxTimeoutMs = 2 ** 31 - 1

export function checkTimeout(name: string, value: number): void {
  if (!(Number.isFinite(value) && value > 0 && value <= maxTimeoutMs)) {
    throw new RangeError(`${name} must be from 1 to ${maxTimeoutMs} milliseconds`)
  }
}

export function checkRetries(value: number): void {
  if (!(Number.isInteger(value) && value >= 0 && value <= 100)) {
    throw new RangeError('maxRetries must be a whole number from 0 to 100')
  }
}
