// Serves the most frequent requests directly on node:http, because the framework would cost as much as our own work
// (docs/performance.md).
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '@tillgate/protocol'

/** Returns undefined if the framework must handle the request. */
export type Direct = (request: IncomingMessage, response: ServerResponse) => Taken | undefined

export interface Taken {
  readonly route: string
  readonly requestId: string
}

export interface Reading {
  readonly maxBytes: number
  readonly onTooLarge: () => void
}

/** Resolves with undefined if the client disconnected early. */
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
  readonly isLast: boolean
  /** The Strict-Transport-Security header. Passed here, because setting a header beforehand takes 5 µs more. */
  readonly hsts: string | undefined
  readonly isCut?: boolean
}

export function sendJson(response: ServerResponse, answer: DirectAnswer): void {
  const text = writeHead(response, answer)
  if (answer.isCut) response.end(text, () => response.req.socket.destroy())
  else response.end(text)
}

/** Some clients read a response only after they have sent the whole body. */
export const maxDiscardedBytes = 4 * 1024 * 1024

/**
 * Responds while the body is still arriving. Cutting the connection would lose the response, so only our side is
 * closed and the rest is discarded, within limits. Resolves with the number of discarded bytes.
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
