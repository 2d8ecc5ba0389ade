import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, failureNameOf, failures, httpStatusOf, successCode } from './codes.ts'

test('a failure has its code and, by default, the catalog’s message', () => {
  const failure = new Failure('order_not_found')
  assert.equal(failure.code, 40400)
  assert.equal(failure.message, failures.order_not_found.meaning)
  assert.equal('field' in failure || 'retryAfterSeconds' in failure || 'cause' in failure, false)
})

test('a failure keeps its details', () => {
  const cause = new Error('why')
  const failure = new Failure('unavailable', { message: 'Wait.', field: 'a.b', retryAfterSeconds: 3, cause })
  assert.deepEqual(
    [failure.message, failure.field, failure.retryAfterSeconds, failure.cause, failure.name],
    ['Wait.', 'a.b', 3, cause, 'Failure'],
  )
})

test('every code is unique, and its first three digits are an HTTP status', () => {
  const codes = Object.values(failures).map(({ code }) => code)
  assert.equal(new Set(codes).size, codes.length)
  for (const code of codes) assert.match(String(httpStatusOf(code)), /^[45]\d\d$/)
  assert.equal(httpStatusOf(successCode), 200)
  assert.equal(httpStatusOf(42900), 429)
})

test('a name is found by its code', () => {
  assert.equal(failureNameOf(40902), 'more_than_left_to_refund')
  assert.equal(failureNameOf(20000), undefined)
})
