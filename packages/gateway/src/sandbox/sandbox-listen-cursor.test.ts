import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import fc from 'fast-check'
import {
  batch,
  beginAt,
  type Cursor,
  maxSeen,
  moveOn,
  overlapMs,
  parseCursor,
  rowsToRead,
  writeCursor,
} from './sandbox-listen-cursor.ts'
import type { HeardCallback } from './store/sandbox-listens.ts'

const startMs = 1_800_000_000_000

function heard(number: number, atMs: number, kind: 'first' | 'resend' = 'first'): HeardCallback {
  return {
    merchantId: '1'.repeat(18),
    callbackId: `callback-${number}`,
    paymentId: 'P1',
    eventName: 'payment.order.success',
    callbackUrl: 'http://localhost:1/',
    body: '{}',
    kind,
    atMs,
  }
}

/** Rows with the time at which each becomes visible, as in a database. */
function makeTable(rows: readonly { readonly row: HeardCallback; readonly visibleAtMs: number }[]) {
  return (cursor: Cursor, nowMs: number) =>
    rows
      .filter(({ row, visibleAtMs }) => visibleAtMs <= nowMs && row.atMs >= cursor.fromMs)
      .map(({ row }) => row)
      .sort((a, b) => a.atMs - b.atMs)
      .slice(0, rowsToRead(cursor))
}

test('a callback committed within the overlap is returned exactly once, in any commit order', () => {
  const row = fc.record({
    atMs: fc.integer({ min: 0, max: 200_000 }),
    lateMs: fc.integer({ min: 0, max: overlapMs - 1 }),
    kind: fc.constantFrom('first', 'resend'),
  })
  const looks = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 5, maxLength: 30 })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 150 }), looks, (made, pausesMs) => {
      const table = makeTable(
        made.map(({ atMs, lateMs, kind }, number) => ({
          row: heard(number, startMs + atMs, kind),
          visibleAtMs: startMs + atMs + lateMs,
        })),
      )
      let cursor = beginAt(startMs - overlapMs, [])
      const given: string[] = []
      const look = (nowMs: number): number => {
        const moved = moveOn(cursor, { rows: table(cursor, nowMs), nowMs })
        assert(moved.given.length <= batch)
        given.push(...moved.given.map(({ callbackId }) => callbackId))
        cursor = parseCursor(writeCursor(moved.next))
        return moved.given.length
      }
      let nowMs = startMs
      for (const pauseMs of pausesMs) {
        nowMs += pauseMs
        look(nowMs)
      }
      const endMs = Math.max(nowMs, startMs + 200_000 + overlapMs)
      while (look(endMs) > 0);
      assert.deepEqual([...given].sort(), made.map((_, number) => `callback-${number}`).sort())
    }),
    { numRuns: 300 },
  )
})

test('a long backlog is read batch by batch without the cursor growing', () => {
  const rows = Array.from({ length: 500 }, (_, number) => ({
    row: heard(number, startMs + number),
    visibleAtMs: startMs + number,
  }))
  const table = makeTable(rows)
  const nowMs = startMs + 10 * overlapMs
  let cursor: Cursor = { fromMs: startMs, seen: new Set() }
  for (let looks = 0; looks < 500 / batch; looks++) {
    const { given, next } = moveOn(cursor, { rows: table(cursor, nowMs), nowMs })
    assert.equal(given.length, batch)
    assert(next.seen.size <= 1)
    cursor = next
  }
  assert.equal(moveOn(cursor, { rows: table(cursor, nowMs), nowMs }).given.length, 0)
})

test('callbacks beyond the capacity of a cursor arrive late, but none is lost', () => {
  const count = maxSeen + 100
  const table = makeTable(
    Array.from({ length: count }, (_, number) => ({ row: heard(number, startMs), visibleAtMs: startMs })),
  )
  let cursor: Cursor = { fromMs: startMs - 1, seen: new Set() }
  let given = 0
  const look = (nowMs: number) => {
    const moved = moveOn(cursor, { rows: table(cursor, nowMs), nowMs })
    cursor = parseCursor(writeCursor(moved.next))
    given += moved.given.length
    return moved.given.length
  }
  while (look(startMs + 1) > 0);
  assert.equal(given, maxSeen)
  while (look(startMs + overlapMs + 1) > 0);
  assert.equal(given, count)
})

test('an invalid cursor is rejected by its name', () => {
  for (const text of ['x', '123', '1800000000000', '1800000000000.short', '18000000000000.']) {
    assert.throws(
      () => parseCursor(text),
      (error) => error instanceof Failure && error.field === 'after',
    )
  }
})
