import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { makeRailVectors, railVectorsPath } from '../../test/rail-vectors.ts'
import { isWebhookSecret, makeWebhookSecret, signWebhook, verifyWebhook } from './webhook-signature.ts'

const vectors: ReturnType<typeof makeRailVectors> = JSON.parse(readFileSync(railVectorsPath, 'utf8'))
const { secret, nextSecret } = vectors
const nowMs = vectors.timestamp * 1000

test('the file matches the code; otherwise run scripts/make-test-vectors.ts', () => {
  assert.deepEqual(vectors, JSON.parse(JSON.stringify(makeRailVectors())))
})

test('every signed message is accepted, and every invalid one is rejected for its reason', () => {
  for (const { name, body, headers } of vectors.signed)
    assert.equal(verifyWebhook(headers, body, { secrets: [secret], nowMs }), 'genuine', name)
  for (const { reason, body, headers, verdict } of vectors.refused)
    assert.equal(verifyWebhook(headers, body, { secrets: [secret], nowMs }), verdict, reason)
})

test('OpenSSL produces the same signature', () => {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64').toString('hex')
  for (const { name, signed, headers } of vectors.signed) {
    const args = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`, '-binary']
    const { stdout } = spawnSync('openssl', args, { input: signed })
    assert(headers['webhook-signature'].split(' ').includes(`v1,${stdout.toString('base64')}`), name)
  }
})

test('the signature matches the Standard Webhooks libraries', () => {
  // From the tests of the reference implementations.
  const theirs = {
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    nowMs: 1_614_265_330_000,
    body: '{"test": 2432232314}',
  }
  const headers = signWebhook(theirs, theirs)
  assert.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('the window is five minutes in both directions, to the second', () => {
  const headers = signWebhook({ id: 'a', body: '{}' }, { secrets: [secret], nowMs })
  const at = (ms: number) => verifyWebhook(headers, '{}', { secrets: [secret], nowMs: ms })
  assert.equal(at(nowMs + 300_000), 'genuine')
  assert.equal(at(nowMs + 300_001), 'outside_window')
  assert.equal(at(nowMs - 300_000), 'genuine')
  assert.equal(at(nowMs - 300_001), 'outside_window')
})

test('during a rotation either side may switch first', () => {
  const message = { id: 'a', body: '{}' }
  const both = signWebhook(message, { secrets: [nextSecret, secret], nowMs })
  for (const live of [secret, nextSecret])
    assert.equal(verifyWebhook(both, '{}', { secrets: [live], nowMs }), 'genuine')
  const old = signWebhook(message, { secrets: [secret], nowMs })
  assert.equal(verifyWebhook(old, '{}', { secrets: [nextSecret, secret], nowMs }), 'genuine')
  assert.equal(verifyWebhook(old, '{}', { secrets: [nextSecret], nowMs }), 'wrong_signature')
})

test('bytes are signed like the same text', () => {
  const body = '{"merchantName":"Größe 😀"}'
  const headers = signWebhook({ id: 'a', body }, { secrets: [secret], nowMs })
  assert.equal(verifyWebhook(headers, Buffer.from(body), { secrets: [secret], nowMs }), 'genuine')
})

test('a secret is whsec_ and 24 to 64 bytes', () => {
  assert(isWebhookSecret(makeWebhookSecret((size) => new Uint8Array(size).fill(7))))
  const ofBytes = (size: number) => `whsec_${Buffer.alloc(size).toString('base64')}`
  assert.deepEqual([23, 24, 64, 65].map(ofBytes).map(isWebhookSecret), [false, true, true, false])
  assert(!isWebhookSecret(ofBytes(32).slice('whsec_'.length)))
  assert(!isWebhookSecret('whsec_not base64'))
  assert.throws(() => signWebhook({ id: 'a', body: '' }, { secrets: ['plain'], nowMs }), /whsec_/)
})
