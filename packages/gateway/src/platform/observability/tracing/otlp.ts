// Encodes spans as OTLP over HTTP in JSON, for an OpenTelemetry collector.

export interface FinishedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: SpanKind
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly isGood: boolean
  readonly attributes: Attributes
}

export type Attributes = Readonly<Record<string, string | number>>
export type SpanKind = 'internal' | 'server' | 'client'

const kindNumbers = { internal: 1, server: 2, client: 3 } as const satisfies Record<SpanKind, number>
const statusError = 2

export function encodeSpans(spans: readonly FinishedSpan[], resource: Attributes): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(resource) },
        scopeSpans: [{ scope: { name: 'tillgate' }, spans: spans.map(encodeSpan) }],
      },
    ],
  })
}

function encodeSpan(span: FinishedSpan) {
  const { traceId, spanId, parentSpanId, name, kind, isGood } = span
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: kindNumbers[kind],
    startTimeUnixNano: nanoseconds(span.startedAtMs),
    endTimeUnixNano: nanoseconds(span.endedAtMs),
    attributes: encodeAttributes(span.attributes),
    status: isGood ? {} : { code: statusError },
  }
}

function encodeAttributes(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
}

/** Text, because nanoseconds exceed a number's precision. */
function nanoseconds(ms: number): string {
  return `${BigInt(Math.round(ms * 1_000)) * 1_000n}`
}
