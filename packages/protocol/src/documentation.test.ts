import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fillTables, tableNamesIn, tables } from '../documentation/tables.ts'
import { requestStringToSign } from './envelope.ts'

const page = readFileSync(new URL('../../../docs/protocol.md', import.meta.url), 'utf8')

test('the tables of docs/protocol.md are those of the code; otherwise run node scripts/documentation.ts', () => {
  assert.equal(page, fillTables(page))
})

test('every table stands in the page once', () => {
  assert.deepEqual(tableNamesIn(page).sort(), Object.keys(tables).sort())
})

test('a table that does not exist is noticed', () => {
  assert.throws(() => fillTables('<!-- table: nothing -->\n<!-- end of table -->'), /does not exist/)
})

test('the page shows the string to sign as the code makes it', () => {
  const envelope = {
    merchantId: '100000000000000001',
    method: 'service.trade.query',
    timestamp: '1760000000000',
  }
  assert(page.includes(requestStringToSign(envelope, '{"paymentId":"P01K73ZQ800JZ7V3N4Q5R6S7T8W"}')))
})
