// A merchant's own rejected or slow requests, for finding a requestId during development.
import type { Static } from 'typebox'
import { list, nested, text, timeNumber, wholeNumber } from '../fields.ts'
import { maxListedRequests, maxMessageLength, maxMethodLength, maxRequestIdLength } from '../limits.ts'
import { Type } from '../type.ts'
import { makeReader } from '../validation.ts'

const requestId = text('The `requestId` of the response.', { max: maxRequestIdLength })

export const sandboxRequestsBodySchema = Type.Object({
  requestId: Type.Optional(requestId),
  limit: Type.Optional(
    wholeNumber(`The number of requests. Default ${maxListedRequests}.`, { min: 1, max: maxListedRequests }),
  ),
})

export interface SandboxRequests {
  readonly requestId: string | undefined
  readonly limit: number
}

const readRequestsBody = makeReader(sandboxRequestsBodySchema, {
  failure: 'invalid_field',
  whole: 'the body',
})

export function parseSandboxRequestsBody(bodyText: string): SandboxRequests {
  const { requestId, limit = maxListedRequests } = readRequestsBody(bodyText)
  return { requestId, limit: Number(limit) }
}

const loggedRequest = nested('One request.', {
  typeName: 'logged request',
  fields: {
    requestId,
    at: timeNumber('When the gateway responded.'),
    method: text('The operation.', { max: maxMethodLength }),
    httpStatus: wholeNumber('The HTTP status of the response.', { min: 100, max: 599 }),
    code: wholeNumber('The `code` of the response.', { min: 0, max: 99_999 }),
    field: text('The invalid field, or empty.', { min: 0, max: maxMessageLength }),
    msg: text('The `msg` of the response, or empty.', { min: 0, max: maxMessageLength }),
    durationMs: wholeNumber('The duration.', { min: 0, max: 999_999_999 }),
  },
})

export const sandboxRequestsAnswerSchema = Type.Object({
  requests: list('Newest first.', { item: loggedRequest, typeName: 'array of logged requests' }),
})
export type SandboxRequestsAnswer = Static<typeof sandboxRequestsAnswerSchema>
