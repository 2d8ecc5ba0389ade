import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normaliseColour } from './merchant.ts'

test('a color is stored in one form, however it is written', () => {
  for (const text of ['#1f6f5c', '#1F6F5C', '1f6f5c', ' #1f6f5c '])
    assert.equal(normaliseColour(text), '#1f6f5c')
  assert.equal(normaliseColour('#fa0'), '#ffaa00')
})

test('an invalid color is no color', () => {
  for (const text of ['', '#', 'red', '#12345', '#1234567', '#gggggg', '#1f6f5c;}', 'url(x)', '#１f6f5c'])
    assert.equal(normaliseColour(text), undefined, text)
})
