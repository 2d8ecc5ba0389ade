import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { maxEnvelopeBytes, sealCallback } from '@tillgate/protocol'
import Fastify from 'fastify'
import { callbackVectors, credentials, keys, parsed } from '../../test/support/credentials.ts'
import { CallbackVerificationError } from '../errors.ts'
import { Tillgate } from '../tillgate.ts'
import { makeAnswer } from './answer.ts'
import type { CallbackEvent, OrderEvent, RefundEvent } from './event.ts'
import { isStale, rememberInMemory } from './stale.ts'

const now = 1_760_000_000_000
const tillgate = new Tillgate({ ...credentials, now: () => now })
const acknowledgement = '{"code":20000,"msg":""}'
const quiet = { onError: () => {} }

const envelopeOf = (eventName: string) => {
  const vector = callbackVectors.find(({ name }) => name === eventName)
  assert.ok(vector, eventName)
  return vector.envelope
}
const success = envelopeOf('payment.order.success')
const successText = JSON.stringify(success)

const seal = (eventName: string, body: string, timestamp = now) =>
  sealCallback(
    {
      id: '01995f2d-8000-7000-8000-0000000000aa',
      merchantId: credentials.merchantId,
      eventName,
      timestamp,
      body,
    },
    { aesKey: parsed.aesKey, privateKey: parsed.gatewayPrivateKey },
  )

const refusedWith = (reason: string) => (error: unknown) => {
  assert.ok(error instanceof CallbackVerificationError)
  assert.equal(error.reason, reason)
  return true
}

test('every callback of the test vectors opens, typed by its event', async () => {
  for (const { envelope, body } of callbackVectors) {
    const event = await tillgate.callbacks.unwrap(JSON.stringify(envelope))
    assert.deepEqual(event.result, JSON.parse(body))
    assert.equal(event.kind, event.eventName.startsWith('payment.order.') ? 'order' : 'refund')
  }
})

test('unknown fields are verified with the others and otherwise ignored', async () => {
  const envelope = { ...envelopeOf('with a field of a later version') }
  const { kind, eventName } = await tillgate.callbacks.unwrap(envelope)
  assert.deepEqual([kind, eventName], ['order', 'payment.order.success'])
  const { sequence: _sequence, ...without } = envelope as Record<string, string>
  for (const changed of [without, { ...envelope, sequence: '8' }, { ...success, sequence: '7' }])
    await assert.rejects(tillgate.callbacks.unwrap(changed), refusedWith('not_opened'))
  const odd = { ...envelope, sequence: '7&id=1' }
  await assert.rejects(tillgate.callbacks.unwrap(odd), refusedWith('not_an_envelope'))
})

test('a body opens as text, as bytes and as an object that a framework parsed', async () => {
  const bytes = Buffer.from(successText)
  const rawBodies = [successText, bytes, new Uint8Array(bytes), new Uint8Array(bytes).buffer, success]
  for (const rawBody of rawBodies) {
    const event = await tillgate.callbacks.unwrap(rawBody)
    assert.equal(event.eventName, 'payment.order.success')
  }
})

test('a callback that is not from the gateway is rejected with its reason', async () => {
  const { unwrap } = tillgate.callbacks
  await assert.rejects(unwrap('hello'), refusedWith('not_an_envelope'))
  await assert.rejects(unwrap({}), /was it read before/)
  await assert.rejects(unwrap(Buffer.from([0xff, 0xfe])), refusedWith('not_an_envelope'))
  await assert.rejects(unwrap({ ...success, surplus: 1 }), refusedWith('not_an_envelope'))
  await assert.rejects(
    unwrap({ ...success, merchantId: '100000000000000002' }),
    refusedWith('other_merchant'),
  )
  await assert.rejects(unwrap({ ...success, timestamp: '1760000000001' }), refusedWith('not_opened'))
  await assert.rejects(unwrap({ ...success, eventName: 'payment.order.failed' }), refusedWith('not_opened'))
  const stranger = new Tillgate({ ...credentials, platformPublicKey: keys.stranger.publicKey })
  await assert.rejects(stranger.callbacks.unwrap(success), refusedWith('not_opened'))
})

test('during a rotation, either gateway key and either AES key open a callback', async () => {
  const rotating = new Tillgate({
    ...credentials,
    aesKey: [keys.stranger.aesKey, keys.merchant.aesKey],
    platformPublicKey: [keys.stranger.publicKey, keys.gateway.publicKey],
  })
  assert.equal((await rotating.callbacks.unwrap(success)).kind, 'order')
})

test('an unknown event is returned as unknown, invalid content is rejected', async () => {
  const unknown = await tillgate.callbacks.unwrap(await seal('payment.order.reversed', '{"a":1}'))
  assert.equal(unknown.kind, 'unknown')
  assert.deepEqual(unknown.result, { a: 1 })
  await assert.rejects(
    tillgate.callbacks.unwrap(await seal('payment.order.success', '{"a":1}')),
    refusedWith('unreadable_result'),
  )
})

test('maxAgeMs rejects the first millisecond beyond it, in both directions', async () => {
  const { body } = callbackVectors[0] ?? assert.fail()
  const open = async (timestamp: number) =>
    tillgate.callbacks.unwrap(await seal('payment.order.confirming', body, timestamp), { maxAgeMs: 1000 })
  await open(now - 1000)
  await open(now + 1000)
  await assert.rejects(open(now - 1001), refusedWith('too_old'))
  await assert.rejects(open(now + 1001), refusedWith('too_old'))
})

const answerWith = async (
  listener: (event: CallbackEvent) => unknown,
  rawBody: string | object = successText,
) => tillgate.callbacks.handler(listener, quiet).answer(rawBody)

test('a handled callback is acknowledged, a failed one returns 500, a forged one 400', async () => {
  assert.deepEqual(await answerWith(() => {}), { httpStatus: 200, body: acknowledgement })
  const throws = () => {
    throw new Error('the database is away')
  }
  assert.equal((await answerWith(throws)).httpStatus, 500)
  assert.equal((await answerWith(() => Promise.reject(new Error('later')))).httpStatus, 500)
  assert.equal((await answerWith(() => assert.fail('must not be called'), '{}')).httpStatus, 400)
  const unreadable = await seal('payment.order.success', '{"a":1}')
  assert.equal((await answerWith(() => assert.fail('must not be called'), unreadable)).httpStatus, 500)
})

test('onError receives the error and its event', async () => {
  const results: [unknown, string | undefined][] = []
  const handler = tillgate.callbacks.handler(() => Promise.reject(new Error('no')), {
    onError: (error, event) => results.push([(error as Error).message, event?.eventName]),
  })
  await handler.answer(success)
  await handler.answer('x')
  assert.deepEqual(results[0], ['no', 'payment.order.success'])
  assert.equal(results[1]?.[1], undefined)
})

test('an onError that throws does not prevent the response', async () => {
  const written: string[] = []
  const { write } = process.stderr
  process.stderr.write = (text: string | Uint8Array) => written.push(String(text)) > 0
  try {
    const onError = () => assert.fail('onError failed')
    const handler = tillgate.callbacks.handler(() => Promise.reject(new Error('no')), { onError })
    assert.equal((await handler.answer(success)).httpStatus, 500)
    assert.equal((await handler.answer('x')).httpStatus, 400)
  } finally {
    process.stderr.write = write
  }
  assert.match(written.join(''), /onError failed/)
})

test('two concurrent attempts are handled once', async () => {
  let calls = 0
  const gate = Promise.withResolvers<void>()
  const event = await tillgate.callbacks.unwrap(success)
  const answer = makeAnswer({
    ...quiet,
    unwrap: async () => event,
    listener: async () => {
      calls++
      await gate.promise
    },
  })
  const both = [answer(success), answer(success)]
  await new Promise(setImmediate)
  gate.resolve()
  const answers = await Promise.all(both)
  assert.deepEqual(
    answers.map(({ httpStatus }) => httpStatus),
    [200, 200],
  )
  assert.equal(calls, 1)
})

test('a seen callback is acknowledged without being handled again; a failed one is not marked as seen', async () => {
  let calls = 0
  const handler = tillgate.callbacks.handler(
    () => {
      calls++
      if (calls === 1) throw new Error('first time')
    },
    { ...quiet, seen: rememberInMemory() },
  )
  assert.equal((await handler.answer(success)).httpStatus, 500)
  assert.equal((await handler.answer(success)).httpStatus, 200)
  assert.equal((await handler.answer(success)).httpStatus, 200)
  assert.equal(calls, 2)
})

test('a memory that throws fails one attempt, and the next attempt is handled', async () => {
  const event = await tillgate.callbacks.unwrap(success)
  let asked = 0
  let calls = 0
  const answer = makeAnswer({
    ...quiet,
    unwrap: async () => event,
    listener: () => {
      calls++
    },
    seen: {
      has() {
        if (++asked === 1) throw new Error('database is locked')
        return false
      },
      add() {},
    },
  })
  assert.equal((await answer(success)).httpStatus, 500)
  assert.equal((await answer(success)).httpStatus, 200)
  assert.deepEqual([asked, calls], [2, 1])
})

test('the memory keeps the newest ids', async () => {
  const seen = rememberInMemory({ max: 2 })
  for (const id of ['a', 'b', 'c']) await seen.add(id)
  assert.deepEqual([seen.has('a'), seen.has('b'), seen.has('c')], [false, true, true])
})

test('an event is stale if it does not move the stored status forward', () => {
  const order = (status: string) => ({ kind: 'order', result: { status } }) as OrderEvent
  const refund = (status: string) => ({ kind: 'refund', result: { status } }) as RefundEvent
  assert.equal(isStale(undefined, order('confirming')), false)
  assert.equal(isStale('pending', order('confirming')), false)
  assert.equal(isStale('pending', order('success')), false)
  assert.equal(isStale('confirming', order('success')), false)
  assert.equal(isStale('confirming', order('confirming')), true)
  assert.equal(isStale('success', order('confirming')), true)
  assert.equal(isStale('success', order('success')), true)
  assert.equal(isStale('cancelled', order('timeout')), true)
  assert.equal(isStale('refunding', refund('refund_success')), false)
  assert.equal(isStale('refund_success', refund('refund_failed')), true)
  assert.throws(() => isStale('success' as 'refunding', refund('refund_success')), TypeError)
})

async function post(listener: RequestListener, body: string | Buffer, method = 'POST') {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const init = { method, headers: { 'content-type': 'application/json' } }
    const response = await fetch(url, method === 'POST' ? { ...init, body } : init)
    return { status: response.status, text: await response.text() }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('node:http: the stream is read up to its limit, and a response is sent', async () => {
  const events: string[] = []
  const { node } = tillgate.callbacks.handler(({ eventName }) => events.push(eventName), quiet)
  assert.deepEqual(await post(node, successText), { status: 200, text: acknowledgement })
  assert.equal((await post(node, 'x')).status, 400)
  assert.equal((await post(node, '', 'GET')).status, 405)
  assert.equal((await post(node, Buffer.alloc(maxEnvelopeBytes + 1, 0x20))).status, 413)
  assert.deepEqual(events, ['payment.order.success'])
})

test('Express: with a JSON, raw or text parser, without one, or with an empty object', async () => {
  const { express } = tillgate.callbacks.handler(() => {}, quiet)
  const parsers: ((text: string) => unknown)[] = [JSON.parse, Buffer.from, String]
  for (const parse of parsers) {
    const listener: RequestListener = async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = parse(Buffer.concat(chunks).toString())
      await express(Object.assign(request, { body }), response)
    }
    assert.equal((await post(listener, successText)).text, acknowledgement)
  }
  const unread: RequestListener = (request, response) =>
    express(Object.assign(request, { body: {} }), response)
  assert.equal((await post(unread, successText)).text, acknowledgement)
})

test('Fastify: with its own JSON parser or one that keeps the text', async (t) => {
  const { fastify } = tillgate.callbacks.handler(() => {}, quiet)
  for (const keepsText of [false, true]) {
    const server = Fastify()
    t.after(() => server.close())
    if (keepsText) {
      server.removeContentTypeParser('application/json')
      server.addContentTypeParser('application/json', { parseAs: 'string' }, (_, text, done) =>
        done(null, text),
      )
    }
    server.post('/callbacks', fastify)
    const inject = (payload: string) =>
      server.inject({
        method: 'POST',
        url: '/callbacks',
        headers: { 'content-type': 'application/json' },
        payload,
      })
    const response = await inject(successText)
    assert.equal(response.statusCode, 200)
    assert.equal(response.body, acknowledgement)
    assert.equal((await inject('null')).statusCode, 400)
  }
})

test('the standard Request and Response', async () => {
  const handler = tillgate.callbacks.handler(() => {}, quiet)
  const request = (body: string) => new Request('https://shop.example/callbacks', { method: 'POST', body })
  const response = await handler.fetch(request(successText))
  assert.equal(response.status, 200)
  assert.equal(await response.text(), acknowledgement)
  assert.equal((await handler.fetch(request('x'))).status, 400)
  assert.equal((await handler.fetch(request(' '.repeat(maxEnvelopeBytes + 1)))).status, 413)
  assert.equal((await handler.fetch(new Request('https://shop.example/'))).status, 405)
})
