// Declares all metrics of a gateway process. Measuring code receives functions and does not depend on Prometheus.
import { type Histogram, Registry } from './registry.ts'

/** The range is from a create on an idle machine to a request that the client abandoned. */
const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** The range is from one AES block to an RSA signature that waits for a thread. */
const cryptoSeconds = [0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3]
const databaseSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10]
const loopSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]
/** A callback leaves milliseconds after its commit, or an hour later behind a failing host. */
const callbackDelaySeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3_600]
const callbackAttemptSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]
const batchItems = [1, 2, 5, 10, 20, 50, 100, 200]

export type GatewayMetrics = ReturnType<typeof makeGatewayMetrics>
export type CryptoOperation = 'rsa_verify' | 'rsa_sign' | 'aes_decrypt' | 'aes_encrypt'

export function makeGatewayMetrics() {
  const registry = new Registry()
  return {
    registry,
    ...requestMetrics(registry),
    ...databaseMetrics(registry),
    ...paymentMetrics(registry),
    ...callbackMetrics(registry),
    ...processMetrics(registry),
  }
}

function requestMetrics(registry: Registry) {
  const cryptoDuration = registry.histograms({
    name: 'tillgate_crypto_duration_seconds',
    help: 'Time that callers waited for a cryptographic act, the wait for a thread included.',
    by: ['act'],
    bounds: cryptoSeconds,
  })
  return {
    apiRequests: registry.counters({
      name: 'tillgate_api_requests_total',
      help: 'Requests to the merchant API by operation and answered code.',
      by: ['operation', 'code'],
    }),
    apiDuration: registry.histograms({
      name: 'tillgate_api_request_duration_seconds',
      help: 'From the first byte of a request to the merchant API to the end of its answer.',
      by: ['operation'],
      bounds: requestSeconds,
    }),
    httpRequests: {
      public: registry.counters({
        name: 'tillgate_public_http_requests_total',
        help: 'Requests to the public listener by route and HTTP status.',
        by: ['route', 'http_status'],
      }),
      admin: registry.counters({
        name: 'tillgate_admin_http_requests_total',
        help: 'Requests to the admin listener by route and HTTP status.',
        by: ['route', 'http_status'],
      }),
    },
    shed: registry.counters({
      name: 'tillgate_requests_shed_total',
      help: 'Requests that were turned away before any costly work, by reason.',
      by: ['reason'],
    }),
    inFlight: registry
      .gauges({ name: 'tillgate_requests_in_flight', help: 'Merchant requests that are worked on.' })
      .of(),
    crypto: (act: CryptoOperation): Histogram => cryptoDuration.of(act),
  }
}

function databaseMetrics(registry: Registry) {
  return {
    databaseDuration: registry.histograms({
      name: 'tillgate_database_duration_seconds',
      help: 'Time of statements and transactions, the wait for a connection included.',
      by: ['kind'],
      bounds: databaseSeconds,
    }),
    databaseErrors: registry.counters({
      name: 'tillgate_database_errors_total',
      help: 'Statements and transactions that failed, for whatever reason.',
      by: ['kind'],
    }),
    poolConnections: registry.gauges({
      name: 'tillgate_database_pool_connections',
      help: 'Connections of the pool by state.',
      by: ['state'],
    }),
    poolWaiting: registry
      .gauges({ name: 'tillgate_database_pool_waiting', help: 'Callers that wait for a connection.' })
      .of(),
    poolMax: registry
      .gauges({ name: 'tillgate_database_pool_max', help: 'The most connections that the pool may open.' })
      .of(),
    batches: registry.histograms({
      name: 'tillgate_batch_items',
      help: 'How many items shared one round trip to the database.',
      by: ['batch'],
      bounds: batchItems,
    }),
  }
}

function paymentMetrics(registry: Registry) {
  return {
    orders: registry.counters({
      name: 'tillgate_order_changes_total',
      help: 'Orders that came into a status, by that status.',
      by: ['status'],
    }),
    refunds: registry.counters({
      name: 'tillgate_refund_changes_total',
      help: 'Refunds that ended, by their status.',
      by: ['status'],
    }),
  }
}

function callbackMetrics(registry: Registry) {
  return {
    callbackAttempts: registry.counters({
      name: 'tillgate_callback_attempts_total',
      help: 'Attempts to deliver a callback by outcome.',
      by: ['outcome'],
    }),
    callbackEvents: registry.counters({
      name: 'tillgate_callback_incidents_total',
      help: 'Callbacks that were exhausted, held or lost to another worker, and hosts that were paused.',
      by: ['incident'],
    }),
    callbackDelay: registry
      .histograms({
        name: 'tillgate_callback_delay_seconds',
        help: 'From the moment a callback was due to the start of its attempt.',
        bounds: callbackDelaySeconds,
      })
      .of(),
    callbackDuration: registry
      .histograms({
        name: 'tillgate_callback_attempt_duration_seconds',
        help: 'How long the merchant took to answer a callback.',
        bounds: callbackAttemptSeconds,
      })
      .of(),
    callbacksInFlight: registry
      .gauges({ name: 'tillgate_callbacks_in_flight', help: 'Callbacks that are claimed and under way.' })
      .of(),
  }
}

function processMetrics(registry: Registry) {
  return {
    emails: registry.counters({
      name: 'tillgate_emails_total',
      help: 'Attempts to send an email, by the state that they left it in; queued is tried again.',
      by: ['state'],
    }),
    traceSpans: registry.counters({
      name: 'tillgate_trace_spans_total',
      help: 'Spans by what became of them: exported, dropped for want of room, or failed at the collector.',
      by: ['outcome'],
    }),
    hearing: registry
      .gauges({
        name: 'tillgate_hearing_processes',
        help: 'Processes that hear at once of what others did, and need not look every second.',
      })
      .of(),
    loopDelay: registry
      .histograms({
        name: 'tillgate_event_loop_delay_seconds',
        help: 'How late the event loop was for a timer, ten times a second.',
        bounds: loopSeconds,
      })
      .of(),
  }
}
