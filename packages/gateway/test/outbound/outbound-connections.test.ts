// Which addresses the sender really connects to as names come and go, and how many connections it keeps. Names
// lead where each test says; public addresses are laid over loopback, and the rules are those of live.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { outboundLimits } from '../../src/platform/outbound/limits.ts'
import type { Delivery } from '../../src/platform/runtime/delivery.ts'
import { makeAuthority } from '../support/certificates.ts'
import {
  layOver,
  makeSender,
  makeTimers,
  plainAnswer,
  receiveHttp,
  receivePlain,
  receiveTls,
  setCanary,
  until,
} from '../support/outbound-network.ts'

const authority = makeAuthority()
const certificate = authority.issue({ altNames: ['DNS:shop.example', 'IP:8.8.8.8'] })
const live = { mode: 'live', extraCa: authority.ca } as const
const url = 'https://shop.example/callbacks'
const body = '{}'

function reasonOf(delivery: Delivery): string {
  return delivery.kind === 'answered' ? `HTTP ${delivery.httpStatus}` : delivery.reason
}

describe('a name', () => {
  test('whose addresses are public is connected to at a checked address on port 443', async (t) => {
    const receiver = await receiveTls(t, certificate, (socket) => socket.write(plainAnswer('ok')))
    const dialled: string[] = []
    const lookup = async (): Promise<string[]> => ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']
    const sender = makeSender(t, live, { lookup, dial: layOver(receiver.port, dialled) })
    assert.equal(reasonOf(await sender.post({ url, body })), 'HTTP 200')
    assert.deepEqual(dialled, ['93.184.215.14 443'])
  })

  test('that has one public and one private address is refused, in either order', async (t) => {
    const canary = await setCanary(t)
    const dialled: string[] = []
    for (const addresses of [
      ['93.184.215.14', '10.0.0.1'],
      ['10.0.0.1', '93.184.215.14'],
      ['93.184.215.14', '::1'],
      ['93.184.215.14', '::ffff:127.0.0.1'],
    ]) {
      const lookup = async (): Promise<string[]> => addresses
      const sender = makeSender(t, live, { lookup, dial: layOver(canary.port, dialled) })
      assert.equal(reasonOf(await sender.post({ url, body })), 'address_not_public')
    }
    assert.deepEqual(dialled, [])
    assert.equal(canary.sockets.length, 0)
  })

  test('that turns from public to private between two connections is refused', async (t) => {
    const receiver = await receiveTls(t, certificate, (socket) => {
      socket.end(plainAnswer('ok', '200 OK', 'connection: close\r\n'))
    })
    const answers = [['93.184.215.14'], ['127.0.0.1']]
    const dialled: string[] = []
    const lookup = async (): Promise<string[]> => answers.shift() ?? []
    const sender = makeSender(t, live, { lookup, dial: layOver(receiver.port, dialled) })
    assert.equal(reasonOf(await sender.post({ url, body })), 'HTTP 200')
    assert.equal(reasonOf(await sender.post({ url, body })), 'address_not_public')
    assert.deepEqual(dialled, ['93.184.215.14 443'])
  })

  test('is resolved once a connection, so a second answer cannot replace the checked one', async (t) => {
    const receiver = await receiveTls(t, certificate, (socket) => socket.write(plainAnswer('ok')))
    let lookups = 0
    const lookup = async (): Promise<string[]> => (++lookups === 1 ? ['93.184.215.14'] : ['127.0.0.1'])
    const sender = makeSender(t, live, { lookup, dial: layOver(receiver.port) })
    assert.equal(reasonOf(await sender.post({ url, body })), 'HTTP 200')
    assert.equal(lookups, 1)
  })

  test('whose connection ends up elsewhere is refused before a byte is sent', async (t) => {
    const received: Buffer[] = []
    const receiver = await setCanary(t)
    const sender = makeSender(t, live, {
      lookup: async () => ['93.184.215.14'],
      dial: () => connect(receiver.port, '127.0.0.1'),
    })
    assert.equal(reasonOf(await sender.post({ url, body })), 'address_not_public')
    await until(() => receiver.sockets.length > 0)
    const [socket] = receiver.sockets
    assert(socket)
    socket.on('data', (chunk) => received.push(chunk))
    await once(socket, 'close')
    assert.equal(Buffer.concat(received).length, 0)
  })

  test('whose connection ends at another public address than the checked one is refused', async (t) => {
    const receiver = await receiveTls(t, certificate, (socket) => socket.write(plainAnswer('ok')))
    const elsewhere = layOver(receiver.port)
    const sender = makeSender(t, live, {
      lookup: async () => ['93.184.215.14'],
      dial: (destination) => elsewhere({ ...destination, addresses: ['8.8.8.8'] }),
    })
    const delivery = await sender.post({ url, body })
    assert(delivery.kind === 'unreachable')
    assert.equal(delivery.detail, 'connected to 8.8.8.8, which was not checked')
  })

  test('that does not exist, or has no address, is a failure of DNS', async (t) => {
    const missing = Object.assign(new Error('queryA ENOTFOUND shop.example'), { code: 'ENOTFOUND' })
    const dialled: string[] = []
    const dial = layOver(1, dialled)
    const failing = makeSender(t, live, { lookup: () => Promise.reject(missing), dial, now: () => 0 })
    assert.deepEqual(await failing.post({ url, body }), {
      kind: 'unreachable',
      reason: 'dns',
      detail: 'queryA ENOTFOUND shop.example',
      durationMs: 0,
    })
    const empty = makeSender(t, live, { lookup: async () => [], dial })
    assert.equal(reasonOf(await empty.post({ url, body })), 'dns')
    assert.deepEqual(dialled, [])
  })

  test('that resolves after the time for connecting is not connected to any more', async (t) => {
    const late = Promise.withResolvers<string[]>()
    const dialled: string[] = []
    const timers = makeTimers()
    const { startTimer } = timers
    const sender = makeSender(t, live, { lookup: () => late.promise, dial: layOver(1, dialled), startTimer })
    const posted = sender.post({ url, body })
    timers.expire(outboundLimits.connectTimeoutMs)
    const delivery = await posted
    assert(delivery.kind === 'unreachable')
    assert.equal(delivery.detail, '5000 ms passed while resolving the name')
    late.resolve(['93.184.215.14'])
    await new Promise(setImmediate)
    assert.deepEqual(dialled, [])
  })

  test('on the list may be internal, on another port and without TLS', async (t) => {
    const receiver = await receiveHttp(t, (_request, response) => response.end('inside'))
    const sender = makeSender(
      t,
      { mode: 'live', allowedTargets: [`hooks.internal:${receiver.port}`] },
      { lookup: async () => ['127.0.0.1'] },
    )
    assert.equal(
      reasonOf(await sender.post({ url: `http://hooks.internal:${receiver.port}/`, body })),
      'HTTP 200',
    )
    assert.equal(
      reasonOf(await sender.post({ url: `http://other.internal:${receiver.port}/`, body })),
      'url_not_allowed',
    )
    assert.equal(receiver.sockets.length, 1)
  })

  test('falls back to its second address where the first refuses', async (t) => {
    const receiver = await receiveHttp(t, (_request, response) => response.end('second'))
    // Nobody listens on the first: the receiver is bound to 127.0.0.1 alone.
    const sender = makeSender(t, {}, { lookup: async () => ['::1', '127.0.0.1'] })
    assert.equal(reasonOf(await sender.post({ url: `http://shop.test:${receiver.port}/`, body })), 'HTTP 200')
  })
})

describe('a kept connection', () => {
  test('is used again without a new lookup, until its life is over and the name is looked at anew', async (t) => {
    const receiver = await receiveTls(t, certificate, (socket) => socket.write(plainAnswer('ok')))
    let now = 0
    let addresses = ['93.184.215.14']
    let lookups = 0
    const lookup = async (): Promise<string[]> => {
      lookups++
      return addresses
    }
    const sender = makeSender(t, live, { lookup, dial: layOver(receiver.port), now: () => now })
    const post = async (): Promise<string> => {
      // Lets the connection come to rest, so that it is the one used again.
      await new Promise(setImmediate)
      return reasonOf(await sender.post({ url, body }))
    }
    assert.equal(await post(), 'HTTP 200')
    addresses = ['10.0.0.1']
    now = outboundLimits.connectionLifeMs - 1
    assert.equal(await post(), 'HTTP 200')
    assert.equal(lookups, 1)
    now = outboundLimits.connectionLifeMs
    assert.equal(await post(), 'address_not_public')
    assert.equal(receiver.sockets.length, 1)
  })

  test('is not trusted for longer because the clock was set back', async (t) => {
    const receiver = await receiveHttp(t, (_request, response) => response.end())
    let now = 1_000_000
    const sender = makeSender(t, {}, { now: () => now })
    await sender.post({ url: receiver.url, body })
    await new Promise(setImmediate)
    now = 0
    await sender.post({ url: receiver.url, body })
    assert.equal(receiver.sockets.length, 2)
  })

  test('is one of at most so many to one origin; the others wait their turn', async (t) => {
    const receiver = await receiveHttp(t, (_request, response) => setImmediate(() => response.end()))
    const sender = makeSender(t, { connectionsPerOrigin: 3 })
    const deliveries = await Promise.all(
      Array.from({ length: 40 }, () => sender.post({ url: receiver.url, body })),
    )
    assert(deliveries.every((delivery) => delivery.kind === 'answered'))
    assert.equal(receiver.sockets.length, 3)
  })

  test('to a receiver that hangs is not waited for beyond the time of each attempt, and nothing late is sent', async (t) => {
    let requests = 0
    let isWell = false
    const receiver = await receiveHttp(t, (_request, response) => {
      requests++
      if (isWell) response.end()
    })
    const timers = makeTimers()
    const sender = makeSender(t, { connectionsPerOrigin: 1 }, { startTimer: timers.startTimer })
    const post = (): Promise<Delivery> => sender.post({ url: receiver.url, body })
    const posted = Promise.all(Array.from({ length: 20 }, post))
    await until(() => requests === 1)
    timers.expire(outboundLimits.attemptTimeoutMs)
    const details = (await posted).map((delivery) => delivery.kind === 'unreachable' && delivery.detail)
    const waited = '15000 ms passed while waiting for a connection'
    assert.deepEqual(details, ['15000 ms passed without an answer', ...Array(19).fill(waited)])
    isWell = true
    assert.equal(reasonOf(await post()), 'HTTP 200')
    assert.equal(requests, 2)
  })

  test('that opens too late for its attempt carries nothing', async (t) => {
    let requests = 0
    const receiver = await receiveHttp(t, (_request, response) => {
      requests++
      response.end()
    })
    const resolved = Promise.withResolvers<string[]>()
    const timers = makeTimers()
    const sender = makeSender(t, {}, { startTimer: timers.startTimer, lookup: () => resolved.promise })
    const posted = sender.post({ url: `http://shop.test:${receiver.port}/`, body })
    timers.expire(outboundLimits.attemptTimeoutMs)
    assert.equal(reasonOf(await posted), 'timeout')
    resolved.resolve(['127.0.0.1'])
    await until(() => receiver.sockets[0]?.destroyed === true)
    assert.equal(requests, 0)
  })

  test('whose life ends while others wait for it still serves them', async (t) => {
    let now = 0
    const receiver = await receiveHttp(t, (_request, response) => setImmediate(() => response.end()))
    const sender = makeSender(t, { connectionsPerOrigin: 1 }, { now: () => now })
    const post = (): Promise<Delivery> => sender.post({ url: receiver.url, body })
    const early = [post(), post(), post()]
    now = outboundLimits.connectionLifeMs
    const late = post()
    await sender.close()
    const deliveries = await Promise.all([...early, late])
    assert(deliveries.every((delivery) => delivery.kind === 'answered'))
  })

  test('of the origin that was longest unused is closed when there are more than are kept', async (t) => {
    const receiver = await receivePlain(t)
    // Long, because an idle connection would otherwise close by itself.
    const idleConnectionMs = outboundLimits.connectionLifeMs
    const sender = makeSender(t, { originsKept: 2, idleConnectionMs }, { lookup: async () => ['127.0.0.1'] })
    for (const name of ['a', 'b', 'a', 'c']) {
      await new Promise(setImmediate)
      const url = `http://${name}.test:${receiver.port}/`
      assert.equal(reasonOf(await sender.post({ url, body })), 'HTTP 200')
    }
    const [a, b, c] = receiver.sockets
    assert(a && b && c && receiver.sockets.length === 3)
    if (!b.destroyed) await once(b, 'close')
    assert.deepEqual([a.destroyed, c.destroyed], [false, false])
  })

  test('to an origin that is pushed out still finishes what it was doing', async (t) => {
    const held = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const receiver = await receiveHttp(t, async (request, response) => {
      if (request.headers.host?.startsWith('slow')) {
        reached.resolve()
        await held.promise
      }
      response.end()
    })
    const sender = makeSender(t, { originsKept: 1 }, { lookup: async () => ['127.0.0.1'] })
    const slow = sender.post({ url: `http://slow.test:${receiver.port}/`, body })
    await reached.promise
    assert.equal(
      reasonOf(await sender.post({ url: `http://quick.test:${receiver.port}/`, body })),
      'HTTP 200',
    )
    held.resolve()
    assert.equal(reasonOf(await slow), 'HTTP 200')
  })
})

describe('closing the sender', () => {
  test('waits for what is under way, closes every connection and takes no more', async (t) => {
    const held = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const receiver = await receiveHttp(t, async (_request, response) => {
      reached.resolve()
      await held.promise
      response.end('done')
    })
    const sender = makeSender(t)
    const delivery = sender.post({ url: receiver.url, body })
    await reached.promise
    const closed = sender.close()
    await assert.rejects(sender.post({ url: receiver.url, body }), /has been closed/)
    held.resolve()
    assert.equal(reasonOf(await delivery), 'HTTP 200')
    await closed
    const [socket] = receiver.sockets
    assert(socket)
    if (!socket.destroyed) await once(socket, 'close')
  })

  test('may be asked for twice', async (t) => {
    const sender = makeSender(t)
    await sender.close()
    await sender.close()
  })
})

describe('a policy that cannot work', () => {
  test('is refused when the sender is made', (t) => {
    assert.throws(() => makeSender(t, { connectTimeoutMs: 20_000 }), /connecting is a part of the attempt/)
    assert.throws(() => makeSender(t, { maxAnswerBytes: 0 }), /maxAnswerBytes/)
    assert.throws(() => makeSender(t, { originsKept: Number.NaN }), /originsKept/)
    assert.throws(() => makeSender(t, { allowedTargets: ['*.internal'] }), /wildcards/)
    assert.throws(() => makeSender(t, { extraCa: 'no certificate' }), /holds no certificate/)
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'
    assert.throws(() => makeSender(t, { extraCa: broken }), /certificate 1 of the extra CA/)
  })
})
