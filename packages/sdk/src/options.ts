// What can be set about a client and about a single call, with the defaults, and the parts of the outside world
// that tests replace.
import { setTimeout as delay } from 'node:timers/promises'

/** For one call; what is left out is the client's. */
export interface CallOptions {
  /** Gives the call up; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** For the whole call, its retries and the waits between them included. 30 seconds when left out. */
  readonly timeoutMs?: number
  /** How often a call is repeated after the first attempt. 4 when left out; 0 turns retries off. */
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
  /** For a whole call, its retries and the waits between them included. 30 seconds when left out. */
  readonly timeoutMs?: number
  /** How often a call is repeated after the first attempt. 4 when left out; 0 turns retries off. */
  readonly maxRetries?: number
  /** For one attempt. 10 seconds when left out. */
  readonly attemptTimeoutMs?: number
  /** Another way to send, such as through a proxy. The global `fetch` when left out. */
  readonly fetch?: Fetch
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** From 0 to 1, for the jitter between retries. */
  readonly random?: () => number
  /** Resolves after so many milliseconds; rejects when the signal is aborted. */
  readonly wait?: (durationMs: number, signal: AbortSignal) => Promise<void>
}

export type Settings = Required<ClientOptions>

const defaults: Settings = {
  timeoutMs: 30_000,
  maxRetries: 4,
  attemptTimeoutMs: 10_000,
  // Looked up on every call, so that a global `fetch` replaced later is the one that is used.
  fetch: (url, init) => globalThis.fetch(url, init),
  now: Date.now,
  random: Math.random,
  wait: async (durationMs, signal) => {
    // Its own AbortError would hide the caller's reason.
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

// Timers count in 31 bits; more would fire at once.
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
