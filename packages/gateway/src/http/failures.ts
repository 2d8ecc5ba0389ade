// What a failure looks like from outside. The one place that turns a thrown error into an answer: a Failure says
// what to change, a database that is away is 50300, and whatever else went wrong is our fault and says no more.
import { Failure, type FailureName, failureAnswer, httpStatusOf } from '@tillgate/protocol'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export function answerFailures(
  listener: FastifyInstance,
  { isUnavailable }: { isUnavailable: (error: unknown) => boolean },
): void {
  listener.setErrorHandler((error: unknown, request, reply) => {
    const failure = toFailure(error, isUnavailable)
    if (failure.failure === 'internal') request.log.error({ requestId: request.id, err: error }, 'our fault')
    return sendFailure(request, reply, failure)
  })
  listener.setNotFoundHandler((request, reply) =>
    sendFailure(
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

function toFailure(error: unknown, isUnavailable: (error: unknown) => boolean): Failure {
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
  FST_ERR_BAD_URL: 'no_such_operation',
  FST_ERR_MAX_PARAM_LENGTH: 'no_such_operation',
}
