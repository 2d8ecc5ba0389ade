// A listener that closes: whoever is being answered gets the answer, and nobody who never asks holds it up.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type FastifyInstance, fastify } from 'fastify'
import { arrivalGraceMs, drainBeforeClosing, idleGraceMs } from '../../src/platform/http/drain.ts'
import { TestClock } from '../support/clock.ts'

interface Closing {
  readonly listener: FastifyInstance
  readonly clock: TestClock
  /** Connects, sends the text, and says when the listener has seen it. */
  dial(said?: string): Promise<Socket>
  /** Answers what waits at /slow. */
  answer(): void
}

async function listen({ isPatient = false } = {}): Promise<Closing> {
  const clock = new TestClock()
  const listener = fastify({ forceCloseConnections: 'idle', return503OnClosing: false })
  const slow = Promise.withResolvers<string>()
  listener.get('/slow', () => slow.promise)
  listener.get('/', async () => 'here')
  drainBeforeClosing(listener, { clock, isPatient: () => isPatient })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  // Safe: it listens at a port.
  const { port } = listener.server.address() as AddressInfo
  return {
    listener,
    clock,
    answer: () => slow.resolve('at last'),
    async dial(said = '') {
      const socket = connect(port, '127.0.0.1')
      const [accepted] = (await once(listener.server, 'connection')) as [Socket]
      if (said !== '') {
        socket.write(said)
        while (accepted.bytesRead < said.length) await turn()
      }
      return socket
    },
  }
}

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

test('a connection that never asked for anything does not hold up a close', async () => {
  for (const isPatient of [false, true]) {
    const { listener, clock, dial } = await listen({ isPatient })
    const spare = await dial()
    const closed = listener.close()
    if (isPatient) {
      await turn()
      clock.advance(idleGraceMs)
    }
    await closed
    assert.equal(await text(spare), '')
  }
})

test('half a request is waited for, but not for ever; one that is being answered is', async () => {
  const { listener, clock, dial, answer } = await listen()
  const halves = [
    await dial('GET / HT'),
    await dial('POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{'),
    await dial(`${ask('/')}GET / HT`),
  ]
  const whole = await dial(ask('/slow'))
  let isClosed = false
  const closed = listener.close().then(() => {
    isClosed = true
  })
  await turn()
  clock.advance(arrivalGraceMs - 1)
  await turn()
  assert(halves.every((socket) => !socket.destroyed))
  clock.advance(1)
  await Promise.all(halves.map((socket) => once(socket.resume(), 'close')))
  assert.equal(isClosed, false)
  answer()
  assert.match(await text(whole), /at last$/)
  await closed
})

test('an open connection does not keep what was sent on it once it is answered', async (t) => {
  const { listener, dial } = await listen()
  t.after(() => listener.close())
  const seen = Promise.withResolvers<WeakRef<object>>()
  listener.server.once('request', (request: object) => seen.resolve(new WeakRef(request)))
  const idle = await dial(ask('/'))
  await once(idle, 'data')
  const request = await seen.promise
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  for (let tries = 0; request.deref() && tries < 20; tries++) {
    await turn()
    collectGarbage()
  }
  assert(!request.deref(), 'the request is still held')
  assert.equal(idle.destroyed, false)
})
