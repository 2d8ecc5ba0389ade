import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toBankText } from './bank-text.ts'

test('accents are removed, some letters are spelled out, others become a period', () => {
  assert.equal(toBankText('Müller & Søn Straße', 70), 'Muller + Son Strasse')
  assert.equal(toBankText('Łódź Æther ÞŒ', 70), 'Lodz AEther ThOE')
  assert.equal(toBankText('東京 <b>', 70), '.. .b.')
  assert.equal(toBankText("O’Hara (x), a/b?: 1-2 'y'", 70), "O'Hara (x), a/b?: 1-2 'y'")
})

test('leading, trailing and repeated slashes and spaces are removed', () => {
  assert.equal(toBankText('//a//b/ ', 70), 'a/b')
  assert.equal(toBankText('  a   b  ', 70), 'a b')
  assert.equal(toBankText('ab/cd', 3), 'ab')
})

test('the result is never empty and never too long', () => {
  assert.equal(toBankText('', 70), '.')
  assert.equal(toBankText('///', 70), '.')
  assert.equal(toBankText('abc', 2), 'ab')
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 140 }), (text, most) => {
      const written = toBankText(text, most)
      assert.match(written, /^[A-Za-z0-9?:().,'+ -][A-Za-z0-9/?:().,'+ -]*$/)
      assert.doesNotMatch(written, /\/\/|\/$/)
      assert.ok(written.length <= most)
    }),
  )
})
