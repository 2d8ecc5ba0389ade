// Turns a thrown error into a response: a Failure explains what to change, an unavailable database is 50300, and all
// else is an internal error without details.
import type { Socket } from 'node:net'
import { didYouMean, Failure, type FailureName, failureAnswer, httpStatusOf } from '@tillgate/protocol'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type StartTimer, startSystemTimer } from '../runtime/timer.ts'
import { type BrokenHttp, isSilence, isTooSlow } from './admission/charges.ts'
import type { AnsweredFailure, NoteAnswered } from './answered.ts'

export type SendMissingPage = (reply: FastifyReply) => FastifyReply

const maxShownPath = 80

const lingerMs = 1_000

export interface FailureParts {
  readonly isUnavailable: (error: unknown) => boolean
  readonly errorsUrl?: (() => string | undefined) | undefined
  readonly sendMissingPage: SendMissingPage
  readonly postPaths: readonly string[]
  /** A further sentence about an unknown path that belongs to another listener. */
  readonly adviceForPath?: ((path: string) => string | undefined) | undefined
}

export function answerFailures(
  listener: FastifyInstance,
  { isUnavailable, postPaths, sendMissingPage, errorsUrl = () => undefined, adviceForPath }: FailureParts,
): void {
  listener.setErrorHandler((error: unknown, request, reply) => {
    const failure = toFailure(error, isUnavailable)
    if (failure.failure === 'internal')
      request.log.error({ requestId: request.id, err: error }, 'internal error')
    return sendFailure(request, reply, failure, errorsUrl())
  })
  const verbsAt = noteVerbs(listener, postPaths)
  listener.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    const verbs = verbsAt(path)
    if (verbs.length === 0 && isBrowser(request)) return sendMissingPage(reply)
    const isPost = request.method === 'POST'
    const advice = adviceForPath?.(path) ?? (isPost ? nearestPath(path, postPaths) : undefined)
    if (verbs.length === 0) return sendFailure(request, reply, noSuchPath(isPost, path, advice), errorsUrl())
    // A program that posts to a page has a wrong path, not a wrong method.
    const instead = advice === undefined ? `: send ${verbs.join(' or ')}` : ''
    const message = `${request.method} is not served at this path${instead}.${advice ?? ''}`
    return sendFailure(
      request,
      reply.header('allow', verbs.join(', ')),
      new Failure('wrong_verb', { message }),
      errorsUrl(),
    )
  })
}

/** A path outside the API may be a mistyped address with a secret, so it is not repeated. */
function noSuchPath(isPost: boolean, path: string, advice = ''): Failure {
  const what = isPost ? `No such path: POST ${path.slice(0, maxShownPath)}.` : 'No such path.'
  return new Failure('no_such_operation', { message: `${what}${advice}` })
}

/** The paths are few; those with a prefix would repeat them. */
function nearestPath(path: string, postPaths: readonly string[]): string | undefined {
  const shortest = postPaths.filter(
    (each) => !postPaths.some((other) => other !== each && each.endsWith(other)),
  )
  if (shortest.length === 0) return undefined
  const shown = path.slice(0, maxShownPath).toLowerCase().replace(/\/$/, '')
  const part = shortest.find((each) => shown !== '' && (each.endsWith(shown) || shown.endsWith(each)))
  if (part !== undefined) return ` Did you mean ${part}?`
  const suggestion = didYouMean(shown, shortest) || didYouMean(shown, postPaths)
  return suggestion === '' ? ` The paths are ${shortest.join(', ')}.` : suggestion
}

function noteVerbs(listener: FastifyInstance, postPaths: readonly string[]): (path: string) => string[] {
  const routes: { readonly pattern: RegExp; readonly verbs: readonly string[] }[] = []
  listener.addHook('onRoute', ({ url, method }) => {
    const pattern = url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace('*', '.*')
    routes.push({ pattern: new RegExp(`^${pattern}$`), verbs: [method].flat() })
  })
  return (path) => {
    const found = routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ verbs }) => verbs)
    return [...new Set(postPaths.includes(path) ? [...found, 'POST'] : found)]
  }
}

/** Browsers accept HTML explicitly; programs accept anything. */
export function isBrowser({ method, headers }: FastifyRequest): boolean {
  return /^(GET|HEAD)$/.test(method) && /\btext\/html\b/.test(headers.accept ?? '')
}

const failures = new WeakMap<FastifyRequest, AnsweredFailure>()

/** Excludes the message, which may repeat a form's password. */
export function failureOf(request: FastifyRequest): AnsweredFailure | undefined {
  return failures.get(request)
}

export function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
  errorsUrl?: string,
): FastifyReply {
  const { code, field } = failure
  failures.set(request, { code, ...(field !== undefined && { field }) })
  reply.status(httpStatusOf(failure.code))
  // The rest of the request is not read.
  if (failure.failure === 'too_large') reply.header('connection', 'close')
  if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds)
  return reply.send(failureAnswer(failure, request.id, errorsUrl))
}

/** A connection without a Node.js response: its data is not HTTP or not a supported request. */
export interface BareConnection {
  readonly socket: Socket
  readonly requestId: string
  /** Known only if a request was read, because the connection may be a proxy's. */
  readonly address?: string
  readonly onAnswered: NoteAnswered
  readonly hsts?: string | undefined
  readonly startTimer?: StartTimer
}

export function answerBrokenHttp(error: BrokenHttp, connection: BareConnection): void {
  const { socket } = connection
  if (error.code === 'ECONNRESET' || isSilence(error, socket) || !socket.writable) {
    socket.destroy()
    return
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const message = 'The headers are larger than 16 KiB.'
    answerAndCut(connection, '431 Request Header Fields Too Large', new Failure('too_large', { message }))
  } else if (isTooSlow(error)) {
    const message = 'The request arrived too slowly.'
    answerAndCut(connection, '408 Request Timeout', new Failure('malformed_envelope', { message }))
  } else {
    // The parser's reason comes from a fixed list.
    const why = error.reason ? `: ${error.reason}` : ''
    const message = `The HTTP request is not valid${why}.`
    answerAndCut(connection, '400 Bad Request', new Failure('malformed_envelope', { message }))
  }
}

/** Matches how Node.js ends a slow request. */
export function answerTooSlow(connection: BareConnection): void {
  answerBrokenHttp(Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), connection)
}

export function answerConnect(connection: BareConnection): void {
  const message = 'This is not a proxy: CONNECT is not served. Send GET or POST.'
  answerAndCut(
    connection,
    '405 Method Not Allowed\r\nAllow: GET, POST',
    new Failure('wrong_verb', { message }),
  )
}

function answerAndCut(connection: BareConnection, statusLine: string, failure: Failure): void {
  const { socket, requestId, onAnswered, hsts, startTimer = startSystemTimer } = connection
  const body = JSON.stringify(failureAnswer(failure, requestId))
  socket.end(
    `HTTP/1.1 ${statusLine}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n` +
      `${hsts === undefined ? '' : `Strict-Transport-Security: ${hsts}\r\n`}Connection: close\r\n\r\n${body}`,
  )
  onAnswered({
    requestId,
    verb: 'none',
    route: 'none',
    httpStatus: Number.parseInt(statusLine, 10),
    durationMs: 0,
    address: connection.address ?? socket.remoteAddress,
    failure,
  })
  // Node.js would keep a half-open connection.
  socket.once(
    'close',
    startTimer(lingerMs, () => socket.destroy()),
  )
}

export function toFailure(error: unknown, isUnavailable: (error: unknown) => boolean): Failure {
  if (error instanceof Failure) return error
  const { code = '', statusCode = 500, message = '' } = (error ?? {}) as Partial<FastifyError>
  const known = frameworkFailures[code]
  if (known) return new Failure(known, { cause: error })
  // The framework rejected the request; this is not our error.
  if (code.startsWith('FST_') && statusCode >= 400 && statusCode < 500)
    return new Failure('malformed_envelope', { message, cause: error })
  if (isUnavailable(error)) return new Failure('unavailable', { retryAfterSeconds: 1, cause: error })
  return new Failure('internal', { cause: error })
}

/** For pages that word the error themselves. */
export function pageStatusOf(error: unknown, isUnavailable: (error: unknown) => boolean): number {
  if (error instanceof Failure) return httpStatusOf(error.code)
  if (isUnavailable(error)) return 503
  const given = (error as { statusCode?: unknown } | undefined)?.statusCode
  return typeof given === 'number' && given >= 400 && given < 500 ? given : 500
}

const frameworkFailures: Record<string, FailureName> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'not_json',
  FST_ERR_CTP_INVALID_TYPE: 'not_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_envelope',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_envelope',
}
