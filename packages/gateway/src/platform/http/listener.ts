// One HTTP listener, public or admin: bounded in connections, time and size; every answer bears a request id.
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
import { refuseNul } from './nul.ts'
import { answerOutsideRequests, originForm, refuseOddRequests } from './odd-requests.ts'

export const listenerLimits = {
  bodyBytes: 256 * 1024,
  headerBytes: 16 * 1024,
  connections: {
    total: 10_000,
    /** For known addresses alone, so that merchants are served whoever else comes. */
    reserved: 2_500,
    /** So that it takes several addresses to take all of them. */
    perAddress: 2_500,
    /** Who keeps its connections open needs far fewer; a merchant that does not may still send so many requests a second. */
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
  /** Told of every answer. */
  readonly onAnswered: NoteAnswered
  /** An address opens too many connections. */
  readonly onConnectionRefused?: (address: string) => void
  readonly admission: AdmissionControl
  /** Bounds ordinary pages, and says so on a page. */
  readonly limitPages: (listener: FastifyInstance, admission: AdmissionControl) => void
  readonly sendMissingPage: SendMissingPage
  /** The page with a section for each error code, where there is one. */
  readonly errorsUrl?: () => string | undefined
  /** The Strict-Transport-Security header of every response. */
  readonly hsts?: string | undefined
  /** Takes what it can before the framework is asked: POST at these paths. */
  readonly direct?: Direct
  readonly directPaths?: readonly string[]
}

export function makeListener(parts: ListenerParts): FastifyInstance {
  // What was opened together runs out together, and whoever is told so connects anew: Node.js accepts one connection in a
  // turn of the event loop, and visitors would wait behind more.
  const endTooSlow = makeOneInATurn(machineTime.nextTurn)
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
    serverFactory: (handler) => makeServer(handler, parts),
    // While closing, a request that comes in on an open connection is still answered, and told to go elsewhere.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // A path with broken escapes is a path like any other that nobody serves, not a fault of its own kind.
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
  // Each route says what it reads: no body is parsed, or even accepted, by default.
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

/** Routes declare no schemas, so the libraries that Fastify compiles them with are not loaded. */
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
      // What was opened together is cut together, and thousands at once would hold everybody up.
      connectionsCheckingInterval: 20,
      // Node.js would refuse without a word.
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
