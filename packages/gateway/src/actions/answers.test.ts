import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerOf } from './answers.ts'
import { list, object, optional, text } from './fields.ts'

const name = text('A name.', { max: 9 })
const schema = object('A shop.', {
  name,
  note: optional(name),
  keys: list('Keys.', object('A key.', { id: name })),
})

test('an answer contains only the fields of its schema', () => {
  const found = { name: 'tea', secret: 'x', keys: [{ id: 'k', sealedKey: 'y' }] }
  assert.deepEqual(answerOf(schema, found), { name: 'tea', keys: [{ id: 'k' }] })
})

test('undefined fields are omitted, and the record is not changed', () => {
  const found = { name: 'tea', note: undefined, keys: [] }
  assert.deepEqual(Object.keys(answerOf(schema, found) as object), ['name', 'keys'])
  assert.deepEqual(Object.keys(found), ['name', 'note', 'keys'])
})

test('a file is returned unchanged', () => {
  const lines = ['a', 'b']
  assert.equal(answerOf('csv', lines), lines)
})
