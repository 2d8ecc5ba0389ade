import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { leastTimeMs } from '../../../../test/support/least-time.ts'
import { makeRandom } from './random.ts'

test('each byte is used once, across blocks as well, and the requested number is returned', () => {
  const random = makeRandom()
  const seen = new Set<string>()
  for (let i = 0; i < 5000; i++) {
    const bytes = random(16)
    assert.equal(bytes.length, 16)
    seen.add(Buffer.from(bytes).toString('hex'))
  }
  assert.equal(seen.size, 5000)
  assert.equal(random(10_000).length, 10_000)
})

test('returned bytes do not change when more are drawn', () => {
  const random = makeRandom()
  const first = random(16)
  const copy = Buffer.from(first)
  for (let i = 0; i < 1000; i++) random(16)
  assert.deepEqual(Buffer.from(first), copy)
})

test('every byte value occurs', () => {
  const random = makeRandom()
  const values = new Set<number>()
  for (let i = 0; i < 2000; i++) for (const byte of random(8)) values.add(byte)
  assert.equal(values.size, 256)
})

test('the workaround is needed while a few bytes from the system cost more', () => {
  const random = makeRandom()
  assert.ok(leastTimeMs(() => random(16)) < leastTimeMs(() => randomBytes(16)), 'random.ts may go')
})
