// Bytes on a connection of one's own, for clients that no HTTP library would play.
import { once } from 'node:events'
import { connect } from 'node:net'

export interface Place {
  readonly host: string
  readonly port: number
  /** Where a client's own end is. */
  readonly localAddress?: string
}

export interface Answers {
  /** Of each answer, in their order. */
  readonly statuses: readonly number[]
  readonly text: string
}

export function placeOf(url: string): Place {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

/**
 * Sends everything and reads until the other side ends. It must have reason to: something to refuse, or a last request
 * that asks for it. Our own side stays open, because an end would cancel what is not answered yet.
 */
export function sendBytes(place: Place, bytes: string | Buffer): Promise<Answers> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(place)
    socket.setEncoding('latin1')
    socket.on('data', (piece) => {
      text += piece
    })
    // The line may be cut while we still send.
    socket.on('error', () => {})
    socket.on('close', () => resolve({ statuses: statusesOf(text), text }))
    socket.write(bytes)
  })
}

/** One connection that stays open: a request at a time, each answered in one piece. */
export async function openLine(place: Place): Promise<{ ask(bytes: string): Promise<void>; close(): void }> {
  const socket = connect(place)
  await once(socket, 'connect')
  return {
    async ask(bytes) {
      const answer = once(socket, 'data')
      socket.write(bytes)
      await answer
    },
    close: () => socket.destroy(),
  }
}

function statusesOf(text: string): number[] {
  // An answer begins right behind the body of the one before it.
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

export function postBytes(
  place: Place,
  request: { path: string; headers?: readonly string[]; body: string },
): string {
  const headers = [
    `host: ${place.host}`,
    'content-type: application/json',
    ...(request.headers ?? [`content-length: ${Buffer.byteLength(request.body)}`]),
  ]
  return `POST ${request.path} HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n${request.body}`
}

/** The last request on a line: its answer shows that all before it were seen to their end. */
export const farewell = 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
