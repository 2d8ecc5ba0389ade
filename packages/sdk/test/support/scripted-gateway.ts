// A gateway for unit tests: it opens every request as the real one does and answers what the test scripted, one
// entry a request or download. Time stands still but for the waits, which pass at once and are noted.
import {
  Failure,
  type FailureName,
  failureAnswer,
  httpStatusOf,
  openRequest,
  parseRequestEnvelope,
  successAnswer,
} from '@tillgate/protocol'
import type { ClientOptions, Fetch } from '../../src/options.ts'
import { Tillgate } from '../../src/tillgate.ts'
import { credentials, parsed } from './credentials.ts'

export type Scripted =
  | { readonly data: object }
  | {
      readonly failure: FailureName
      readonly field?: string
      readonly retryAfterSeconds?: number
      readonly date?: Date
    }
  | { readonly httpStatus: number; readonly text: string; readonly headers?: Record<string, string> }
  | { readonly networkError: string }
  | { readonly hangs: true }

export interface SeenRequest {
  readonly url: string
  readonly method: string
  readonly timestamp: number
  readonly sign: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
  readonly body: any
}

export function scriptedGateway(script: readonly Scripted[], options: ClientOptions = {}) {
  const requests: SeenRequest[] = []
  const waits: number[] = []
  let nowMs = 1_760_000_000_000
  const pending = [...script]

  const fetch: Fetch = async (url, init) => {
    if (init.method === 'POST') await open(url, init.body ?? '')
    const next = pending.shift()
    if (next === undefined) throw new Error('more requests came than were scripted')
    return respond(next, init.signal)
  }

  async function open(url: string, text: string): Promise<void> {
    const envelope = parseRequestEnvelope(text)
    const plain = await openRequest(envelope, {
      aesKeys: [parsed.aesKey],
      publicKeys: [parsed.merchantPublicKey],
    })
    if (plain === undefined) throw new Error('the test’s gateway could not open the request')
    const { method, timestamp, sign } = envelope
    requests.push({ url, method, timestamp: Number(timestamp), sign, body: JSON.parse(plain) })
  }

  const client: ClientOptions = {
    fetch,
    now: () => nowMs,
    random: () => 0,
    wait: async (durationMs, signal) => {
      signal.throwIfAborted()
      waits.push(durationMs)
      nowMs += durationMs
    },
    ...options,
  }
  return { tillgate: new Tillgate({ ...credentials, ...client }), client, requests, waits }
}

async function respond(scripted: Scripted, signal: AbortSignal) {
  if ('networkError' in scripted) {
    throw new TypeError('fetch failed', {
      cause: Object.assign(new Error('x'), { code: scripted.networkError }),
    })
  }
  if ('hangs' in scripted) {
    signal.throwIfAborted()
    return new Promise<never>((_, reject) => {
      // A real socket keeps the process alive; the timer of the call alone does not.
      const socket = setInterval(() => {}, 1000)
      signal.addEventListener('abort', () => {
        clearInterval(socket)
        reject(signal.reason)
      })
    })
  }
  if ('httpStatus' in scripted) return response(scripted.httpStatus, scripted.text, scripted.headers)
  if ('data' in scripted) return response(200, JSON.stringify(successAnswer(scripted.data)))
  const failure = new Failure(scripted.failure, scripted)
  return response(httpStatusOf(failure.code), JSON.stringify(failureAnswer(failure, 'request-1')), {
    ...(scripted.retryAfterSeconds !== undefined && { 'retry-after': String(scripted.retryAfterSeconds) }),
    ...(scripted.date && { date: scripted.date.toUTCString() }),
  })
}

function response(status: number, text: string, headers: Record<string, string> = {}) {
  const found = new Headers(headers)
  return { status, headers: { get: (name: string) => found.get(name) }, text: async () => text }
}
