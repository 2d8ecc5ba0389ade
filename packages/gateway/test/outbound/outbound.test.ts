// What the sender makes of everything a receiver can answer, and of receivers that do not answer, over real
// sockets. The timers are the test's own, so a hanging receiver costs no time here.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { outboundLimits } from '../../src/platform/outbound/limits.ts'
import type { Delivery } from '../../src/platform/runtime/delivery.ts'
import {
  keepDialled,
  layOver,
  makeSender,
  makeTimers,
  plainAnswer,
  type Receiver,
  receiveHttp,
  receiveRaw,
  setCanary,
  until,
} from '../support/outbound-network.ts'

const body = '{"id":"1","body":"…"}'

function answered(delivery: Delivery): { httpStatus: number; text: string } {
  assert(delivery.kind === 'answered', JSON.stringify(delivery))
  return { httpStatus: delivery.httpStatus, text: delivery.answer.toString() }
}

function unreachable(delivery: Delivery): { reason: string; detail: string; wasSent?: boolean } {
  assert(delivery.kind === 'unreachable', JSON.stringify(delivery))
  const { reason, detail, wasSent } = delivery
  return { reason, detail, ...(wasSent && { wasSent }) }
}

describe('an answer', () => {
  for (const [status, text] of [
    [200, '{"code":20000,"msg":""}'],
    [200, 'thank you'],
    [200, ''],
    [201, '{"code":20000,"msg":""}'],
    [204, ''],
    [304, ''],
    [404, 'no such page'],
    [500, 'oops'],
    [599, ''],
  ] as const) {
    test(`${status} "${text}" is reported as it came`, async (t) => {
      const receiver = await receiveHttp(t, (_request, response) => response.writeHead(status).end(text))
      const delivery = await makeSender(t).post({ url: receiver.url, body })
      assert.deepEqual(answered(delivery), { httpStatus: status, text })
    })
  }

  test('a redirect is reported and never followed', async (t) => {
    const canary = await setCanary(t)
    const location = `http://127.0.0.1:${canary.port}/`
    const receiver = await receiveHttp(t, (_request, response) => response.writeHead(301, { location }).end())
    const delivery = await makeSender(t).post({ url: receiver.url, body })
    assert.deepEqual(answered(delivery), { httpStatus: 301, text: '' })
    assert.equal(canary.sockets.length, 0)
  })

  test('an endless one is cut at 4 KiB, its status counts and the connection is dropped', async (t) => {
    const dropped = Promise.withResolvers<void>()
    const receiver = await receiveHttp(t, (_request, response) => {
      response.on('close', dropped.resolve)
      pour(response, 'x'.repeat(65_536))
    })
    const delivery = await makeSender(t).post({ url: receiver.url, body })
    assert.deepEqual(answered(delivery), { httpStatus: 200, text: 'x'.repeat(4096) })
    await dropped.promise
  })

  test('one that announces 10 GB is cut at 4 KiB too', async (t) => {
    const receiver = await receiveRaw(t, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n${'y'.repeat(10_000)}`)
    })
    const delivery = await makeSender(t).post({ url: receiver.url, body })
    assert.deepEqual(answered(delivery), { httpStatus: 200, text: 'y'.repeat(4096) })
    const [socket] = receiver.sockets
    assert(socket)
    if (!socket.destroyed) await once(socket, 'close')
  })

  test('one byte below the limit leaves the connection open for the next', async (t) => {
    const receiver = await receiveHttp(t, (_request, response) => response.end('z'.repeat(4095)))
    const sender = makeSender(t)
    for (let sent = 0; sent < 100; sent++) {
      const delivery = await sender.post({ url: receiver.url, body })
      assert.equal(answered(delivery).text.length, 4095)
      // Not a window into the much larger buffer that was read from the socket.
      assert(delivery.kind === 'answered' && delivery.answer.buffer.byteLength <= Buffer.poolSize)
    }
    // Two, because the HTTP client rests a connection for a turn of the event loop before it uses it again.
    assert(receiver.sockets.length <= 2, `${receiver.sockets.length} connections`)
  })

  test('one in chunks of a single byte is read to the same limit', async (t) => {
    const receiver = await receiveRaw(t, (socket) => {
      const chunks = '1\r\nx\r\n'.repeat(4095)
      socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
    })
    const delivery = await makeSender(t).post({ url: receiver.url, body })
    assert.deepEqual(answered(delivery), { httpStatus: 200, text: 'x'.repeat(4095) })
  })

  test('a compressed one is kept as its bytes and never unpacked', async (t) => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    const receiver = await receiveHttp(t, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    const delivery = await makeSender(t).post({ url: receiver.url, body })
    assert(delivery.kind === 'answered')
    assert.deepEqual(delivery.answer, bomb.subarray(0, 4096))
  })

  test('hints before it are passed over', async (t) => {
    const receiver = await receiveRaw(t, (socket) => {
      socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${plainAnswer('ok')}`)
    })
    assert.deepEqual(answered(await makeSender(t).post({ url: receiver.url, body })), {
      httpStatus: 200,
      text: 'ok',
    })
  })

  test('one that ends with its connection is whole', async (t) => {
    const receiver = await receiveRaw(t, (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nbye'))
    assert.deepEqual(answered(await makeSender(t).post({ url: receiver.url, body })), {
      httpStatus: 200,
      text: 'bye',
    })
  })

  for (const [header, retryAfterMs] of [
    ['120', 120_000],
    ['0', 0],
    ['Sun, 15 Nov 2026 00:01:00 GMT', 60_000],
    ['Sat, 14 Nov 2026 00:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
  ] as const) {
    test(`Retry-After: ${header} asks for ${retryAfterMs} ms`, async (t) => {
      const receiver = await receiveHttp(t, (_request, response) => {
        response.writeHead(503, { 'retry-after': header }).end()
      })
      const now = (): number => Date.UTC(2026, 10, 15)
      const delivery = await makeSender(t, {}, { now }).post({ url: receiver.url, body })
      assert(delivery.kind === 'answered')
      assert.equal(delivery.retryAfterMs, retryAfterMs)
    })
  }

  test('the duration is measured by the clock that was passed in', async (t) => {
    let now = 1_000
    const receiver = await receiveHttp(t, (_request, response) => {
      now += 250
      response.end()
    })
    const delivery = await makeSender(t, {}, { now: () => now }).post({ url: receiver.url, body })
    assert.equal(delivery.durationMs, 250)
  })
})

describe('a request', () => {
  test('is a plain POST that asks for no compression and carries no cookie', async (t) => {
    const seen: unknown[] = []
    const receiver = await receiveHttp(t, async (request, response) => {
      const chunks = await request.toArray()
      seen.push({
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: `${Buffer.concat(chunks)}`,
      })
      response.writeHead(200, { 'set-cookie': 'session=1' }).end()
    })
    const sender = makeSender(t)
    await sender.post({ url: receiver.url, body })
    await sender.post({ url: `${receiver.url}#paid`, body: Buffer.from(body), headers: { 'x-event': 'a' } })
    const headers = {
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'user-agent': 'Tillgate',
      'content-length': `${Buffer.byteLength(body)}`,
    }
    assert.deepEqual(seen, [
      { method: 'POST', url: '/callbacks?shop=7', headers, body },
      { method: 'POST', url: '/callbacks?shop=7', headers: { ...headers, 'x-event': 'a' }, body },
    ])
  })

  test('goes straight to the receiver, whatever proxy the environment names', async (t) => {
    const canary = await setCanary(t)
    const names = [
      'HTTP_PROXY',
      'http_proxy',
      'HTTPS_PROXY',
      'https_proxy',
      'ALL_PROXY',
      'NODE_USE_ENV_PROXY',
    ]
    const before = names.map((name) => [name, process.env[name]] as const)
    t.after(() => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    })
    for (const name of names)
      process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${canary.port}`
    const receiver = await receiveHttp(t, (_request, response) => response.end('direct'))
    assert.equal(answered(await makeSender(t).post({ url: receiver.url, body })).text, 'direct')
    assert.equal(canary.sockets.length, 0)
  })

  test('with a header that cannot be sent is a mistake of the caller and rejects', async (t) => {
    const receiver = await receiveHttp(t, (_request, response) => response.end())
    const sender = makeSender(t)
    await assert.rejects(
      sender.post({ url: receiver.url, body, headers: { 'x-a': 'b\r\nx-c: d' } }),
      /request itself/,
    )
    assert.equal(receiver.sockets.length, 0)
  })

  test('to a URL that is not allowed is not sent', async (t) => {
    const sender = makeSender(t, { mode: 'live' })
    assert.equal(
      unreachable(await sender.post({ url: 'http://shop.example/', body })).reason,
      'url_not_allowed',
    )
    assert.equal(unreachable(await sender.post({ url: 'nonsense', body })).reason, 'url_not_allowed')
    assert.equal(
      unreachable(await sender.post({ url: 'https://10.0.0.1/', body })).reason,
      'address_not_public',
    )
  })
})

describe('a receiver that', () => {
  // Posts, lets the time run out once the receiver has sent so many bytes, and answers with the outcome.
  async function outlast(t: TestContext, receiver: Receiver, receivedBytes: number): Promise<Delivery> {
    const timers = makeTimers()
    const dialled: Socket[] = []
    const sender = makeSender(t, {}, { startTimer: timers.startTimer, dial: keepDialled(dialled) })
    const delivery = sender.post({ url: receiver.url, body })
    await until(
      () => (dialled[0]?.bytesRead ?? 0) >= receivedBytes && (receiver.sockets[0]?.bytesRead ?? 0) > 0,
    )
    timers.expire(outboundLimits.attemptTimeoutMs)
    return delivery
  }

  test('accepts and says nothing runs out of time and is hung up on', async (t) => {
    const receiver = await receiveRaw(t, () => {})
    assert.deepEqual(unreachable(await outlast(t, receiver, 0)), {
      reason: 'timeout',
      detail: '15000 ms passed without an answer',
      wasSent: true,
    })
    const [socket] = receiver.sockets
    assert(socket)
    if (!socket.destroyed) await once(socket, 'close')
  })

  test('drips its headers runs out of time, however steadily they come', async (t) => {
    const receiver = await receiveRaw(t, (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: '))
    assert.deepEqual(unreachable(await outlast(t, receiver, 30)), {
      reason: 'timeout',
      detail: '15000 ms passed without an answer',
      wasSent: true,
    })
  })

  test('drips its body runs out of time, and its 200 acknowledges nothing', async (t) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 4000\r\n\r\n'
    const receiver = await receiveRaw(t, (socket) => drip(socket, head))
    const { reason, detail, wasSent } = unreachable(await outlast(t, receiver, head.length + 3))
    assert.deepEqual([reason, wasSent], ['timeout', true])
    assert.match(detail, /^15000 ms passed after HTTP 200 and \d+ bytes of its answer$/)
  })

  test('drips hints without end runs out of time', async (t) => {
    const receiver = await receiveRaw(t, (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'))
    assert.deepEqual(unreachable(await outlast(t, receiver, 100)), {
      reason: 'timeout',
      detail: '15000 ms passed without an answer',
      wasSent: true,
    })
  })

  for (const [what, beginning, flood] of [
    ['hints', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['a chunk size with an extension', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;', 'x=y;'],
    ['empty lines', '', '\r\n'],
  ] as const) {
    test(`pours out ${what} without end is cut off long before the time is`, async (t) => {
      const receiver = await receiveRaw(t, (socket) => {
        socket.write(beginning)
        pour(socket, flood.repeat(10_000))
      })
      const { reason, detail } = unreachable(await makeSender(t).post({ url: receiver.url, body }))
      assert.equal(reason, 'protocol')
      assert.match(detail, /^more than 65536 bytes for one answer/)
    })
  }

  test('ran out of time does not harm the next attempt', async (t) => {
    let requests = 0
    const receiver = await receiveHttp(t, (_request, response) => {
      requests++
      if (requests > 1) response.end('ok')
    })
    const timers = makeTimers()
    const sender = makeSender(t, {}, { startTimer: timers.startTimer })
    const first = sender.post({ url: receiver.url, body })
    await until(() => requests === 1)
    timers.expire(outboundLimits.attemptTimeoutMs)
    assert.equal(unreachable(await first).reason, 'timeout')
    assert.equal(answered(await sender.post({ url: receiver.url, body })).text, 'ok')
  })

  for (const [when, beginning] of [
    ['before its first byte', ''],
    ['in the middle of its headers', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['in the middle of its body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
    ['in the middle of a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\nhalf'],
  ] as const) {
    test(`closes ${when} has not answered`, async (t) => {
      const receiver = await receiveRaw(t, (socket) => socket.end(beginning))
      assert.equal(unreachable(await makeSender(t).post({ url: receiver.url, body })).reason, 'closed')
    })
    test(`resets ${when} has not answered`, async (t) => {
      const receiver = await receiveRaw(t, (socket) => {
        socket.write(beginning, () => socket.resetAndDestroy())
      })
      assert.equal(unreachable(await makeSender(t).post({ url: receiver.url, body })).reason, 'closed')
    })
  }

  for (const [what, garbage] of [
    ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['binary garbage', '\u0000\u0001\u0002\u0003'.repeat(100)],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a bad chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    [
      'a switch of protocols',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    ],
    ['one endless header', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}`],
    ['a flood of headers', `HTTP/1.1 200 OK\r\n${'x: a\r\n'.repeat(20_000)}`],
    [
      'a flood of trailers',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${'x: a\r\n'.repeat(20_000)}`,
    ],
  ] as const) {
    test(`sends ${what} does not speak the protocol`, async (t) => {
      const receiver = await receiveRaw(t, (socket) => {
        socket.write(garbage)
      })
      const { reason, detail } = unreachable(await makeSender(t).post({ url: receiver.url, body }))
      assert.equal(reason, 'protocol', detail)
    })
  }

  test('answers with any bytes at all gets an outcome, and the sender lives on', async (t) => {
    let reply = Buffer.alloc(0)
    const receiver = await receiveRaw(t, (socket) => socket.end(reply))
    const sender = makeSender(t, { attemptTimeoutMs: 5_000 })
    const piece = fc.oneof(
      fc.constantFrom(
        'HTTP/1.1 ',
        'HTTP/1.0 ',
        '200 OK',
        '204',
        '304',
        '100',
        '103',
        '101',
        '999',
        '\r\n',
        '\r\n\r\n',
        '\n',
      ),
      fc.constantFrom(
        'content-length: ',
        'transfer-encoding: ',
        'chunked',
        'connection: ',
        'close',
        'keep-alive',
        'upgrade',
      ),
      fc.constantFrom(
        'keep-alive: timeout=',
        'retry-after: ',
        'trailer: x\r\n',
        '0',
        '5',
        '-1',
        'ffffffffffff',
        ': ',
        ';',
        'hello',
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    )
    const broken = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    const begun = broken.map((rest) => `HTTP/1.1 200 OK\r\n${rest}`)
    await fc.assert(
      fc.asyncProperty(fc.oneof(broken, begun), async (text) => {
        reply = Buffer.from(text, 'latin1')
        const delivery = await sender.post({ url: receiver.url, body })
        if (delivery.kind === 'unreachable')
          assert.match(delivery.reason, /^(closed|protocol)$/, delivery.detail)
      }),
      { numRuns: 500 },
    )
    reply = Buffer.from(plainAnswer('ok'))
    assert.equal(answered(await sender.post({ url: receiver.url, body })).text, 'ok')
  })

  test('names two lengths has not answered', async (t) => {
    const receiver = await receiveRaw(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab')
    })
    assert.match(unreachable(await makeSender(t).post({ url: receiver.url, body })).detail, /content-length/)
  })

  test('does not listen cannot be connected to', async (t) => {
    const receiver = await setCanary(t)
    const sender = makeSender(t, {}, { dial: layOver(1) })
    const { reason, detail } = unreachable(await sender.post({ url: receiver.url, body }))
    assert.equal(reason, 'connect')
    assert.match(detail, /ECONNREFUSED/)
  })

  test('never answers the connection runs out of connecting time', async (t) => {
    const timers = makeTimers()
    const sockets: Socket[] = []
    const dial = (): Socket => {
      const socket = new Socket()
      sockets.push(socket)
      return socket
    }
    const sender = makeSender(t, {}, { startTimer: timers.startTimer, dial })
    const delivery = sender.post({ url: 'http://127.0.0.1:9/', body })
    await until(() => sockets.length > 0)
    timers.expire(outboundLimits.connectTimeoutMs)
    assert.deepEqual(unreachable(await delivery), {
      reason: 'timeout',
      detail: '5000 ms passed while connecting',
    })
    assert.deepEqual(
      sockets.map((socket) => socket.destroyed),
      [true],
    )
  })

  test('never answers the TLS handshake runs out of connecting time and is hung up on', async (t) => {
    const timers = makeTimers()
    const receiver = await receiveRaw(t, () => {})
    const sender = makeSender(t, {}, { startTimer: timers.startTimer })
    const delivery = sender.post({ url: receiver.url.replace('http:', 'https:'), body })
    await until(() => (receiver.sockets[0]?.bytesRead ?? 0) > 0)
    timers.expire(outboundLimits.connectTimeoutMs)
    assert.deepEqual(unreachable(await delivery), {
      reason: 'timeout',
      detail: '5000 ms passed while waiting for the TLS handshake',
    })
    const [socket] = receiver.sockets
    assert(socket)
    if (!socket.destroyed) await once(socket, 'close')
  })
})

function pour(stream: Writable, text: string): void {
  const more = (): void => {
    while (!stream.destroyed && stream.write(text)) {}
  }
  stream.on('drain', more)
  more()
}

function drip(socket: Socket, beginning: string, drop = 'x'): void {
  socket.write(beginning)
  const timer = setInterval(() => socket.write(drop), 10)
  socket.on('close', () => clearInterval(timer))
}
