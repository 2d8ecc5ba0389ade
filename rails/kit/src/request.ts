// Requests to a provider without its SDK: limited in time, and repeated once if the outcome is unknown.
import { maxSettlementLines } from '@tillgate/protocol'
import { type ProviderLine, ProviderUnavailable } from './provider.ts'

/** The provider rejected the request, so nothing was done. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: string

  constructor(message: string, code = '') {
    super(message)
    this.code = code
  }
}

/** Queries of existing objects succeed; a rejection means that the account is misconfigured. */
export const asUnavailable = (error: unknown) =>
  error instanceof Refused ? new ProviderUnavailable(error.message, { cause: error }) : error

/** Two attempts fit in the 10 seconds that the gateway waits. */
const callTimeoutMs = 4_000
const tries = 2

/** Only for calls that are safe to repeat. */
export async function twice<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let left = tries - 1; ; left--)
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ProviderUnavailable) || left === 0) throw error
    }
}

export interface ProviderResponse {
  readonly ok: boolean
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
}

export async function request(
  provider: string,
  url: string | URL,
  init: RequestInit,
  timeoutMs = callTimeoutMs,
): Promise<ProviderResponse> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { redirect: 'error', signal, ...init })
    const { ok, status, headers } = response
    return { ok, status, headers, bytes: Buffer.from(await response.arrayBuffer()) }
  } catch (cause) {
    throw new ProviderUnavailable(`${provider} cannot be reached`, { cause })
  }
}

/** Undefined if the text is not JSON of an object. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** A page of a report that was read as a whole. `next` is the number of lines before the next page. */
export function pageOf(all: readonly ProviderLine[], from: number) {
  const to = from + maxSettlementLines
  return { lines: all.slice(from, to), next: to < all.length ? String(to) : undefined }
}

export function missingColumn(heading: string): never {
  throw new ProviderUnavailable(`the report has no column ${heading}`)
}
