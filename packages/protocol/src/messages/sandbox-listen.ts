// Callbacks for a developer's machine that the gateway cannot reach: the program requests its callbacks, and
// acknowledges those that it processed.
import type { Static } from 'typebox'
import { choice, list, nested, pattern, text, timeNumber, url, wholeNumber } from '../fields.ts'
import { uuidPattern } from '../ids.ts'
import { maxListenCursorLength, maxListenWaitMs } from '../limits.ts'
import { Type } from '../type.ts'
import { makeBodyReader } from '../validation.ts'
import { ignored, paymentId } from './shared-fields.ts'
import { type Ignoring, ignoring } from './unread-fields.ts'

const maxAnswerLength = 1024
const maxForwardMs = 600_000

const callbackId = pattern('The callback’s `id`.', { regexp: uuidPattern, expected: 'a UUID in lower case' })

export const sandboxListenBodySchema = Type.Object({
  after: Type.Optional(
    text('The `after` of the last response. Default: only new callbacks.', {
      max: maxListenCursorLength,
    }),
  ),
  waitMs: Type.Optional(
    wholeNumber('How long to wait for callbacks. Default 0.', {
      min: 0,
      max: maxListenWaitMs,
    }),
  ),
})

export interface SandboxListen extends Ignoring {
  readonly after: string | undefined
  readonly waitMs: number
}

const readListenBody = makeBodyReader(sandboxListenBodySchema)

export function parseSandboxListenBody(bodyText: string): SandboxListen {
  const body = readListenBody(bodyText)
  return { after: body.after, waitMs: Number(body.waitMs ?? 0), ...ignoring(body) }
}

const listenedCallback = nested('One callback.', {
  typeName: 'listened callback',
  fields: {
    envelope: Type.String({
      typeName: 'string',
      expected: 'JSON text',
      description: 'The callback envelope, as it would be sent.',
    }),
    kind: choice('Whether this is the first delivery or a resend.', ['first', 'resend']),
    at: timeNumber('When the callback was created or resent.'),
    paymentId,
    callbackUrl: url('Where the gateway sends the callback.'),
  },
})

export const sandboxListenAnswerSchema = Type.Object({
  callbacks: list('Oldest first; empty if none arrived in time.', {
    item: listenedCallback,
    typeName: 'array of listened callbacks',
  }),
  after: text('Send it in the next request. Its content is internal.', {
    max: maxListenCursorLength,
  }),
  ...ignored,
})
export type SandboxListenAnswer = Static<typeof sandboxListenAnswerSchema>
export type ListenedCallback = SandboxListenAnswer['callbacks'][number]

export const sandboxAcknowledgeBodySchema = Type.Object({
  callbackId,
  forwardedTo: text('The URL that returned HTTP 200, stored with the attempt.', { max: 256 }),
  durationMs: wholeNumber('How long the delivery took.', { min: 0, max: maxForwardMs }),
  answer: Type.Optional(
    text('The beginning of the response, on one line.', { min: 0, max: maxAnswerLength }),
  ),
})

export interface SandboxAcknowledge extends Ignoring {
  readonly callbackId: string
  readonly forwardedTo: string
  readonly durationMs: number
  readonly answer: string
}

const readAcknowledgeBody = makeBodyReader(sandboxAcknowledgeBodySchema)

export function parseSandboxAcknowledgeBody(bodyText: string): SandboxAcknowledge {
  const body = readAcknowledgeBody(bodyText)
  const { callbackId, forwardedTo, durationMs, answer = '' } = body
  return { callbackId, forwardedTo, durationMs: Number(durationMs), answer, ...ignoring(body) }
}

export const sandboxAcknowledgeAnswerSchema = Type.Object({
  callbackId,
  state: choice('The callback’s new state.', ['delivered']),
  ...ignored,
})
export type SandboxAcknowledgeAnswer = Static<typeof sandboxAcknowledgeAnswerSchema>
