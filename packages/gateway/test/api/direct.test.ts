// The merchant API on the bare connection: requests behind one another, bodies that nobody reads, two lengths for one
// body, and clients that go away.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'

const gateway = await startTestGateway()
const merchant = await gateway.addMerchant()
const { hostname, port } = new URL(gateway.url)
const path = '/api/v1/gateway'

function dial(): Socket {
  return connect({ host: hostname, port: Number(port) })
}

function post(body: string, headers: Readonly<Record<string, string | number>> = {}): string {
  const all = {
    host: hostname,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

async function sealed(orderNo: string): Promise<string> {
  return JSON.stringify(await merchant.seal('service.trade.create', createBody({ now: Date.now(), orderNo })))
}

const statuses = (answers: string): string[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status)

async function isThere(orderNo: string): Promise<boolean> {
  return (await merchant.call('service.trade.query', { orderNo })).code === 20000
}

test('requests that are sent behind one another are answered in that order, also after a body that nobody read', async () => {
  const socket = dial()
  socket.write(
    post(await sealed('first')) +
      post('x'.repeat(1_000), { 'content-type': 'text/plain' }) +
      post(await sealed('second'), { connection: 'close' }),
  )
  assert.deepEqual(statuses(await text(socket)), ['200', '415', '200'])
  assert(await isThere('second'))
})

test('a body with two lengths is refused, and nothing behind it is taken for a request', async () => {
  const hidden = post(await sealed('smuggled'))
  for (const [headers, body] of [
    [{ 'transfer-encoding': 'chunked' }, `0\r\n\r\n${hidden}`],
    [{ 'transfer-encoding': 'identity, chunked' }, `0\r\n\r\n${hidden}`],
    [{ 'content-length': '5\r\ncontent-length: 6' }, `xxxxx${hidden}`],
    [{ 'content-length': '+5' }, `xxxxx${hidden}`],
  ] as const) {
    const socket = dial()
    socket.write(post(body, { 'content-length': 5, ...headers }))
    assert.deepEqual(statuses(await text(socket)), ['400'], JSON.stringify(headers))
  }
  assert.equal(await isThere('smuggled'), false)
})

test('of a body that is too long no more is read, and the line is cut', async () => {
  const socket = dial()
  socket.write(post('', { 'content-length': 256 * 1024 + 1 }))
  const answer = await text(socket)
  assert.deepEqual(statuses(answer), ['413'])
  assert.match(answer, /connection: close/)
})

test('a client that goes away, before or after the end of its body, can send it again; half of one does nothing', async () => {
  const body = createBody({ now: Date.now(), orderNo: 'whole' })
  for (let rounds = 0; rounds < 5; rounds++) {
    const whole = dial()
    const request = post(JSON.stringify(await merchant.seal('service.trade.create', body)))
    whole.write(request, () => whole.destroy())
    const broken = dial()
    const half = post(await sealed('half')).slice(0, -1)
    broken.write(half, () => broken.destroy())
  }
  assert.equal((await merchant.call('service.trade.create', body)).code, 20000)
  const { rowCount } = await gateway.pool.query("select from orders where order_no = 'whole'")
  assert.equal(rowCount, 1)
  assert.equal(await isThere('half'), false)
})
