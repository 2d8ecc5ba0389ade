import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { hashSecret } from './secret-hash.ts'

test('hashing many PINs leaves threads for other work', async () => {
  const parts = {
    vault: { hashCost: { N: 16_384, r: 8, p: 1 } },
    random: (count: number) => randomBytes(count),
  }
  let hashed = 0
  const hashes = Array.from({ length: 20 }, () => hashSecret('123456', parts).then(() => hashed++))
  await promisify(randomBytes)(16)
  assert.ok(hashed < 10, `${hashed} were hashed before`)
  await Promise.all(hashes)
  assert.equal(hashed, 20)
})
