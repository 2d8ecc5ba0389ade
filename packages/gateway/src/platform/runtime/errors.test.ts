import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, messageOf } from './errors.ts'

test('the code of an error is text or undefined, whatever was thrown', () => {
  assert.equal(codeOf(Object.assign(new Error('gone'), { code: 'ENOENT' })), 'ENOENT')
  for (const thrown of [new Error('plain'), Object.assign(new Error('odd'), { code: 7 }), 'text', undefined])
    assert.equal(codeOf(thrown), undefined)
})

test('nested errors are listed in order', () => {
  const both = new AggregateError([new Error('first'), new AggregateError([new Error('second')])])
  assert.equal(messageOf(both), 'first; second')
  assert.equal(messageOf('text'), 'text')
})
