// The short way in: what is asked for most is answered on node:http itself, because the framework would cost as much
// as all of our own work on such a request (docs/performance.md). Pages take the long way.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '@tillgate/protocol'

/** Undefined when it did not take the request; then the framework does. */
export type Direct = (request: IncomingMessage, response: ServerResponse) => Taken | undefined

export interface Taken {
  readonly route: string
  readonly requestId: string
}

export interface Reading {
  readonly maxBytes: number
  /** It was larger than that, and read for nothing. */
  readonly onTooLarge: () => void
}

/** Undefined when the client went away before all of it was there. */
export function readText(
  request: IncomingMessage,
  { maxBytes, onTooLarge }: Reading,
): Promise<string | undefined> {
  const tooLarge = () => {
    onTooLarge()
    return new Failure('too_large')
  }
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge()
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    request.on('data', (piece: Buffer) => {
      pieces.push(piece)
      bytes += piece.length
      if (bytes <= maxBytes) return
      request.pause()
      request.removeAllListeners('data')
      pieces.length = 0
      reject(tooLarge())
    })
    request.on('end', () => {
      const [only] = pieces
      resolve((only && pieces.length === 1 ? only : Buffer.concat(pieces)).toString())
    })
    request.on('close', () => resolve(undefined))
  })
}

export interface DirectAnswer {
  readonly httpStatus: number
  readonly requestId: string
  readonly body: object
  readonly retryAfterSeconds?: number | undefined
  /** The connection is closed after it, so that nothing more has to be read from it. */
  readonly isLast: boolean
  /** The Strict-Transport-Security header. Here, because a header that is set before takes 5 µs more. */
  readonly hsts: string | undefined
  /** The same at once: what is left of the request is not even read. */
  readonly isCut?: boolean
}

export function sendJson(response: ServerResponse, answer: DirectAnswer): void {
  const text = writeHead(response, answer)
  if (answer.isCut) response.end(text, () => response.req.socket.destroy())
  else response.end(text)
}

/** Of a body that is too large, for senders that look for an answer only once they have sent everything. */
export const maxDiscardedBytes = 4 * 1024 * 1024

/**
 * Sends an answer while the body is still coming: a connection that is cut under its sender takes the answer with it. So
 * only our side is ended, and the rest is read for nothing, up to so many bytes and as long as the request may take.
 * Resolves with how many bytes that were, when the body has ended or the connection is cut.
 */
export function sendJsonEarly(response: ServerResponse, answer: DirectAnswer): Promise<number> {
  const { req: request } = response
  const { socket } = request
  const text = writeHead(response, { ...answer, isLast: true })
  const sent = new Promise((resolve) => response.write(text, resolve)).then(() => socket.end())
  let bytes = 0
  request.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > maxDiscardedBytes) socket.destroy()
  })
  request.on('end', () => sent.then(() => socket.destroySoon()))
  request.resume()
  return new Promise((resolve) => request.on('close', () => resolve(bytes)))
}

/** The text that follows it. */
function writeHead(response: ServerResponse, answer: DirectAnswer): string {
  const text = JSON.stringify(answer.body)
  const headers = [
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(Buffer.byteLength(text)),
    'x-request-id',
    answer.requestId,
  ]
  if (answer.retryAfterSeconds !== undefined) headers.push('retry-after', String(answer.retryAfterSeconds))
  if (answer.hsts !== undefined) headers.push('strict-transport-security', answer.hsts)
  if (answer.isLast || answer.isCut) headers.push('connection', 'close')
  response.writeHead(answer.httpStatus, headers)
  return text
}
