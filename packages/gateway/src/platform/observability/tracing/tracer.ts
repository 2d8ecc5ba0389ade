// Records traces for an OpenTelemetry collector. Untraced requests cost nothing. Spans wait in a bounded buffer;
// spans that do not fit or that the collector rejects are counted and dropped.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import type { RandomBytes } from '@tillgate/protocol'
import type { Counter, Family } from '../metrics/registry.ts'
import { type Attributes, encodeSpans, type FinishedSpan, type SpanKind } from './otlp.ts'
import type { TraceParent } from './traceparent.ts'

export interface TracerOptions {
  /** The collector's address; spans go to `/v1/traces` below it. */
  readonly endpoint: string
  /** The share of traces to record, from 0 to 1, unless the caller decided. */
  readonly ratio: number
  readonly resource: Attributes
  readonly random: RandomBytes
  readonly spans: Family<Counter>
}

interface SpanOptions {
  readonly name: string
  readonly kind?: SpanKind
  readonly attributes?: Attributes
}

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly startedAtMs: number
}

const maxWaiting = 2_048
const batchSpans = 512
const exportEveryMs = 1_000
const exportTimeoutMs = 5_000
const lastExportMs = 2_000

export class Tracer {
  readonly #options: TracerOptions
  readonly #current = new AsyncLocalStorage<Span | undefined>()
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #waiting: FinishedSpan[] = []

  constructor(options: TracerOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  /** Starts a root span, for an incoming request or a background turn. */
  begin(parent?: TraceParent): Span | undefined {
    const isSampled = parent ? parent.isSampled : this.#chance() < this.#options.ratio
    if (!isSampled) return undefined
    return this.#open(parent?.traceId ?? this.#id(16), parent?.spanId)
  }

  run<Result>(span: Span | undefined, work: () => Result): Result {
    return span ? this.#current.run(span, work) : work()
  }

  /** Runs `work` in a child span if there is a current span. */
  async within<Result>(options: SpanOptions, work: () => Promise<Result>): Promise<Result> {
    const around = this.#current.getStore()
    if (!around) return work()
    const span = this.#open(around.traceId, around.spanId)
    let isGood = false
    try {
      const result = await this.#current.run(span, work)
      isGood = true
      return result
    } finally {
      this.end(span, { ...options, isGood })
    }
  }

  end(
    span: Span,
    { name, kind = 'internal', attributes = {}, isGood }: SpanOptions & { isGood: boolean },
  ): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#options.spans.of('dropped').add()
      return
    }
    this.#waiting.push({ ...span, name, kind, attributes, isGood, endedAtMs: nowMs() })
  }

  /** Sends the remaining spans within a short limit. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#exportAll(lastExportMs)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await pause(exportEveryMs, undefined, { signal, ref: false }).catch(() => {})
      if (!signal.aborted) await this.#exportAll(exportTimeoutMs)
    }
  }

  async #exportAll(timeoutMs: number): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchSpans)
      const isTaken = await this.#export(batch, timeoutMs)
      this.#options.spans.of(isTaken ? 'exported' : 'failed').add(batch.length)
      // The collector may be down; the rest waits for the next export.
      if (!isTaken) return
    }
  }

  async #export(batch: readonly FinishedSpan[], timeoutMs: number): Promise<boolean> {
    try {
      const response = await fetch(`${this.#options.endpoint}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: encodeSpans(batch, this.#options.resource),
        signal: AbortSignal.timeout(timeoutMs),
      })
      await response.body?.cancel()
      return response.ok
    } catch {
      return false
    }
  }

  #open(traceId: string, parentSpanId: string | undefined): Span {
    return { traceId, parentSpanId, spanId: this.#id(8), startedAtMs: nowMs() }
  }

  #id(bytes: number): string {
    return Buffer.from(this.#options.random(bytes)).toString('hex')
  }

  #chance(): number {
    return Buffer.from(this.#options.random(4)).readUInt32BE() / 2 ** 32
  }
}

/** The wall clock with fractions, which short spans need. */
function nowMs(): number {
  return performance.timeOrigin + performance.now()
}
