// One HTTP listener, public or admin: bounded in connections, time and size; every answer bears a request id.
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import type { Log } from '../log.ts'
import { answerBrokenHttp, answerFailures } from './failures.ts'
import { answerHealth, isProbe, type Readiness } from './health.ts'

export const listenerLimits = {
  bodyBytes: 256 * 1024,
  headerBytes: 16 * 1024,
  connections: 10_000,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 65_000,
} as const

declare module 'fastify' {
  interface FastifyRequest {
    /** The method of the merchant API that it asks for, once that is known. */
    operation: string
  }
  interface FastifyReply {
    /** The code of the failure that it answers; 0 for none. */
    failureCode: number
  }
}

export interface ListenerParts {
  readonly log: Log
  readonly newRequestId: () => string
  readonly readiness: () => Promise<Readiness>
  readonly isUnavailable: (error: unknown) => boolean
  readonly trustedProxies: readonly string[]
  /** Told of every answer. */
  readonly onAnswered?: (request: FastifyRequest, reply: FastifyReply) => void
}

export function makeListener(parts: ListenerParts): FastifyInstance {
  const listener = fastify({
    // What Fastify has to say by itself is of interest only when it is trouble. As the wider type, so that a
    // listener is the FastifyInstance that every route file names.
    loggerInstance: parts.log.child(
      {},
      { level: parts.log.isLevelEnabled('warn') ? 'warn' : parts.log.level },
    ) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // No logger for each request: what is logged of one names its id.
    childLoggerFactory: (logger) => logger,
    genReqId: parts.newRequestId,
    bodyLimit: listenerLimits.bodyBytes,
    requestTimeout: listenerLimits.requestTimeoutMs,
    keepAliveTimeout: listenerLimits.keepAliveTimeoutMs,
    http: {
      maxHeaderSize: listenerLimits.headerBytes,
      headersTimeout: listenerLimits.headersTimeoutMs,
      connectionsCheckingInterval: 1_000,
    },
    // While closing, a request that comes in on an open connection is still answered, and told to go elsewhere.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // A path with broken escapes is a path like any other that nobody serves, not a fault of its own kind.
    rewriteUrl: ({ url = '/' }) => (isDecodable(url) ? url : url.replaceAll('%', '%25')),
    clientErrorHandler: answerBrokenHttp,
    trustProxy: parts.trustedProxies.length > 0 ? [...parts.trustedProxies] : false,
  })
  listener.server.maxConnections = listenerLimits.connections
  // Each route says what it reads: no body is parsed, or even accepted, by default.
  listener.removeAllContentTypeParsers()

  listener.decorateRequest('operation', '')
  listener.decorateReply('failureCode', 0)
  listener.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  listener.addHook('onResponse', (request, reply, done) => {
    parts.onAnswered?.(request, reply)
    parts.log[levelOf(request, reply)](
      {
        requestId: request.id,
        method: request.method,
        // The pattern, never the path: a checkout link is a secret.
        route: request.routeOptions.url ?? 'none',
        httpStatus: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
    done()
  })
  answerFailures(listener, parts)
  answerHealth(listener, parts.readiness)
  return listener
}

/** What went well is not worth a line by default, nor is a probe, which asks again and again. */
function levelOf(request: FastifyRequest, { statusCode }: FastifyReply): 'warn' | 'info' | 'debug' {
  if (statusCode < 400 || isProbe(request.url)) return 'debug'
  return statusCode < 500 ? 'info' : 'warn'
}

function isDecodable(url: string): boolean {
  if (!url.includes('%')) return true
  try {
    decodeURIComponent(url)
    return true
  } catch {
    return false
  }
}
