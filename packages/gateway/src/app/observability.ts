// Assembles the gateway's observability: this process's metrics, the figures from the database, and the sum of several
// processes.

import type { Figures } from '../finance/overview/store/figures.ts'
import { measuredPool } from '../platform/database/measured-pool.ts'
import type { NoteAnswered } from '../platform/http/answered.ts'
import { makeDatabaseMetrics } from '../platform/observability/metrics/database-metrics.ts'
import { type GatewayMetrics, makeGatewayMetrics } from '../platform/observability/metrics/gateway-metrics.ts'
import { type MeasuredCrypto, measuredCrypto } from '../platform/observability/metrics/measured-crypto.ts'
import { addProcessMetrics, sampleLoopDelay } from '../platform/observability/metrics/process-metrics.ts'
import type { Snapshot } from '../platform/observability/metrics/registry.ts'
import { Tracer } from '../platform/observability/tracing/tracer.ts'
import type { ClockAndRandom } from '../platform/runtime/clock.ts'
import { commit, version } from '../platform/runtime/version.ts'
import type { DatabaseOutage } from './database/database-outage.ts'
import type { StoresOptions } from './database/open-stores.ts'
import type { Config } from './settings/config.ts'
import { tracedPool } from './traced.ts'

export interface Observability extends MeasuredCrypto {
  readonly metrics: GatewayMetrics
  /** Undefined if tracing is disabled. */
  readonly tracer: Tracer | undefined
  readonly storeParts: Required<Pick<StoresOptions, 'onBatch' | 'overPool'>>
  onAnswered(listener: 'public' | 'admin'): NoteAnswered
  /** Includes all processes of this gateway and the figures from the database. */
  read(): Promise<Snapshot>
  stop(): Promise<void>
}

export interface ObservabilityParts extends ClockAndRandom {
  readonly outage: Pick<DatabaseOutage, 'note'>
  /** Undefined until the database is open. */
  readonly figures: () => ((nowMs: number) => Promise<Figures>) | undefined
  /** Combines this process's snapshot with those of the gateway's other processes. */
  readonly share: (own: () => Snapshot) => () => Promise<Snapshot>
}

export function makeObservability(config: Config, parts: ObservabilityParts): Observability {
  const metrics = makeGatewayMetrics()
  const { registry } = metrics
  addProcessMetrics(registry, { version, commit: commit ?? '', mode: config.mode, node: process.version })
  const gather = parts.share(() => registry.snapshot())
  const sampling = sampleLoopDelay(metrics.loopDelay)
  const databaseMetrics = makeDatabaseMetrics({
    clock: parts.clock,
    read: async (nowMs) => {
      const read = parts.figures()
      if (!read) throw new Error('the database is not open yet')
      return read(nowMs)
    },
  })
  const { traceEndpoint, traceRatio } = config
  const tracer =
    traceEndpoint === undefined
      ? undefined
      : new Tracer({
          endpoint: traceEndpoint,
          ratio: traceRatio,
          resource: { 'service.name': 'tillgate', 'service.version': version, 'process.pid': process.pid },
          random: parts.random,
          spans: metrics.traceSpans,
        })
  const statement = metrics.databaseDuration.of('statement')
  const transaction = metrics.databaseDuration.of('transaction')
  return {
    metrics,
    tracer,
    ...measuredCrypto(metrics.crypto),
    storeParts: {
      onBatch: (batch, items) => metrics.batches.of(batch).observe(items),
      overPool: (pool) =>
        measuredPool(tracedPool(pool, tracer), ({ kind, startedAtMs, durationMs, error }) => {
          const histogram = kind === 'statement' ? statement : transaction
          histogram.observe(durationMs / 1000)
          if (error !== undefined) metrics.databaseErrors.of(kind).add()
          parts.outage.note({ startedAtMs, error })
        }),
    },
    onAnswered(listener) {
      const requests = metrics.httpRequests[listener]
      return ({ route, httpStatus, durationMs, api }) => {
        requests.of(route, String(httpStatus)).add()
        if (!api) return
        const operation = api.operation ?? 'none'
        metrics.apiRequests.of(operation, String(api.code)).add()
        metrics.apiDuration.of(operation).observe(durationMs / 1000)
      }
    },
    async read() {
      const [processes, database] = await Promise.all([gather(), databaseMetrics()])
      return [...processes, ...database]
    },
    async stop() {
      sampling.stop()
      await tracer?.stop()
    },
  }
}
