import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownAddresses } from './known-addresses.ts'

test('an address is unknown until it is added, and again when too many others were added since', () => {
  const known = new KnownAddresses({ max: 2 })
  assert.equal(known.has('a'), false)
  for (const address of ['a', 'b', 'a', 'c']) known.add(address)
  assert.deepEqual(
    ['a', 'b', 'c'].map((address) => known.has(address)),
    [true, false, true],
  )
})
