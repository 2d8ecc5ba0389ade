import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { plainArray } from './plain-array.ts'

test('an array is written in PostgreSQL’s format, including empty arrays and nulls', () => {
  assert.equal(plainArray([]), '{}')
  assert.equal(plainArray([null]), '{null}')
  assert.equal(plainArray([1, null, 1_800_000_000_000]), '{1,null,1800000000000}')
  assert.equal(plainArray([true, false]), '{true,false}')
  assert.equal(plainArray(['0199-a', 'acknowledged']), '{0199-a,acknowledged}')
  assert.equal(plainArray(['', 'a', undefined]), '{"",a,null}')
})

test('the workaround is needed while the driver escapes and quotes values that need neither', () => {
  // Of pg's utilities the types say nothing.
  const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): string } }).utils
  assert.equal(prepareValue(['acknowledged', 1]), '{"acknowledged","1"}')
})
