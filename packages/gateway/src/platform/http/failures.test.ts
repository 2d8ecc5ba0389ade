import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { answerBrokenHttp } from './failures.ts'

test('an answered connection is closed after a moment, even if the other side keeps it open', async (t) => {
  const server = createServer()
  t.after(() => server.close())
  const answered = Promise.withResolvers<{ socket: Socket; expire: () => void }>()
  server.on('clientError', (error, socket) =>
    answerBrokenHttp(error, {
      socket: socket as Socket,
      requestId: 'r',
      onAnswered: () => {},
      startTimer: (_delayMs, expire) => {
        answered.resolve({ socket: socket as Socket, expire })
        return () => {}
      },
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  const { port } = server.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  client.write('no HTTP\r\n\r\n')
  client.resume()
  await once(client, 'end')
  const { socket, expire } = await answered.promise
  assert.equal(socket.destroyed, false)
  expire()
  await once(socket, 'close')
  client.destroy()
})
