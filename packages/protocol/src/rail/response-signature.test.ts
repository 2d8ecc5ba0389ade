import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type makeRailVectors, railVectorsPath } from '../../test/rail-vectors.ts'
import { signRailResponse, verifyRailResponse } from './response-signature.ts'

const vectors: ReturnType<typeof makeRailVectors> = JSON.parse(readFileSync(railVectorsPath, 'utf8'))
const { secret, nextSecret, responses } = vectors
const { messageId } = responses
const nowMs = vectors.timestamp * 1000

test('every signed response is accepted, and every invalid one is rejected for its reason', () => {
  const verdict = (headers: Record<string, string>, body: string) =>
    verifyRailResponse(headers, Buffer.from(body), { messageId, secrets: [secret], nowMs })
  for (const { name, body, headers } of responses.signed)
    assert.equal(verdict(headers, body), 'genuine', name)
  for (const { reason, body, headers, verdict: expected } of responses.refused)
    assert.equal(verdict(headers, body), expected, reason)
})

test('a response is valid with either of two active secrets', () => {
  const sign = (by: string) => signRailResponse({ 'webhook-id': messageId }, '{}', { secrets: [by], nowMs })
  const verify = (by: string, secrets: readonly string[]) =>
    verifyRailResponse(sign(by), Buffer.from('{}'), { messageId, secrets, nowMs })
  for (const by of [secret, nextSecret]) assert.equal(verify(by, [nextSecret, secret]), 'genuine')
  assert.equal(verify(secret, [nextSecret]), 'wrong_signature')
})

test('a response with another message’s id is rejected even if its signature is correct', () => {
  const headers = signRailResponse({ 'webhook-id': 'another' }, '{}', { secrets: [secret], nowMs })
  const context = { secrets: [secret], nowMs }
  assert.equal(verifyRailResponse(headers, Buffer.from('{}'), { ...context, messageId }), 'wrong_id')
  const relabeled = { ...headers, 'webhook-id': messageId }
  assert.equal(verifyRailResponse(relabeled, Buffer.from('{}'), { ...context, messageId }), 'wrong_signature')
})

test('a response is valid for five minutes, to the second', () => {
  const headers = signRailResponse({ 'webhook-id': messageId }, '{}', { secrets: [secret], nowMs })
  const at = (ms: number) =>
    verifyRailResponse(headers, Buffer.from('{}'), { messageId, secrets: [secret], nowMs: ms })
  assert.equal(at(nowMs + 300_000), 'genuine')
  assert.equal(at(nowMs + 300_001), 'outside_window')
})

test('a repeated header invalidates the response', () => {
  const headers = signRailResponse({ 'webhook-id': messageId }, '{}', { secrets: [secret], nowMs })
  const twice = { ...headers, 'webhook-id': [messageId, messageId] }
  assert.equal(
    verifyRailResponse(twice, Buffer.from('{}'), { messageId, secrets: [secret], nowMs }),
    'not_signed',
  )
})

test('a response cannot be signed without a message', () => {
  assert.throws(() => signRailResponse({}, '{}', { secrets: [secret], nowMs }), /id of its message/)
})
