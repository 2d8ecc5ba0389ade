import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvRow } from './csv.ts'

const cell = (text: string) => csvRow([text]).replace(/\r\n$/, '')

/** Splits a line at `separator` like a spreadsheet: a quote counts only at the start of a cell. */
function split(line: string, separator: string): string[] {
  const cells: string[] = []
  for (let rest = line; ; ) {
    const quoted = /^"((?:[^"]|"")*)"/.exec(rest)
    const [whole = '', inside = ''] = quoted ?? []
    const after = rest.slice(whole.length)
    const end = after.indexOf(separator)
    cells.push(inside.replaceAll('""', '"') + (end < 0 ? after : after.slice(0, end)))
    if (end < 0) return cells
    rest = after.slice(end + 1)
  }
}

test('numbers and plain text are not changed', () => {
  for (const text of ['', '0', '12.50', '-12.50', '-3', 'A-1', 'a+b=c', 'P01', '2026-01-02T03:04:05Z', 'Zoë'])
    assert.equal(cell(text), text)
})

test('separators and quotes of other locales are quoted', () => {
  assert.equal(cell('a,b'), '"a,b"')
  assert.equal(cell('a;b'), '"a;b"')
  assert.equal(cell('say "x"'), '"say ""x"""')
  assert.equal(cell('a\r\nb'), '"a\r\nb"')
})

test('text that would be a formula starts with an apostrophe', () => {
  for (const text of ['=1', '+1', '-1+2', '--1', '@a', '＝1', '＋1', '－1', '＠a', ' =1', '-', '-1.', '+5'])
    assert.equal(cell(text), `'${text}`)
  assert.equal(cell('\tx'), '"\'\tx"')
  assert.equal(cell('\rx'), '"\'\rx"')
})

test('no cell is a formula, even if a spreadsheet splits at semicolons, tabs or line breaks', () => {
  const starts = [
    '=1',
    '+1',
    '-1+1',
    '@a',
    '＝1',
    ' =1',
    '"=1',
    '""=1',
    '\t=1',
    ';;=1',
    '\r\n=1',
    '";=1',
    ',=1',
  ]
  for (const start of starts) {
    for (const before of ['', 'a', '"', 'a,']) {
      for (const separator of [';', '\t', '\r', '\n', '']) {
        const text = before + separator + start
        const row = csvRow(['first', text, 'last', text])
        for (const at of [',', ';', '\t']) {
          for (const line of at === ',' ? [row] : row.split(/[\r\n]/)) {
            for (const each of split(line, at))
              assert.doesNotMatch(each, /^\s*[=+\-@＝＋－＠]/, JSON.stringify([text, at, each]))
          }
        }
      }
    }
  }
})
