import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { machineTime } from '../platform/timer.ts'
import { maxInBurst, watchForAbuse } from './abuse.ts'

/** What was looked at of so many requests in one go, and who was shut out for it. */
async function sendAtOnce(t: TestContext, count: number, { isStranger = true } = {}) {
  const looked: string[] = []
  const shutOut: string[] = []
  const server = createServer(
    watchForAbuse(
      (request, response) => {
        looked.push(request.url ?? '')
        response.end()
      },
      {
        costs: {
          noteJunk: () => assert.fail('it is worse than junk'),
          shutOut: (address) => shutOut.push(address),
          isShutOut: () => false,
          isStranger: () => isStranger,
          onShutOut: () => {},
        },
        isTrusted: () => false,
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
  return { looked, shutOut }
}

const paths = (count: number) => Array.from({ length: count }, (_, index) => `/${index}`)

test('requests behind one another are looked at in their order', async (t) => {
  assert.deepEqual(await sendAtOnce(t, maxInBurst), { looked: paths(maxInBurst), shutOut: [] })
})

test('of more than a stranger may send in one go only the first is looked at, and the address is shut out', async (t) => {
  const { looked, shutOut } = await sendAtOnce(t, 5 * maxInBurst)
  assert.deepEqual(looked, paths(1))
  assert.deepEqual(shutOut, ['127.0.0.1'])
})

test('who is known may send as many as they like', async (t) => {
  const count = 2 * maxInBurst
  assert.deepEqual(await sendAtOnce(t, count, { isStranger: false }), { looked: paths(count), shutOut: [] })
})
