// Limits what one connection can make Node.js process in one turn: 64 kB of one-byte chunks take 35 ms. No client
// does this by mistake, so the connection is cut and its address shut out for a minute.
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { MachineTime } from '../../runtime/timer.ts'
import type { AdmissionControl } from './admission-control.ts'

type Request = Parameters<RequestListener>[0]
type Response = Parameters<RequestListener>[1]

/** A normal body arrives in a few pieces. */
export const maxPieces = 1_024
/** Requests read in one turn. A client that waits for each response never has more than one. */
export const maxInBurst = 32

export function limitPipelining(
  answer: RequestListener,
  { admission, nextTurn }: { admission: AdmissionControl; nextTurn: MachineTime['nextTurn'] },
): RequestListener {
  const bursts = new Map<Socket, [Request, Response][]>()
  let isEnding = false

  return (request, response) => {
    const { socket } = request
    if (isOver(socket)) return
    // Must run before the body is parsed, possibly before the request is handled.
    if (request.headers['transfer-encoding'] !== undefined) limitPieces(request, response)
    const behind = bursts.get(socket)
    if (!behind) {
      beginBurst(socket)
      answer(request, response)
    } else if (behind.length + 1 < maxInBurst || mayHurry(socket)) behind.push([request, response])
    else cut(socket)
  }

  function beginBurst(socket: Socket): void {
    bursts.set(socket, [])
    if (!isEnding) nextTurn(endBursts)
    isEnding = true
  }

  function endBursts(): void {
    const ended = [...bursts.values()]
    bursts.clear()
    isEnding = false
    for (const [request, response] of ended.flat()) if (!isOver(request.socket)) answer(request, response)
  }

  function isOver({ destroyed, writableEnded }: Socket): boolean {
    return destroyed || writableEnded
  }

  /** A proxy carries many clients' requests, and a known merchant may pipeline. */
  function mayHurry({ remoteAddress }: Socket): boolean {
    return (
      remoteAddress !== undefined && (admission.isProxy(remoteAddress) || admission.isKnown(remoteAddress))
    )
  }

  function limitPieces(request: Request, response: Response): void {
    const push = request.push.bind(request)
    let pieces = 0
    // Assigned through a name: V8 allocates functions written into a property as old, and the request with them.
    const countedPush: typeof request.push = (piece, encoding) => {
      if (++pieces <= maxPieces) return push(piece, encoding)
      cut(request.socket)
      // Node.js would parse everything that it read.
      request.push = () => false
      return false
    }
    request.push = countedPush
    // Even after the response, Node.js would parse the rest.
    response.once('finish', () => {
      if (!request.complete) request.socket.destroy()
    })
  }

  function cut(socket: Socket): void {
    if (!socket.destroyed) admission.shutOutConnection(socket)
    socket.destroy()
  }
}
