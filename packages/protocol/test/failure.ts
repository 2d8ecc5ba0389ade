// Asserts that something throws the Failure that is expected, and gives it back for a closer look.
import assert from 'node:assert/strict'
import { Failure, type FailureName } from '../src/codes.ts'

export function failureOf(act: () => unknown): Failure {
  try {
    act()
  } catch (error) {
    assert(error instanceof Failure, `a Failure was expected, not ${error}`)
    return error
  }
  assert.fail('a Failure was expected, but nothing was thrown')
}

export function assertFails(act: () => unknown, failure: FailureName, field?: string): Failure {
  const thrown = failureOf(act)
  assert.equal(thrown.failure, failure, thrown.message)
  assert.equal(thrown.field, field, thrown.message)
  return thrown
}
