// What a failure looks like from outside. The one place that turns a thrown error into an answer: a Failure says
// what to change, a database that is away is 50300, and whatever else went wrong is an internal error and says no more.
import type { Socket } from 'node:net'
import { Failure, type FailureName, failureAnswer, httpStatusOf } from '@tillgate/protocol'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type StartTimer, startSystemTimer } from '../platform/timer.ts'
import { type BrokenHttp, isSilence, isTooSlow } from './admission/charges.ts'
import { isBrowser, sendMissingPage } from './missing-page.ts'

/** For the client to read the answer and close its end; one that does not is cut. */
const lingerMs = 1_000

export function answerFailures(
  listener: FastifyInstance,
  { isUnavailable }: { isUnavailable: (error: unknown) => boolean },
): void {
  listener.setErrorHandler((error: unknown, request, reply) => {
    const failure = toFailure(error, isUnavailable)
    if (failure.failure === 'internal')
      request.log.error({ requestId: request.id, err: error }, 'internal error')
    return sendFailure(request, reply, failure)
  })
  listener.setNotFoundHandler((request, reply) =>
    isBrowser(request)
      ? sendMissingPage(reply)
      : sendFailure(
          request,
          reply,
          new Failure('no_such_operation', { message: 'There is nothing at this path.' }),
        ),
  )
}

export function sendFailure(request: FastifyRequest, reply: FastifyReply, failure: Failure): FastifyReply {
  reply.status(httpStatusOf(failure.code))
  if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds)
  return reply.send(failureAnswer(failure, request.id))
}

/** What is not HTTP at all has no request and no id; it is told so in our own words, and the line is cut. */
export function answerBrokenHttp(
  error: BrokenHttp,
  socket: Socket,
  startTimer: StartTimer = startSystemTimer,
): void {
  if (error.code === 'ECONNRESET' || isSilence(error, socket) || !socket.writable) {
    socket.destroy()
    return
  }
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const isLate = isTooSlow(error)
  const failure = new Failure(isTooLarge ? 'too_large' : 'malformed_envelope', {
    message: isTooLarge
      ? 'The headers are larger than 16 KiB.'
      : isLate
        ? 'The request did not come in time.'
        : 'This is not HTTP.',
  })
  const body = JSON.stringify(failureAnswer(failure, 'none'))
  const status = isLate
    ? '408 Request Timeout'
    : isTooLarge
      ? '431 Request Header Fields Too Large'
      : '400 Bad Request'
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  // Node keeps a connection of which the other end stays open.
  socket.once(
    'close',
    startTimer(lingerMs, () => socket.destroy()),
  )
}

/** As Node.js ends a request that takes too long. */
export function answerTooSlow(socket: Socket): void {
  answerBrokenHttp(Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
}

export function toFailure(error: unknown, isUnavailable: (error: unknown) => boolean): Failure {
  if (error instanceof Failure) return error
  const known = frameworkFailures[(error as FastifyError | undefined)?.code ?? '']
  if (known) return new Failure(known, { cause: error })
  if (isUnavailable(error)) return new Failure('unavailable', { retryAfterSeconds: 1, cause: error })
  return new Failure('internal', { cause: error })
}

/** What Fastify itself refuses before a route of ours runs. */
const frameworkFailures: Record<string, FailureName> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'not_json',
  FST_ERR_CTP_INVALID_TYPE: 'not_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_envelope',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_envelope',
}
