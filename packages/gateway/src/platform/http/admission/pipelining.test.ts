import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { makeControl, openFrom } from '../../../../test/support/admission.ts'
import { machineTime } from '../../runtime/timer.ts'
import { limitPipelining, maxInBurst } from './pipelining.ts'

/** Which of the pipelined requests were handled, and whether the address was blocked. */
async function sendAtOnce(t: TestContext, count: number, { isKnown = false } = {}) {
  const looked: string[] = []
  const { admission } = makeControl()
  if (isKnown) await openFrom(admission, '127.0.0.1')
  const server = createServer(
    limitPipelining(
      (request, response) => {
        looked.push(request.url ?? '')
        response.end()
      },
      {
        admission,
        nextTurn: machineTime.nextTurn,
      },
    ),
  )
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  const { port } = server.address() as AddressInfo
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('error', () => {})
  socket.resume()
  const requests = Array.from({ length: count }, (_, index) => {
    const connection = index === count - 1 ? 'connection: close\r\n' : ''
    return `GET /${index} HTTP/1.1\r\nhost: x\r\n${connection}\r\n`
  })
  socket.write(requests.join(''))
  await once(socket, 'close')
  return { looked, isShutOut: admission.isShutOut('127.0.0.1') }
}

const paths = (count: number) => Array.from({ length: count }, (_, index) => `/${index}`)

test('pipelined requests are handled in order', async (t) => {
  assert.deepEqual(await sendAtOnce(t, maxInBurst), { looked: paths(maxInBurst), isShutOut: false })
})

test('of too many pipelined requests from an unknown address only the first is handled, and the address is blocked', async (t) => {
  const { looked, isShutOut } = await sendAtOnce(t, 5 * maxInBurst)
  assert.deepEqual(looked, paths(1))
  assert.equal(isShutOut, true)
})

test('a known address can pipeline any number of requests', async (t) => {
  const count = 2 * maxInBurst
  assert.deepEqual(await sendAtOnce(t, count, { isKnown: true }), { looked: paths(count), isShutOut: false })
})
