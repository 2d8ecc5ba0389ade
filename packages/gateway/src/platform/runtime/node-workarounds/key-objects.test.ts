import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { leastTimeMs } from '../../../../test/support/least-time.ts'
import { keyObjects } from './key-objects.ts'

const bytes = Buffer.alloc(32, 7)

test('a key object gives the same result as its bytes', () => {
  const [key] = keyObjects([bytes])
  assert.deepEqual(
    createHmac('sha256', key).update('text').digest(),
    createHmac('sha256', bytes).update('text').digest(),
  )
})

test('the workaround is needed while Node creates an object from the bytes at every use', () => {
  const [key] = keyObjects([bytes])
  const timeOf = (given: typeof key | Buffer) =>
    leastTimeMs(() => createHmac('sha256', given).update('text').digest())
  assert.ok(timeOf(key) < timeOf(bytes), 'key-objects.ts may go')
})
