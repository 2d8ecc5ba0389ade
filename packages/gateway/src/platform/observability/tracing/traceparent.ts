// The W3C header `traceparent`: which trace a request belongs to, and whether it is being recorded.

export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

const pattern = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampledBit = 1

/** Undefined where there is none, or what is there is not one: then a trace of our own begins. */
export function parseTraceParent(header: unknown): TraceParent | undefined {
  const found = typeof header === 'string' ? pattern.exec(header) : undefined
  if (!found) return undefined
  const [, traceId = '', spanId = '', flags = '', rest] = found
  const isVersionZero = header === undefined || String(header).startsWith('00')
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId) || (isVersionZero && rest !== undefined)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledBit) === sampledBit }
}
