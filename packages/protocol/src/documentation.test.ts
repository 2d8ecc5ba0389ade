import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { railTables } from '../documentation/rail-tables.ts'
import { fillTables, tableNamesIn, tables } from '../documentation/tables.ts'
import { requestStringToSign } from './envelope.ts'

const page = readPage('protocol')

const pages = [
  { name: 'protocol', text: page, from: tables },
  { name: 'rails', text: readPage('rails'), from: railTables },
]

function readPage(name: string): string {
  return readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8')
}

for (const { name, text, from } of pages) {
  test(`the tables of docs/${name}.md are those of the code; otherwise run node scripts/documentation.ts`, () => {
    assert.equal(text, fillTables(text, from))
  })

  test(`no table is in docs/${name}.md twice`, () => {
    const names = tableNamesIn(text)
    assert(names.length > 5)
    assert.deepEqual(names, [...new Set(names)])
  })
}

test('an unknown table is reported', () => {
  assert.throws(() => fillTables('<!-- table: nothing -->\n<!-- end of table -->'), /does not exist/)
})

test('the page shows the string to sign that the code produces', () => {
  const envelope = {
    merchantId: '100000000000000001',
    method: 'service.trade.query',
    timestamp: '1760000000000',
  }
  assert(page.includes(requestStringToSign(envelope, '{"paymentId":"P01K73ZQ800JZ7V3N4Q5R6S7T8W"}')))
})
