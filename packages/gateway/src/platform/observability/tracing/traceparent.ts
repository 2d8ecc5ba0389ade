// Parses the W3C header `traceparent`.

export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

const pattern = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampledBit = 1

/** Returns undefined for a missing or invalid header; then a new trace starts. */
export function parseTraceParent(header: unknown): TraceParent | undefined {
  const found = typeof header === 'string' ? pattern.exec(header) : undefined
  if (!found) return undefined
  const [, traceId = '', spanId = '', flags = '', rest] = found
  const isVersionZero = header === undefined || String(header).startsWith('00')
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId) || (isVersionZero && rest !== undefined)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledBit) === sampledBit }
}
