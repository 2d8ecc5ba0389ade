import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { assertFails } from '../test/failure.ts'
import { type KeysOfOne, vectorsPath } from '../test/vector-keys.ts'
import { makeVectors, merchantId, readKeys, type Vectors } from '../test/vectors.ts'
import { Failure, failureNameOf, failures } from './codes.ts'
import { parseCallbackEnvelope, parseRequestEnvelope } from './envelope.ts'
import { eventNames } from './events.ts'
import { parseBillBody } from './messages/bills.ts'
import { parseCaptureBody, parseReleaseBody } from './messages/captures.ts'
import { parseCreateBody } from './messages/create.ts'
import { parseLinkCloseBody, parseLinkCreateBody, parseLinkQueryBody } from './messages/links.ts'
import { parseOrderListBody } from './messages/order-list.ts'
import {
  parseCallbackBody,
  parseCancelBody,
  parseQueryBody,
  parseRefundBody,
  parseSandboxAdvanceBody,
  parseSandboxPayBody,
} from './messages/requests.ts'
import { parseCallbackResult } from './messages/results.ts'
import { parseSandboxAcknowledgeBody, parseSandboxListenBody } from './messages/sandbox-listen.ts'
import { parseSandboxRequestsBody } from './messages/sandbox-requests.ts'
import { parseScanBody } from './messages/scans.ts'
import { type Method, methods } from './methods.ts'
import { toWireAmount } from './money.ts'
import { openCallback, openRequest } from './opening.ts'
import { verifyRedirect } from './redirect.ts'

const vectors: Vectors = JSON.parse(readFileSync(vectorsPath, 'utf8'))
const keys = readKeys(vectors.keys)
const folder = mkdtempSync(join(tmpdir(), 'vectors-'))
after(() => rmSync(folder, { recursive: true }))

const parsers: Readonly<Record<Method, (text: string) => unknown>> = {
  'service.trade.create': parseCreateBody,
  'service.trade.query': parseQueryBody,
  'service.trade.cancel': parseCancelBody,
  'service.trade.refund': parseRefundBody,
  'service.trade.callback': parseCallbackBody,
  'service.order.list': parseOrderListBody,
  'service.order.capture': parseCaptureBody,
  'service.order.release': parseReleaseBody,
  'service.order.scan': parseScanBody,
  'service.bill.get': parseBillBody,
  'service.link.create': parseLinkCreateBody,
  'service.link.query': parseLinkQueryBody,
  'service.link.close': parseLinkCloseBody,
  'service.sandbox.pay': parseSandboxPayBody,
  'service.sandbox.advance': parseSandboxAdvanceBody,
  'service.sandbox.listen': parseSandboxListenBody,
  'service.sandbox.acknowledge': parseSandboxAcknowledgeBody,
  'service.sandbox.requests': parseSandboxRequestsBody,
}

test('the file matches the code and its keys; otherwise run scripts/make-test-vectors.ts', async () => {
  assert.deepEqual(vectors, JSON.parse(JSON.stringify(await makeVectors(vectors.keys))))
})

test('there is a request for every method and a callback for every event', () => {
  assert.deepEqual(
    new Set(vectors.requests.map(({ envelope }) => envelope.method)),
    new Set(Object.keys(methods)),
  )
  assert.deepEqual(new Set(vectors.callbacks.map(({ envelope }) => envelope.eventName)), new Set(eventNames))
})

test('every request opens to its body, and the body is valid', async () => {
  const opening = { aesKeys: [keys.merchant.aesKey], publicKeys: [keys.merchant.publicKey] }
  for (const { name, envelope, body } of vectors.requests) {
    assert.equal(await openRequest(parseRequestEnvelope(JSON.stringify(envelope)), opening), body, name)
    parsers[envelope.method as Method](body)
  }
})

test('every callback opens to its body, and the body is a result of its event', async () => {
  const opening = { aesKeys: [keys.merchant.aesKey], publicKeys: [keys.gateway.publicKey] }
  for (const { name, envelope, body } of vectors.callbacks) {
    assert.equal(await openCallback(parseCallbackEnvelope(JSON.stringify(envelope)), opening), body, name)
    parseCallbackResult(envelope.eventName, body)
  }
})

test('every redirect verifies from its query', async () => {
  for (const { parameters, query } of vectors.redirects) {
    const { merchantId, timestamp } = parameters
    const expected = { publicKeys: [keys.gateway.publicKey], merchantId, nowMs: Number(timestamp) }
    const { sign: _sign, ...plain } = parameters
    const given = Object.fromEntries(new URLSearchParams(query))
    assert.deepEqual(await verifyRedirect(given, expected), plain)
  }
})

test('every invalid envelope is rejected with its code, only for its own reason', async () => {
  const opening = { aesKeys: [keys.merchant.aesKey], publicKeys: [keys.merchant.publicKey] }
  for (const { reason, code, text } of vectors.refusedEnvelopes) {
    if (code === failures.malformed_envelope.code) {
      assert.throws(
        () => parseRequestEnvelope(text),
        (error) => error instanceof Failure && error.code === code,
        reason,
      )
    } else {
      assert.equal(await openRequest(parseRequestEnvelope(text), opening), undefined, reason)
    }
  }
  assert(vectors.refusedEnvelopes.length >= 40)
})

test('every invalid callback is rejected', async () => {
  const opening = { aesKeys: [keys.merchant.aesKey], publicKeys: [keys.gateway.publicKey] }
  const open = async (text: string) => {
    const envelope = parseCallbackEnvelope(text)
    return envelope.merchantId === merchantId ? openCallback(envelope, opening) : undefined
  }
  for (const { reason, text } of vectors.refusedCallbacks) {
    const opened = await open(text).catch((error) => (error instanceof Failure ? undefined : reason))
    assert.equal(opened, undefined, reason)
  }
  assert(vectors.refusedCallbacks.length > 30)
})

test('every invalid redirect is rejected', async () => {
  for (const { reason, query, nowMs, paymentId } of vectors.refusedRedirects) {
    const expected = { publicKeys: [keys.gateway.publicKey], merchantId, nowMs, paymentId }
    const given = new URLSearchParams(query)
    // The reader of the query rejects repeated names.
    if (given.getAll('status').length > 1) continue
    assert.equal(await verifyRedirect(Object.fromEntries(given), expected), undefined, reason)
  }
})

test('every invalid body is rejected with its code and field', () => {
  for (const { reason, method, code, field, body } of vectors.refusedBodies) {
    const failure = failureNameOf(code)
    assert(failure, reason)
    assertFails(() => parsers[method](body), failure, field)
  }
})

test('every amount is converted to its minor units or rejected with its code', () => {
  for (const { json, currency, minor, code, answered } of vectors.amounts) {
    const body = `{"order":{"orderNo":"A","orderAmount":${json},"goods":[{"referenceGoodsId":"x","goodsName":"X"}]},"channel":"WEB","paymentAmount":1,"currency":"${currency}","paymentTime":1760000000000,"paymentExpiryTime":1760000900000}`
    if (minor === undefined) {
      assert.throws(
        () => parseCreateBody(body),
        (error) => error instanceof Failure && error.code === code,
        `${json} ${currency}`,
      )
    } else {
      assert.equal(parseCreateBody(body).order.orderAmountMinor, BigInt(minor))
      assert.equal(toWireAmount(BigInt(minor), currency), answered)
    }
  }
})

// Below, OpenSSL's command line is the second, independent implementation.

function openssl(args: readonly string[], input?: Buffer): { status: number | null; stdout: Buffer } {
  const { error, status, stdout } = spawnSync('openssl', args, { input })
  assert.equal(
    error,
    undefined,
    'openssl is needed to check the vectors: install it (apt-get install openssl)',
  )
  return { status, stdout }
}

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function verifies(text: string, sign: string, { publicKey }: KeysOfOne): boolean {
  const args = [
    '-sha256',
    '-verify',
    file('key.pem', publicKey),
    '-signature',
    file('sign', Buffer.from(sign, 'base64')),
  ]
  return openssl(['dgst', ...args], Buffer.from(text)).status === 0
}

test('OpenSSL verifies every signature only with its string to sign', () => {
  const { merchant, gateway } = vectors.keys
  for (const { name, stringToSign, envelope } of vectors.requests) {
    assert(verifies(stringToSign, envelope.sign, merchant), name)
  }
  for (const { name, stringToSign, envelope } of vectors.callbacks) {
    assert(verifies(stringToSign, envelope.sign, gateway), name)
  }
  for (const { stringToSign, parameters } of vectors.redirects)
    assert(verifies(stringToSign, parameters.sign, gateway))
  const [first] = vectors.requests
  assert(first)
  assert(!verifies(`${first.stringToSign} `, first.envelope.sign, merchant))
  assert(!verifies(first.stringToSign, first.envelope.sign, gateway))
})

test('OpenSSL produces the same signature', () => {
  for (const { name, stringToSign, envelope } of vectors.requests) {
    const args = ['dgst', '-sha256', '-sign', file('private.pem', vectors.keys.merchant.privateKey)]
    assert.equal(openssl(args, Buffer.from(stringToSign)).stdout.toString('base64'), envelope.sign, name)
  }
})

test('OpenSSL produces the same ciphertext', () => {
  // GCM is counter mode that starts at 2 after the nonce. The command line has counter mode, but no GCM.
  const key = Buffer.from(vectors.keys.merchant.aesKey, 'base64').toString('hex')
  for (const { name, nonceHex, body, envelope } of [...vectors.requests, ...vectors.callbacks]) {
    const bytes = Buffer.from(envelope.body, 'base64')
    assert.equal(bytes.subarray(0, 12).toString('hex'), nonceHex)
    const { stdout } = openssl(
      ['enc', '-aes-256-ctr', '-K', key, '-iv', `${nonceHex}00000002`],
      Buffer.from(body),
    )
    assert.deepEqual(bytes.subarray(12, -16), stdout, name)
  }
})
