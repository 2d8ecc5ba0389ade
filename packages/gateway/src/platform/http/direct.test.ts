import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { makeControl, openFrom } from '../../../test/support/admission.ts'
import { maxDiscardedBytes, sendJsonEarly } from './direct.ts'
import { answerTooSlow } from './failures.ts'

const answer = { httpStatus: 413, requestId: 'r', body: { code: 41300 }, isLast: false, hsts: undefined }

/** A client whose request is answered before its body arrives. */
async function answerEarly(t: TestContext, head: string) {
  const server = createServer()
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  const { port } = server.address() as AddressInfo
  const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  client.on('error', () => {})
  client.write(`POST / HTTP/1.1\r\nhost: x\r\n${head}\r\n\r\n`)
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  const discarded = sendJsonEarly(response, answer)
  const [results] = await once(client, 'data')
  return { client, socket: request.socket, discarded, results: String(results) }
}

test('an early response is complete before the body is, and the connection ends with the body', async (t) => {
  const { client, socket, discarded, results } = await answerEarly(t, 'content-length: 300000')
  assert.match(results, /^HTTP\/1.1 413 .*connection: close.*{"code":41300}$/s)
  await once(client, 'end')
  assert.equal(socket.destroyed, false)
  client.write(Buffer.alloc(300_000))
  assert.equal(await discarded, 300_000)
  await closed(socket)
})

test('a limited part of an endless body is read after the response', async (t) => {
  const { client, socket, discarded } = await answerEarly(t, 'content-length: 10737418240')
  const sending = setInterval(() => client.write(Buffer.alloc(64 * 1024)), 0)
  const bytes = await discarded
  clearInterval(sending)
  await closed(socket)
  assert(bytes > maxDiscardedBytes && bytes <= maxDiscardedBytes + 64 * 1024, `${bytes}`)
})

test('a body that does not arrive after the response is cut off in time, without a second response', async (t) => {
  const { client, socket, discarded } = await answerEarly(t, 'content-length: 300000')
  const onAnswered = () => assert.fail('it was answered before')
  answerTooSlow({ socket, requestId: 'r', onAnswered })
  assert.equal(await discarded, 0)
  await closed(socket)
  client.destroy()
})

test('reading after the response is charged to the address, and the slot is kept until then', async () => {
  const { admission } = makeControl({ failedOpeningsPerMinute: 5, requestsInFlightMax: 4 })
  const from = { socket: { remoteAddress: '203.0.113.9' }, headers: {} } as IncomingMessage
  await openFrom(admission, '203.0.113.9')
  const oversize = admission.admit(from)
  oversize.startReceiving()
  assert.equal(oversize.isReceiving, true)
  assert.throws(() => admission.admit(from).startReceiving(), { failure: 'unavailable' })
  oversize.endDiscarding({ bytes: 4 * 1024 * 1024, isWhole: true })
  admission.admit(from).startReceiving()
  oversize.endDiscarding({ bytes: 2 * 1024 * 1024, isWhole: true })
  assert.throws(() => admission.admit(from).startReceiving(), { failure: 'too_many_requests' })
})

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close')
}
