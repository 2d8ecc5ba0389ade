// Gives the usual failure format to requests that Node.js would end on its own: HTTP/1.1 without Host, an unknown
// Expect, CONNECT.
import type { RequestListener } from 'node:http'
import type { Server, Socket } from 'node:net'
import { Failure, failureAnswer, httpStatusOf } from '@tillgate/protocol'
import type { AdmissionControl } from './admission/admission-control.ts'
import { costs } from './admission/charges.ts'
import type { NoteAnswered } from './answered.ts'
import { sendJson } from './direct.ts'
import { answerConnect } from './failures.ts'

export interface OddRequestParts {
  readonly admission: AdmissionControl
  readonly newRequestId: () => string
  readonly onAnswered: NoteAnswered
  readonly hsts?: string | undefined
}

type Request = Parameters<RequestListener>[0]
type Response = Parameters<RequestListener>[1]

export function refuseOddRequests(answer: RequestListener, parts: OddRequestParts): RequestListener {
  return (request, response) => {
    const message = oddityOf(request)
    if (message === undefined) answer(request, response)
    else refuse(request, response, message)
  }

  function refuse(request: Request, response: Response, message: string): void {
    const failure = new Failure('malformed_envelope', { message })
    const requestId = parts.newRequestId()
    const httpStatus = httpStatusOf(failure.code)
    const { hsts } = parts
    const admission = parts.admission.admit(request)
    admission.charge(costs.untried)
    sendJson(response, { httpStatus, requestId, body: failureAnswer(failure, requestId), isLast: true, hsts })
    parts.onAnswered({
      requestId,
      verb: request.method ?? 'none',
      route: 'none',
      httpStatus,
      durationMs: 0,
      address: admission.address,
      failure,
    })
  }
}

function oddityOf({ httpVersion, headers }: Request): string | undefined {
  if (headers.host === undefined && httpVersion === '1.1')
    return 'The Host header is missing, which HTTP/1.1 wants.'
  if (headers.expect !== undefined && !isContinue(headers.expect))
    return 'The Expect header asks for something unknown: leave it out, or send 100-continue.'
  return undefined
}

function isContinue(expect: string): boolean {
  return expect.toLowerCase() === '100-continue'
}

export function answerOutsideRequests(
  server: Server,
  parts: OddRequestParts & { readonly maxBytes: number },
): void {
  server.on('checkExpectation', (request: Request, response: Response) =>
    server.emit('request', request, response),
  )
  server.on('checkContinue', (request: Request, response: Response) => {
    // A client that is not asked for the body does not send it.
    if (!(Number(request.headers['content-length']) > parts.maxBytes)) response.writeContinue()
    server.emit('request', request, response)
  })
  server.on('connect', (request: Request, socket: Socket) => {
    const admission = parts.admission.admit(request)
    admission.charge(costs.brokenHttp)
    answerConnect({ ...parts, socket, address: admission.address, requestId: parts.newRequestId() })
  })
}

/** Removes the scheme and host from an absolute-form target, which servers must accept. */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, '/')
}
