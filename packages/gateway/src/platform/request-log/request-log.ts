// Stores rejected and slow requests by requestId. Entries are collected in memory, written in batches outside
// requests, and limited to some thousands a day.
import type { Clock } from '../runtime/clock.ts'
import { type Allowance, TokenBuckets } from '../runtime/token-bucket.ts'
import type { LoggedRequest, RequestLogStore } from './store/request-log.ts'

/** A minimum, because whole days are deleted. */
export const requestLogDays = 7
export const slowMs = 1_000
const maxFieldLength = 160
const maxMessageLength = 500

/** Entries per category: an initial burst, then a daily rate. */
export const requestLogAllowances = {
  merchant: { burst: 1_000, perSecond: 0.1 },
  allMerchants: { burst: 10_000, perSecond: 1 },
  /** Unopenable envelopes of any sender. */
  closed: { burst: 1_000, perSecond: 0.1 },
  /** Pages, the admin API, and invalid HTTP. */
  other: { burst: 500, perSecond: 0.05 },
} as const satisfies Record<string, Allowance>
const maxMerchants = 100_000

export interface AnsweredRequest {
  readonly requestId: string
  readonly verb: string
  readonly route: string
  readonly httpStatus: number
  readonly durationMs: number
  readonly failure?: { readonly code: number; readonly field?: string; readonly message?: string } | undefined
  readonly api?: {
    readonly operation: string | undefined
    readonly merchantId: string | undefined
    readonly isOpened: boolean
  }
}

export type RequestLog = ReturnType<typeof makeRequestLog>

export function makeRequestLog({ store, clock }: { store: RequestLogStore; clock: Clock }) {
  const lines = new TokenBuckets({ maxBuckets: maxMerchants })
  let gathered: LoggedRequest[] = []
  let leftOut = 0

  return {
    note(request: AnsweredRequest): void {
      if (!isKept(request)) return
      if (hasLine(request)) gathered.push(toLogged(request, clock.now()))
      else leftOut++
    },

    /** Returns how many entries were dropped since the last call. Entries that cannot be written are lost. */
    async write(): Promise<{ leftOut: number }> {
      const summary = { leftOut }
      const requests = gathered
      gathered = []
      leftOut = 0
      if (requests.length > 0) await store.record(requests)
      return summary
    },
  }

  function hasLine({ api }: AnsweredRequest): boolean {
    const take = (name: keyof typeof requestLogAllowances, key: string = name) =>
      lines.take(key, requestLogAllowances[name], clock.now()) === 0
    if (api?.isOpened) return take('merchant', `merchant ${api.merchantId}`) && take('allMerchants')
    return take(api ? 'closed' : 'other')
  }
}

/** Unavailable responses come by the thousands, and nothing was processed. */
function isKept({ httpStatus, durationMs, api }: AnsweredRequest): boolean {
  if (httpStatus === 429 || httpStatus === 503) return api?.isOpened === true
  const isSlow = api !== undefined && durationMs >= slowMs && api.operation !== 'service.sandbox.listen'
  return httpStatus >= 400 || isSlow
}

function toLogged(request: AnsweredRequest, nowMs: number): LoggedRequest {
  const { requestId, verb, route, httpStatus, failure, api } = request
  return {
    requestId,
    answeredAtMs: nowMs,
    merchantId: api?.merchantId,
    isOpened: api?.isOpened ?? false,
    verb,
    route,
    method: api?.operation,
    httpStatus,
    code: failure?.code,
    field: storable(failure?.field, maxFieldLength),
    message: storable(failure?.message, maxMessageLength),
    durationMs: Math.round(request.durationMs),
  }
}

/** The text may repeat a sender's input. */
function storable(text: string | undefined, maxLength: number): string | undefined {
  return text
    ?.slice(0, maxLength)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '\ufffd')
}
