// One attempt at an operation: seal, send, read the response. Network failures are returned as values; the caller
// decides about retries.
import {
  type Answer,
  failures,
  gatewayPath,
  inexactNumberText,
  type Json,
  type JsonObject,
  type Method,
  methods,
  parseAnswer,
  sealRequest,
  successCode,
} from '@tillgate/protocol'
import type { Keyring } from './credentials.ts'
import {
  ConnectionError,
  errorOfCode,
  type TillgateError,
  UnavailableError,
  UnexpectedAnswerError,
} from './errors.ts'
import type { Fetch } from './options.ts'

export interface Request {
  readonly method: Method
  readonly body: string
  readonly timestamp: number
}

export type AttemptOutcome =
  | { readonly kind: 'answered'; readonly data: JsonObject }
  /** A retry cannot help, or it is unknown whether it can. */
  | { readonly kind: 'refused'; readonly error: TillgateError }
  | { readonly kind: 'retryable'; readonly error: TillgateError; readonly retryAfterMs?: number }
  | { readonly kind: 'wrong_clock'; readonly error: TillgateError; readonly gatewayTimeMs?: number }

export async function attempt(
  request: Request,
  { keyring, fetch, signal }: { keyring: Keyring; fetch: Fetch; signal: AbortSignal },
): Promise<AttemptOutcome> {
  const { merchantId, aesKeys, privateKey } = keyring
  const envelope = await sealRequest({ ...request, merchantId }, { aesKey: aesKeys[0], privateKey })
  const url = addressOf(keyring.gatewayUrl, request.method)
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(envelope),
    redirect: 'manual',
    signal,
  } as const
  try {
    const response = await fetch(url, init)
    return readAnswer(await response.text(), {
      url,
      httpStatus: response.status,
      retryAfterMs: secondsToMs(response.headers.get('retry-after')),
      gatewayTimeMs: dateToMs(response.headers.get('date')),
    })
  } catch (cause) {
    // The reason of the signal's owner is better than fetch's error.
    signal.throwIfAborted()
    const message = `The gateway at ${new URL(url).origin} could not be reached: ${whyNot(cause)}.`
    return { kind: 'retryable', error: new ConnectionError(message, { cause }) }
  }
}

/** Every method except the sandbox's has a path of its own. A gatewayUrl may have a prefix, such as /cgi. */
export function addressOf(gatewayUrl: URL, method: Method): string {
  const url = new URL(gatewayUrl)
  url.pathname = url.pathname.replace(/\/+$/, '') + (methods[method].path ?? gatewayPath)
  return url.href
}

interface AnswerContext {
  readonly url: string
  readonly httpStatus: number
  readonly retryAfterMs: number | undefined
  readonly gatewayTimeMs: number | undefined
}

function readAnswer(text: string, context: AnswerContext): AttemptOutcome {
  const { httpStatus, retryAfterMs } = context
  const answer = parseOrUndefined(text)
  if (answer === undefined) return notOurs(context)
  if (answer.code === successCode) return { kind: 'answered', data: withExactNumbers(answer.data) }
  const { field, requestId } = answer.data
  const error = errorOfCode(answer.code, answer.msg, {
    field: typeof field === 'string' ? field : undefined,
    requestId: typeof requestId === 'string' ? requestId : undefined,
    httpStatus,
    retryAfterMs,
  })
  if (answer.code === failures.timestamp_outside_window.code) {
    const { gatewayTimeMs } = context
    return { kind: 'wrong_clock', error, ...(gatewayTimeMs !== undefined && { gatewayTimeMs }) }
  }
  const family = Math.floor(answer.code / 100)
  return family >= 500 || family === 429 ? retryable(error, retryAfterMs) : { kind: 'refused', error }
}

/** A proxy's page, or the wrong address. Proxies return 5xx and 429 when they cannot reach a gateway. */
function notOurs({ url, httpStatus, retryAfterMs }: AnswerContext): AttemptOutcome {
  if (httpStatus >= 500 || httpStatus === 429) {
    const message = `${new URL(url).origin} returned HTTP ${httpStatus} without a response from a gateway.`
    return retryable(new UnavailableError(message, { httpStatus, retryAfterMs }), retryAfterMs)
  }
  const hint = httpStatus >= 300 && httpStatus < 400 ? ' Redirects are not followed.' : ''
  const message = `The response from ${url} (HTTP ${httpStatus}) is not from a gateway: check gatewayUrl.${hint}`
  return { kind: 'refused', error: new UnexpectedAnswerError(message, { httpStatus }) }
}

function retryable(error: TillgateError, retryAfterMs: number | undefined): AttemptOutcome {
  return { kind: 'retryable', error, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

function parseOrUndefined(text: string): Answer | undefined {
  try {
    return parseAnswer(text)
  } catch {
    return undefined
  }
}

/** Numbers that a double does not hold become text, so that amounts are never rounded. */
function withExactNumbers(object: JsonObject): JsonObject {
  const exact = (value: Json): Json => {
    const written = inexactNumberText(value)
    if (written !== undefined) return written
    if (Array.isArray(value)) return value.map(exact)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, exact(member)]))
  }
  return exact(object) as JsonObject
}

function secondsToMs(text: string | null): number | undefined {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) * 1000 : undefined
}

function dateToMs(text: string | null): number | undefined {
  const timeMs = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

/** fetch throws "fetch failed" with the reason as its cause. */
function whyNot(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string }
  const code = cause?.code ?? (error as { code?: string }).code
  return code === undefined ? (cause?.message ?? message ?? 'unknown reason') : (reasons[code] ?? code)
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ECONNRESET: 'the connection was closed (ECONNRESET)',
  ENOTFOUND: 'host not found (ENOTFOUND)',
  EAI_AGAIN: 'DNS lookup failed (EAI_AGAIN)',
  ETIMEDOUT: 'no answer in time (ETIMEDOUT)',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was closed',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate could not be verified',
}
