// Traces of a whole gateway, taken by a real receiver: the spans of a request hang together under the trace of whoever
// sent it, and a collector that is away or slow costs nothing but the traces.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { Registry } from '../../src/platform/observability/metrics/registry.ts'
import { Tracer } from '../../src/platform/observability/tracing/tracer.ts'
import { until } from '../support/callbacks.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'

interface Exported {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code?: number }
}

const spans: Exported[] = []
const collector = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  assert.equal(request.url, '/v1/traces')
  assert.equal(request.headers['content-type'], 'application/json')
  const [{ resource, scopeSpans }] = JSON.parse(text).resourceSpans
  assert.deepEqual(resource.attributes[0], { key: 'service.name', value: { stringValue: 'tillgate' } })
  spans.push(...scopeSpans[0].spans)
  response.end('{}')
})
collector.listen(0, '127.0.0.1')
await once(collector, 'listening')
after(() => collector.close().closeAllConnections())
// Safe: it listens on TCP.
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`

test('a request is one trace: itself, opening, operation and database, under the trace of its sender', async () => {
  const gateway = await startTestGateway({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: '0' },
  })
  const merchant = await gateway.addMerchant()
  const send = async (traceparent: string) => {
    const envelope = await merchant.seal('service.trade.create', createBody({ now: Date.now() }))
    return gateway.post('/api/v1/gateway', JSON.stringify(envelope), { traceparent })
  }
  const traceId = randomBytes(16).toString('hex')
  assert.equal((await send(`00-${traceId}-00f067aa0ba902b7-01`)).code, 20000)
  assert.equal((await send(`00-${randomBytes(16).toString('hex')}-00f067aa0ba902b7-00`)).code, 20000)
  await gateway.stop()
  assert.deepEqual([...new Set(spans.map((span) => span.traceId))], [traceId], 'only what was asked for')
  const [request] = spans.filter(({ parentSpanId }) => parentSpanId === '00f067aa0ba902b7')
  assert.equal(request?.name, 'POST /api/v1/gateway')
  const under = (parent: Exported | undefined) =>
    spans.filter(({ parentSpanId }) => parentSpanId === parent?.spanId)
  const parts = under(request)
  assert.deepEqual(parts.map(({ name }) => name).toSorted(), ['open the envelope', 'service.trade.create'])
  const [operation] = parts.filter(({ name }) => name === 'service.trade.create')
  assert.ok(
    under(operation).some(({ name }) => name === 'insert-orders'),
    JSON.stringify(under(operation)),
  )
  for (const span of spans) {
    assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))
    assert.ok(BigInt(span.startTimeUnixNano) >= BigInt(request?.startTimeUnixNano ?? 0))
  }
})

test('what finds no room and what no collector takes is counted and dropped, and nobody waits', async () => {
  const registry = new Registry()
  const counted = registry.counters({ name: 'spans_total', help: 'Spans.', by: ['outcome'] })
  const tracer = new Tracer({
    endpoint: 'http://127.0.0.1:1',
    ratio: 1,
    resource: {},
    random: randomBytes,
    spans: counted,
  })
  for (let i = 0; i < 2_100; i++) {
    const span = tracer.begin()
    assert.ok(span)
    tracer.end(span, { name: 'test', isGood: true })
  }
  assert.equal(counted.of('dropped').value, 2_100 - 2_048)
  await until(() => counted.of('failed').value > 0)
  await tracer.stop()
  assert.equal(counted.of('exported').value, 0)
})

test('a callback attempt is a trace of its own that says how it went', async () => {
  spans.length = 0
  const gateway = await startTestGateway({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } })
  const merchant = await gateway.addMerchant()
  const { data } = await merchant.call('service.trade.create', createBody({ now: Date.now() }))
  await merchant.call('service.sandbox.pay', { paymentId: data.paymentId, outcome: 'success' })
  await until(() => spans.some(({ name }) => name === 'callback attempt'))
  const [attempt] = spans.filter(({ name }) => name === 'callback attempt')
  assert.equal(attempt?.parentSpanId, undefined)
  assert.deepEqual(attempt?.status, { code: 2 }, 'nobody answers at that address')
})
