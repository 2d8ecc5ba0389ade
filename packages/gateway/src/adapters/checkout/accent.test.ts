import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { accentStyle, contrast, fitAccent } from './accent.ts'

const grounds = { light: ['#ffffff', '#fbfbf9'], dark: ['#1b1e1d', '#131514'] } as const
const colours = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, '0')}`)

test('links and buttons have AA contrast in both schemes for any accent color', () => {
  fc.assert(
    fc.property(colours, fc.constantFrom('light', 'dark'), (colour, scheme) => {
      const { accent, onAccent } = fitAccent(colour, scheme)
      for (const ground of grounds[scheme]) assert(contrast(accent, ground) >= 4.5, `${accent} on ${ground}`)
      assert(contrast(onAccent, accent) >= 4.5, `${onAccent} on ${accent}`)
    }),
  )
})

test('a readable color is not changed', () => {
  assert.deepEqual(fitAccent('#1f6f5c', 'light'), { accent: '#1f6f5c', onAccent: '#ffffff' })
})

test('contrast is calculated according to WCAG', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21)
  assert.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48')
})

test('no color sets no style', () => {
  assert.equal(accentStyle(undefined), undefined)
  assert.match(accentStyle('#ffcc00') ?? '', /^:root\{--accent:#[0-9a-f]{6};--on-accent:#[0-9a-f]{6}\}@media/)
})
