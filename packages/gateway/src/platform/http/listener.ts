// One HTTP listener, public or admin, with limits on connections, time and size, and a request id in every response.
import type { RequestListener, Server } from 'node:http'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import type { Log } from '../runtime/log.ts'
import { http } from '../runtime/node-workarounds/builtin-modules.ts'
import { machineTime } from '../runtime/timer.ts'
import { makeOneInATurn } from '../runtime/turns.ts'
import type { AdmissionControl } from './admission/admission-control.ts'
import { isTooSlow } from './admission/charges.ts'
import { limitConnections } from './admission/connections.ts'
import { limitPipelining } from './admission/pipelining.ts'
import type { NoteAnswered } from './answered.ts'
import type { Direct } from './direct.ts'
import { answerBrokenHttp, answerFailures, failureOf, type SendMissingPage } from './failures.ts'
import { answerHealth, type Readiness } from './health.ts'
import { answerOutsideRequests, originForm, refuseOddRequests } from './odd-requests.ts'
import { refuseNul } from './refuse-nul.ts'

export const listenerLimits = {
  bodyBytes: 256 * 1024,
  headerBytes: 16 * 1024,
  connections: {
    total: 10_000,
    /** Reserved for known addresses, so that merchants are always served. */
    reserved: 2_500,
    perAddress: 2_500,
    /** Clients with keep-alive need far fewer; others can still send this many requests a second. */
    fresh: {
      known: { perSecond: 500, burst: 2_500 },
      unknown: { perSecond: 100, burst: 250 },
      /** A browser opens six at most. */
      own: { perSecond: 2, burst: 8 },
      shared: { perSecond: 50, burst: 100 },
    },
  },
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 65_000,
} as const

export interface ListenerParts {
  readonly log: Log
  readonly newRequestId: () => string
  readonly readiness: () => Promise<Readiness>
  /** What is running, for the readiness of a private listener. */
  readonly about?: object
  readonly isUnavailable: (error: unknown) => boolean
  readonly trustedProxies: readonly string[]
  readonly onAnswered: NoteAnswered
  readonly onConnectionRefused?: (address: string) => void
  readonly admission: AdmissionControl
  readonly limitPages: (listener: FastifyInstance, admission: AdmissionControl) => void
  readonly sendMissingPage: SendMissingPage
  readonly errorsUrl?: () => string | undefined
  readonly hsts?: string | undefined
  readonly direct?: Direct
  readonly directPaths?: readonly string[]
  readonly adviceForPath?: (path: string) => string | undefined
}

export function makeListener(parts: ListenerParts): FastifyInstance {
  // Connections opened together time out together and would reconnect together: Node.js accepts one connection per
  // turn, and visitors would wait behind them.
  const endTooSlow = makeOneInATurn(machineTime.nextTurn)
  const listener = fastify({
    // Fastify's own log is useful only for errors. The wider type matches the FastifyInstance in every route file.
    loggerInstance: parts.log.child(
      {},
      { level: parts.log.isLevelEnabled('warn') ? 'warn' : parts.log.level },
    ) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // Requests have no logger of their own; log lines carry the request id.
    childLoggerFactory: (logger) => logger,
    genReqId: parts.newRequestId,
    bodyLimit: listenerLimits.bodyBytes,
    serverFactory: (handler) => makeServer(handler, parts),
    // During shutdown, requests on open connections are still served, with `connection: close`.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // A path with invalid escapes is handled as an unknown path.
    rewriteUrl: ({ url = '/' }) => {
      const target = originForm(url)
      return isDecodable(target) ? target : target.replaceAll('%', '%25')
    },
    clientErrorHandler(error, socket) {
      const answer = () => {
        parts.admission.chargeBrokenHttp(error, socket)
        answerBrokenHttp(error, { ...parts, socket, requestId: parts.newRequestId() })
      }
      if (isTooSlow(error)) endTooSlow(answer)
      else answer()
    },
    trustProxy: parts.trustedProxies.length > 0 ? [...parts.trustedProxies] : false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  // Each route declares its body parsers; none exist by default.
  listener.removeAllContentTypeParsers()

  listener.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    refuseNul(request.url)
    done()
  })
  parts.limitPages(listener, parts.admission)
  listener.addHook('onResponse', (request, reply, done) => {
    parts.onAnswered({
      requestId: request.id,
      verb: request.method,
      route: request.routeOptions.url ?? 'none',
      httpStatus: reply.statusCode,
      durationMs: reply.elapsedTime,
      address: reply.statusCode < 400 ? undefined : request.ip,
      failure: failureOf(request),
    })
    done()
  })
  answerFailures(listener, { ...parts, postPaths: parts.directPaths ?? [] })
  answerHealth(listener, parts.readiness, parts.about)
  return listener
}

/** Routes declare no schemas, so Fastify's compilers are not loaded. */
function noSchemas(): never {
  throw new Error('routes check what they read by themselves')
}

function makeServer(handler: RequestListener, parts: ListenerParts): Server {
  const { direct, admission, hsts } = parts
  const { nowMs, nextTurn } = machineTime
  const answer: RequestListener = (request, response) =>
    direct?.(request, response) ?? handle(request, response)
  const handle: RequestListener = (request, response) => {
    if (hsts !== undefined) response.setHeader('strict-transport-security', hsts)
    handler(request, response)
  }
  const server = http.createServer(
    {
      maxHeaderSize: listenerLimits.headerBytes,
      headersTimeout: listenerLimits.headersTimeoutMs,
      requestTimeout: listenerLimits.requestTimeoutMs,
      keepAliveTimeout: listenerLimits.keepAliveTimeoutMs,
      // Connections opened together time out together, so frequent small checks spread the work.
      connectionsCheckingInterval: 20,
      // Node.js would reject the request without a body.
      requireHostHeader: false,
    },
    limitPipelining(refuseOddRequests(answer, parts), { admission, nextTurn }),
  )
  answerOutsideRequests(server, { ...parts, maxBytes: listenerLimits.bodyBytes })
  limitConnections(server, {
    limits: listenerLimits.connections,
    admission,
    nowMs,
    onRefused: parts.onConnectionRefused,
  })
  return server
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
