// What one connection can make Node.js do in one go. It parses all that it has read, 64 kB, before anybody else has a
// turn: 10,900 pieces of a body, one byte each, take 35 ms, and there is room for two thousand short requests. Nobody
// sends such a thing by mistake: the connection is cut without an answer, and its address is shut out for a minute. So that
// those cost little which are cut in the end, only the first request of a turn is looked at at once.
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { MachineTime } from '../../runtime/timer.ts'
import type { AdmissionControl } from './admission-control.ts'

type Request = Parameters<RequestListener>[0]
type Response = Parameters<RequestListener>[1]

/** A body that is sent as it should be comes in a few. */
export const maxPieces = 1_024
/** Of requests that were read in one go. Who waits for an answer before the next has one. */
export const maxInBurst = 32

export function limitPipelining(
  answer: RequestListener,
  { admission, nextTurn }: { admission: AdmissionControl; nextTurn: MachineTime['nextTurn'] },
): RequestListener {
  /** Of this turn of the event loop: those that came behind another one on the same connection. */
  const bursts = new Map<Socket, [Request, Response][]>()
  let isEnding = false

  return (request, response) => {
    const { socket } = request
    if (isOver(socket)) return
    // Before its body is parsed, which may be before it is looked at.
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

  /** It had its last answer. */
  function isOver({ destroyed, writableEnded }: Socket): boolean {
    return destroyed || writableEnded
  }

  /** A proxy brings everybody's requests, and a merchant that is known may be in a hurry. */
  function mayHurry({ remoteAddress }: Socket): boolean {
    return (
      remoteAddress !== undefined && (admission.isProxy(remoteAddress) || admission.isKnown(remoteAddress))
    )
  }

  /** Whoever reads them, and also if nobody does. */
  function limitPieces(request: Request, response: Response): void {
    const push = request.push.bind(request)
    let pieces = 0
    // Under a name first: V8 makes a function that is written into a property old from birth, and the request with it.
    const countedPush: typeof request.push = (piece, encoding) => {
      if (++pieces <= maxPieces) return push(piece, encoding)
      cut(request.socket)
      // All that was read is parsed to its end.
      request.push = () => false
      return false
    }
    request.push = countedPush
    // What is answered already would be parsed to its end all the same.
    response.once('finish', () => {
      if (!request.complete) request.socket.destroy()
    })
  }

  function cut(socket: Socket): void {
    if (!socket.destroyed) admission.shutOutConnection(socket)
    socket.destroy()
  }
}
