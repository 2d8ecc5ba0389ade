import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFails } from '../../test/failure.ts'
import { maxRailMessageBytes, maxRailReferenceLength, maxRefundIdLength } from '../limits.ts'
import {
  maxSettlementLines,
  parseSettlementAnswer,
  parseSettlementReport,
  type SettlementLine,
} from './settlement-report.ts'

const report = { type: 'settlement.report', version: 1, day: '2026-11-18' }
const line: SettlementLine = {
  lineId: 'txn_1',
  day: '2026-11-16',
  amountMinor: '-1250',
  feeMinor: '44',
  currency: 'EUR',
  reference: 'R1',
  batch: 'po_1',
}

test('a report request is read, other messages are left to their reader, and errors name the field', () => {
  const read = (changes: object) => parseSettlementReport(JSON.stringify({ ...report, ...changes }))
  assert.deepEqual(read({}), report)
  assert.deepEqual(read({ cursor: 'po_1 txn_9' }), { ...report, cursor: 'po_1 txn_9' })
  assert.equal(read({ type: 'payment.status' }), undefined)
  assertFails(() => read({ version: 2 }), 'invalid_field', 'version')
  assertFails(() => read({ day: '2026-02-30' }), 'invalid_field', 'day')
  assertFails(() => read({ day: 'today' }), 'invalid_field', 'day')
  assertFails(() => parseSettlementReport('{'), 'invalid_field')
})

test('a report may be empty, has at most 200 lines, and no line with an invalid day or amount', () => {
  const read = (changes: object) =>
    parseSettlementAnswer(JSON.stringify({ status: 'ready', lines: [], ...changes }))
  assert.deepEqual(read({}), { status: 'ready', lines: [] })
  assert.deepEqual(read({ lines: [line], next: '2' }), { status: 'ready', lines: [line], next: '2' })
  assert.equal(read({ lines: Array(maxSettlementLines).fill(line) }).lines.length, maxSettlementLines)
  assertFails(() => read({ lines: Array(maxSettlementLines + 1).fill(line) }), 'invalid_field', 'lines')
  assertFails(() => read({ lines: [{ ...line, day: '2026-13-01' }] }), 'invalid_field', 'day')
  assertFails(
    () => read({ lines: [{ ...line, amountMinor: '12.50' }] }),
    'invalid_field',
    'lines[0].amountMinor',
  )
  assertFails(() => read({ status: 'done' }), 'invalid_field', 'status')
})

test('a full page of usual lines fits in a response', () => {
  const usual = {
    ...line,
    lineId: 'x'.repeat(32),
    reference: 'x'.repeat(maxRefundIdLength),
    batch: 'x'.repeat(32),
  }
  assert(usual.batch.length < maxRailReferenceLength)
  const text = JSON.stringify({ status: 'ready', lines: Array(maxSettlementLines).fill(usual) })
  assert(text.length < maxRailMessageBytes)
})
