// Closes a listener without failing requests: it accepts no new connections, sends `connection: close` with the next
// responses, and cuts idle connections after a grace period, because a request may be on its way.
import type { ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../runtime/clock.ts'

/** A busy client reuses each connection within this time. */
export const idleGraceMs = 1_000
/** How long a partly received request may take to arrive. */
export const arrivalGraceMs = 5_000

/** Must be added last: endless streams end before it runs. */
export function drainBeforeClosing(
  listener: FastifyInstance,
  { clock, isPatient }: { clock: Clock; isPatient: () => boolean },
): void {
  const { server } = listener
  const connections = new Map<Socket, ServerResponse | undefined>()
  server.on('connection', (socket: Socket) => {
    connections.set(socket, undefined)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', (request, response) => {
    const { socket } = request
    if (!connections.has(socket)) return
    connections.set(socket, response)
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
      // The close method of http.Server would cut idle connections at once.
      Server.prototype.close.call(server)
      await clock.wait(idleGraceMs, closed.signal)
    }
    cut((socket) => socket.bytesRead === 0)
    // These responses may have promised to keep the connection open.
    for (const [socket, response] of connections) response?.once('close', () => socket.end())
    void clock
      .wait(arrivalGraceMs, closed.signal)
      .then(() => cut((_socket, response) => !response?.req.complete || response.writableEnded))
  })
}
