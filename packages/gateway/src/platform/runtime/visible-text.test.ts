import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLine, withoutHidden } from './visible-text.ts'

test('a line of up to 256 characters is accepted without surrounding blanks', () => {
  assert.equal(parseLine(' Tea & Söhne 茶 🍵 שלום ', 'name'), 'Tea & Söhne 茶 🍵 שלום')
  assert.equal(parseLine('🍵'.repeat(256), 'name').length, 512)
  for (const wrong of ['', ' ', '🍵'.repeat(257)])
    assert.throws(() => parseLine(wrong, 'name'), {
      code: 40001,
      message: /The name must be one line of 1 to 256/,
    })
})

test('control characters, invisible characters and line breaks are rejected', () => {
  for (const mark of [
    '\u001b[2J',
    '\u0000',
    '\u009b',
    '\n',
    '\u2028',
    '\u2029',
    '\u202e',
    '\u2066',
    '\u200e',
    '\u061c',
    '\u200b',
    '\ufeff\u00ad',
    '\ud800',
  ])
    assert.throws(() => parseLine(`Tea${mark}House`, 'reason'), { code: 40001 }, escape(mark))
})

test('terminal text keeps its lines but no characters that move the cursor or change the direction', () => {
  assert.equal(withoutHidden('Tea\u001b[2J\r\n\u202eHouse\n\n'), 'Tea [2J \n House\n\n')
})
