import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DaySums, totalsOf } from './day.ts'

const nothing: DaySums = {
  bookMinor: 0n,
  startMinor: 0n,
  balanceMinor: undefined,
  linesMinor: 0n,
  linesAfterBalanceMinor: 0n,
  matchedLinesMinor: 0n,
  matchedMinor: 0n,
  matchedSinceStartMinor: 0n,
  brokenMinor: 0n,
}
const results = (given: Partial<DaySums>) => {
  const { inTransitMinor, unexplainedMinor } = totalsOf({ ...nothing, ...given })
  return [inTransitMinor, unexplainedMinor]
}

test('amounts on both sides are neither in transit nor unexplained', () => {
  assert.deepEqual(
    results({
      bookMinor: 5n,
      linesMinor: 5n,
      matchedLinesMinor: 5n,
      matchedMinor: 5n,
      matchedSinceStartMinor: 5n,
    }),
    [0n, 0n],
  )
})

test('an amount that only the books have is in transit until it is overdue and becomes a break', () => {
  assert.deepEqual(results({ bookMinor: 5n }), [-5n, 0n])
  assert.deepEqual(results({ bookMinor: 5n, brokenMinor: 5n }), [0n, -5n])
})

test('a line without a transfer is unexplained; with a later transfer it is in transit', () => {
  assert.deepEqual(results({ linesMinor: 5n }), [0n, 5n])
  assert.deepEqual(results({ linesMinor: 5n, matchedLinesMinor: 5n }), [5n, 0n])
})

test('an amount in transit before the first statement counts once, with or without balances', () => {
  const before = {
    bookMinor: 100n,
    startMinor: 100n,
    linesMinor: 10n,
    matchedLinesMinor: 10n,
    matchedMinor: 10n,
  }
  assert.deepEqual(results(before), [0n, 0n])
  assert.deepEqual(results({ ...before, balanceMinor: 100n }), [0n, 0n])
})

test('a statement for days before the first one changes nothing if the books agree with it', () => {
  const first = { bookMinor: 110n, startMinor: 100n, linesMinor: 10n, matchedLinesMinor: 10n }
  const since = { matchedMinor: 10n, matchedSinceStartMinor: 10n }
  const older = { linesMinor: 40n, matchedLinesMinor: 40n, matchedMinor: 40n }
  const known = totalsOf({ ...nothing, ...first, ...since })
  assert.deepEqual(known, { bookMinor: 110n, outsideMinor: 110n, inTransitMinor: 0n, unexplainedMinor: 0n })
  assert.deepEqual(totalsOf({ ...nothing, ...first, ...since, ...older }), known)
})

test('a missing line shows as a difference to the statement’s balance', () => {
  assert.deepEqual(
    results({
      balanceMinor: 7n,
      linesMinor: 5n,
      matchedLinesMinor: 5n,
      bookMinor: 5n,
      matchedMinor: 5n,
      matchedSinceStartMinor: 5n,
    }),
    [0n, 2n],
  )
})

test('every sum has its own place', () => {
  const sums: DaySums = {
    bookMinor: 1_000n,
    startMinor: 200n,
    balanceMinor: undefined,
    linesMinor: 500n,
    linesAfterBalanceMinor: 30n,
    matchedLinesMinor: 400n,
    matchedMinor: 350n,
    matchedSinceStartMinor: 310n,
    brokenMinor: 20n,
  }
  const awaited = 1_000n - 200n - 310n - 20n
  assert.deepEqual(totalsOf(sums), {
    bookMinor: 1_000n,
    outsideMinor: 660n,
    inTransitMinor: 50n - awaited,
    unexplainedMinor: 660n - 1_000n - (50n - awaited),
  })
  assert.deepEqual(totalsOf({ ...sums, balanceMinor: 600n }), {
    bookMinor: 1_000n,
    outsideMinor: 630n,
    inTransitMinor: 50n - awaited,
    unexplainedMinor: 630n - 1_000n - (50n - awaited),
  })
})
