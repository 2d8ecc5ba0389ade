import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Pool } from './undici-pool.ts'

test('this is the Pool of undici’s entry, which would load several times as many files', () => {
  const require = createRequire(import.meta.url)
  const loaded = () => Object.keys(require.cache).filter((file) => file.includes('/undici/')).length
  const before = loaded()
  assert.equal(require('undici').Pool, Pool)
  assert.ok(loaded() > 2 * before, 'the workaround may go')
})
