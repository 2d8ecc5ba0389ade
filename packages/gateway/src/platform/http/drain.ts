// A listener that closes without failing a request: it takes no new connections, tells those that are open to go
// elsewhere with the next answer, and only then cuts what is still idle. Closing idle connections at once would cut
// some of them just when a request is on its way. Nor does it wait for those who never ask: Node.js no longer looks at
// its timeouts once a server is closing, and a browser keeps a spare connection open for minutes.
import type { ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../runtime/clock.ts'

/** A busy client uses each of its connections again within this time; who does not, waits for nothing. */
export const idleGraceMs = 1_000
/** What is left, once the listener closes, for a request to arrive whole. */
export const arrivalGraceMs = 5_000

/** After everything else that adds to the listener: streams that never end by themselves are ended before this. */
export function drainBeforeClosing(
  listener: FastifyInstance,
  { clock, isPatient }: { clock: Clock; isPatient: () => boolean },
): void {
  const { server } = listener
  /** Each with the answer that is under way on it. */
  const connections = new Map<Socket, ServerResponse | undefined>()
  server.on('connection', (socket: Socket) => {
    connections.set(socket, undefined)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', (request, response) => {
    const { socket } = request
    if (!connections.has(socket)) return
    connections.set(socket, response)
    // It holds all that was sent, 256 KiB perhaps, and the connection may stay open for long.
    response.once('close', () => {
      if (connections.get(socket) === response) connections.set(socket, undefined)
    })
  })
  const cut = (isUseless: (socket: Socket, response: ServerResponse | undefined) => boolean) => {
    for (const [socket, response] of connections) if (isUseless(socket, response)) socket.destroy()
  }

  listener.addHook('preClose', async () => {
    if (!server.listening) return
    const closed = new AbortController()
    server.once('close', () => closed.abort())
    if (isPatient()) {
      // Of net, because the one of http closes idle connections at once.
      Server.prototype.close.call(server)
      await clock.wait(idleGraceMs, closed.signal)
    }
    cut((socket) => socket.bytesRead === 0)
    // Their answers may have promised to keep the connection.
    for (const [socket, response] of connections) response?.once('close', () => socket.end())
    void clock
      .wait(arrivalGraceMs, closed.signal)
      .then(() => cut((_socket, response) => !response?.req.complete || response.writableEnded))
  })
}
