import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { shareConnections } from './connections.ts'

async function listen(t: TestContext, trustedProxies: readonly string[]) {
  const server = createServer()
  shareConnections(server, { total: 10, perAddress: 2, trustedProxies })
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    if (!socket.destroyed) socket.write('hello')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  /** Whether it was welcomed. */
  const dial = async (localAddress: string): Promise<boolean> => {
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    sockets.push(socket)
    socket.on('error', () => {})
    return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)])
  }
  return { dial, sockets, server }
}

test('one address has its share of the connections, and others theirs', async (t) => {
  const { dial, sockets, server } = await listen(t, [])
  assert.deepEqual([await dial('127.0.0.1'), await dial('127.0.0.1')], [true, true])
  assert.equal(await dial('127.0.0.1'), false)
  assert.equal(await dial('127.0.0.2'), true)
  const gone = new Promise<void>((resolve) => {
    const look = () => server.getConnections((_, count) => (count === 2 ? resolve() : setImmediate(look)))
    sockets[0]?.on('close', look)
  })
  sockets[0]?.destroy()
  await gone
  assert.equal(await dial('127.0.0.1'), true)
})

test('a proxy that is trusted has no share of its own', async (t) => {
  const { dial } = await listen(t, ['127.0.0.0/8'])
  for (let index = 0; index < 5; index++) assert.equal(await dial('127.0.0.1'), true)
})
