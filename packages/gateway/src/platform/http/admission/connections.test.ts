import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, get } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { admitFrom, makeControl, openFrom } from '../../../../test/support/admission.ts'
import { limitConnections } from './connections.ts'

const plenty = { perSecond: 1_000, burst: 1_000 }

async function listen(
  t: TestContext,
  { trustedProxies = [] as string[], perAddress = 2, own = plenty, shared = plenty } = {},
) {
  const server = createServer()
  const { admission, clock } = makeControl({ trustedProxies })
  limitConnections(server, {
    limits: {
      total: 10,
      reserved: 7,
      perAddress,
      fresh: {
        known: { perSecond: 1, burst: perAddress },
        unknown: { perSecond: 1, burst: Math.min(2, perAddress) },
        own,
        shared,
      },
    },
    admission,
    nowMs: () => clock.now(),
  })
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
  /** Whether the connection was accepted. */
  const dial = async (localAddress: string): Promise<boolean> => {
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    sockets.push(socket)
    socket.on('error', () => {})
    return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)])
  }
  return { dial, sockets, server, clock, admission }
}

test('one address has a share of the connections, and others have theirs', async (t) => {
  const { dial, sockets, server, clock } = await listen(t)
  assert.deepEqual([await dial('127.0.0.1'), await dial('127.0.0.1')], [true, true])
  assert.equal(await dial('127.0.0.1'), false)
  assert.equal(await dial('127.0.0.2'), true)
  const gone = new Promise<void>((resolve) => {
    const look = () => server.getConnections((_, count) => (count === 2 ? resolve() : setImmediate(look)))
    sockets[0]?.on('close', look)
  })
  sockets[0]?.destroy()
  await gone
  clock.advance(1_000)
  assert.equal(await dial('127.0.0.1'), true)
})

test('a trusted proxy has no share of its own', async (t) => {
  const { dial, admission } = await listen(t, { trustedProxies: ['127.0.0.0/8'] })
  for (let index = 0; index < 5; index++) assert.equal(await dial('127.0.0.1'), true)
  admitFrom(admission, '127.0.0.1').charge(100)
  assert.equal(await dial('127.0.0.1'), true)
})

test('one address can open a limited number of connections per second, an unknown one fewer at once', async (t) => {
  const { dial, sockets, clock, admission } = await listen(t, { perAddress: 3 })
  await openFrom(admission, '127.0.0.1')
  const dialAndLeave = async () => {
    const isWelcome = await dial('127.0.0.1')
    sockets.at(-1)?.destroy()
    return isWelcome
  }
  for (let opened = 0; opened < 3; opened++) assert.equal(await dialAndLeave(), true)
  assert.equal(await dialAndLeave(), false)
  for (const isWelcome of [true, true, false]) assert.equal(await dial('127.0.0.2'), isWelcome)
  clock.advance(999)
  assert.equal(await dialAndLeave(), false)
  clock.advance(1)
  assert.equal(await dialAndLeave(), true)
})

test('an address that cost twice its allowance loses its connections and is blocked for a while', async (t) => {
  const { dial, sockets, clock, admission } = await listen(t)
  assert.deepEqual([await dial('127.0.0.1'), await dial('127.0.0.2')], [true, true])
  admitFrom(admission, '127.0.0.1').charge(9)
  assert.equal(admission.isShutOut('127.0.0.1'), false)
  clock.advance(1)
  assert.equal(sockets[0]?.closed, false)
  const cut = once(sockets[0] as Socket, 'close')
  admitFrom(admission, '127.0.0.1').charge(2)
  await cut
  assert.deepEqual([await dial('127.0.0.1'), await dial('127.0.0.2')], [false, true])
  clock.advance(60_000)
  assert.equal(await dial('127.0.0.1'), false)
  clock.advance(60_000)
  assert.equal(await dial('127.0.0.1'), true)
})

test('unknown addresses leave the reserved connections to known ones', async (t) => {
  const { dial, admission } = await listen(t)
  await openFrom(admission, '127.0.0.9')
  const from = (last: number) => dial(`127.0.0.${last}`)
  assert.deepEqual([await from(1), await from(2), await from(3)], [true, true, true])
  assert.equal(await from(4), false)
  assert.deepEqual([await from(9), await from(9)], [true, true])
})

test('beyond their own, unknown addresses share a limit for new connections, known ones do not', async (t) => {
  const one = { perSecond: 1, burst: 1 }
  const { dial, admission } = await listen(t, { own: one, shared: one })
  await openFrom(admission, '127.0.0.9')
  const from = (last: number) => dial(`127.0.0.${last}`)
  assert.deepEqual([await from(1), await from(1)], [true, true])
  assert.deepEqual([await from(2), await from(2)], [true, false])
  assert.deepEqual([await from(9), await from(9)], [true, true])
})

test('a connection with a successful request returns what it took from the shared limit', async (t) => {
  const server = createHttpServer((request, response) => {
    response.statusCode = request.url === '/good' ? 200 : 400
    response.end()
  })
  const { admission, clock } = makeControl()
  const fresh = { known: plenty, unknown: plenty, own: { perSecond: 0.001, burst: 1 } }
  limitConnections(server, {
    limits: {
      total: 10,
      reserved: 1,
      perAddress: 9,
      fresh: { ...fresh, shared: { perSecond: 0.001, burst: 1 } },
    },
    admission,
    nowMs: () => clock.now(),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const ask = async (path: string) => {
    const asked = get({ host: '127.0.0.1', port, path, agent: false })
    const [response] = await once(asked, 'response')
    return response.resume().statusCode
  }
  for (const path of ['/good', '/good', '/good', '/bad']) await ask(path)
  await assert.rejects(ask('/good'), { code: 'ECONNRESET' })
})
