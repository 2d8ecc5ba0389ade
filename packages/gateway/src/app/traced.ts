// Adds spans to the parts of a gateway. Without a tracer, it returns them unchanged.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { MerchantApi, Operations } from '../adapters/merchant-api/merchant-api.ts'
import type { Post } from '../core/callbacks/deliver-callbacks.ts'
import type { Pool } from '../platform/database/pool.ts'
import type { Statement } from '../platform/database/prepared-names.ts'
import type { Answered } from '../platform/http/answered.ts'
import type { Direct } from '../platform/http/direct.ts'
import { isProbe } from '../platform/http/health.ts'
import { parseTraceParent } from '../platform/observability/tracing/traceparent.ts'
import type { Span, Tracer } from '../platform/observability/tracing/tracer.ts'

/** One span per request, in the trace of its sender. */
export function traceRequests(listener: FastifyInstance, tracer: Tracer): void {
  const spans = new WeakMap<FastifyRequest, Span>()
  listener.addHook('onRequest', (request, _reply, done) => {
    const span = isProbe(request.url)
      ? undefined
      : tracer.begin(parseTraceParent(request.headers['traceparent']))
    if (span) spans.set(request, span)
    tracer.run(span, done)
  })
  listener.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request)
    if (span) {
      tracer.end(
        span,
        serverSpan({
          requestId: request.id,
          verb: request.method,
          // The route's pattern, not the path, because a checkout link is a secret.
          route: request.routeOptions.url ?? 'none',
          httpStatus: reply.statusCode,
        }),
      )
    }
    done()
  })
}

/** Traces requests that bypass the router. */
export function tracedDirect(direct: Direct, tracer: Tracer | undefined): Direct {
  if (!tracer) return direct
  return (request, response) => {
    const span = tracer.begin(parseTraceParent(request.headers['traceparent']))
    const taken = tracer.run(span, () => direct(request, response))
    if (taken && span) {
      response.once('close', () =>
        tracer.end(span, serverSpan({ ...taken, verb: 'POST', httpStatus: response.statusCode })),
      )
    }
    return taken
  }
}

function serverSpan(answered: Pick<Answered, 'requestId' | 'verb' | 'route' | 'httpStatus'>) {
  const { requestId, verb, route, httpStatus } = answered
  return {
    name: `${verb} ${route}`,
    kind: 'server' as const,
    isGood: httpStatus < 500,
    attributes: {
      'http.request.method': verb,
      'http.route': route,
      'http.response.status_code': httpStatus,
      'tillgate.request_id': requestId,
    },
  }
}

export function tracedApi(api: MerchantApi, tracer: Tracer | undefined): MerchantApi {
  if (!tracer) return api
  const operations = Object.fromEntries(
    Object.entries(api.operations).map(([method, operation]) => [
      method,
      (...given: Parameters<typeof operation>) => tracer.within({ name: method }, () => operation(...given)),
    ]),
  ) as Operations
  return {
    operations,
    openRequest: (envelope, load) =>
      tracer.within({ name: 'open the envelope' }, () => api.openRequest(envelope, load)),
  }
}

/** A round trip shared by several requests belongs to the one that started it. */
export function tracedPool(pool: Pool, tracer: Tracer | undefined): Pool {
  if (!tracer) return pool
  const span = (name: string) => ({
    name,
    kind: 'client' as const,
    attributes: { 'db.system.name': 'postgresql' },
  })
  return {
    ...pool,
    query: (statement, values) => tracer.within(span(nameOf(statement)), () => pool.query(statement, values)),
    transaction: (work, options) => tracer.within(span('transaction'), () => pool.transaction(work, options)),
  }
}

/** Each attempt is a separate trace, because the request that caused it ended long before. */
export function tracedPost(post: Post, tracer: Tracer | undefined): Post {
  if (!tracer) return post
  return async (request) => {
    const span = tracer.begin()
    const delivery = await tracer.run(span, () => post(request))
    const isAnswered = delivery.kind === 'answered'
    if (span) {
      tracer.end(span, {
        name: 'callback attempt',
        kind: 'client',
        isGood: isAnswered && delivery.httpStatus === 200,
        attributes: {
          'server.address': new URL(request.url).host,
          ...(isAnswered
            ? { 'http.response.status_code': delivery.httpStatus }
            : { 'error.type': delivery.reason }),
        },
      })
    }
    return delivery
  }
}

function nameOf(statement: string | Statement): string {
  return typeof statement === 'string' ? 'statement' : (statement.name ?? 'statement')
}
