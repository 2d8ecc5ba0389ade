import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writePdf } from './pdf.ts'

const line = (text: string) => ({ text, left: 56, top: 56, size: 11 })

test('the PDF’s cross-reference table has the offset of each object', () => {
  const file =
    writePdf([line('Café – €12.50'), { ...line('(a) \\ b'), isBold: true }], 'Receipt')?.toString('latin1') ??
    ''
  assert.match(file, /^%PDF-1\.4\n/)
  const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(file)?.[1])
  assert.equal(file.slice(table, table + 4), 'xref')
  const places = [...file.slice(table).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, place]) => Number(place))
  assert.equal(places.length, 7)
  for (const [index, place] of places.entries())
    assert(file.slice(place).startsWith(`${index + 1} 0 obj\n`), `object ${index + 1}`)
  const [, length = '', stream = ''] = /\/Length (\d+) >>\nstream\n(.*?)\nendstream/s.exec(file) ?? []
  assert.equal(stream.length, Number(length))
  const [first = ''] = [...stream.matchAll(/<([0-9a-f]+)> Tj/g)].map(([, hex = '']) => hex)
  assert.equal(Buffer.from(first, 'hex').toString('latin1'), 'Caf\u00e9 \u0096 \u008012.50')
})

test('spaces and symbols of Intl are written, and letters that the font lacks throw', () => {
  assert(writePdf([line('1\u202f234,50\u00a0€'), line('\u221212,00'), line('\u2068Ann\u2069')], 'x'))
  for (const text of ['茶', 'شاي', 'Łódź', '🍵', '\u0081'])
    assert.equal(writePdf([line(text)], 'x'), undefined, text)
})
