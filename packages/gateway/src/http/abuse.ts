// What one connection can make Node.js do in one go. It parses all that it has read, 64 kB, before anybody else has a
// turn: 10,900 pieces of a body, one byte each, take 35 ms, and there is room for two thousand short requests. Nobody
// sends such a thing by mistake: the connection is cut without an answer, and its address pays twice the usual allowance at once.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { MachineTime } from '../timer.ts'
import type { AddressCosts } from './api-limits.ts'

export interface AbuseParts {
  readonly costs: AddressCosts
  readonly isTrusted: (address: string) => boolean
  readonly nextTurn: MachineTime['nextTurn']
}

/** Answers whether the request is to be looked at. */
export type Watch = (request: IncomingMessage, response: ServerResponse) => boolean

export const abuseCostEnvelopes = 120
/** A body that is sent as it should be comes in a few. */
export const maxPieces = 1_024
/** Of requests that were read in one go. Who waits for an answer before the next has one. */
export const maxInBurst = 32

export function watchForAbuse({ costs, isTrusted, nextTurn }: AbuseParts): Watch {
  /** Of this turn of the event loop. */
  const bursts = new Map<Socket, number>()
  let isEnding = false

  return (request, response) => {
    const { socket } = request
    if (socket.destroyed) return false
    if (isOneOfTooMany(socket) && isStranger(socket)) {
      cut(socket)
      return false
    }
    if (request.headers['transfer-encoding'] !== undefined) watchPieces(request, response)
    return true
  }

  function isOneOfTooMany(socket: Socket): boolean {
    const count = (bursts.get(socket) ?? 0) + 1
    bursts.set(socket, count)
    if (!isEnding) nextTurn(endBursts)
    isEnding = true
    return count > maxInBurst
  }

  function endBursts(): void {
    bursts.clear()
    isEnding = false
  }

  /** A proxy brings everybody's requests, and a merchant that is known may be in a hurry. */
  function isStranger({ remoteAddress }: Socket): boolean {
    return remoteAddress === undefined || (!isTrusted(remoteAddress) && costs.isStranger(remoteAddress))
  }

  /** Whoever reads them, and also if nobody does. */
  function watchPieces(request: IncomingMessage, response: ServerResponse): void {
    const push = request.push.bind(request)
    let pieces = 0
    request.push = (piece, encoding) => {
      if (++pieces <= maxPieces) return push(piece, encoding)
      cut(request.socket)
      return false
    }
    // What is answered already would be parsed to its end all the same.
    response.once('finish', () => {
      if (!request.complete) request.socket.destroy()
    })
  }

  function cut(socket: Socket): void {
    const { remoteAddress, destroyed } = socket
    socket.destroy()
    if (!destroyed && remoteAddress !== undefined && !isTrusted(remoteAddress))
      costs.noteJunk(remoteAddress, abuseCostEnvelopes)
  }
}
