import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTraceParent } from './traceparent.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

test('a traceparent is parsed in the W3C format', () => {
  assert.deepEqual(parseTraceParent(`00-${traceId}-${spanId}-01`), { traceId, spanId, isSampled: true })
  assert.deepEqual(parseTraceParent(`00-${traceId}-${spanId}-00`), { traceId, spanId, isSampled: false })
  assert.deepEqual(parseTraceParent(`00-${traceId}-${spanId}-03`)?.isSampled, true)
  assert.ok(parseTraceParent(`01-${traceId}-${spanId}-01-more`), 'a later version may have more')
})

test('an invalid traceparent is ignored', () => {
  for (const wrong of [
    undefined,
    '',
    ['x'],
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}`,
  ])
    assert.equal(parseTraceParent(wrong), undefined, String(wrong))
})
