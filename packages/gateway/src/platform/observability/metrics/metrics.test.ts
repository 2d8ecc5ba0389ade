import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readExposition } from '../../../../test/support/exposition.ts'
import { makeDatabaseMetrics, refreshEveryMs } from './database-metrics.ts'
import { writeExposition } from './exposition.ts'
import { countedOnly, mergeSnapshots } from './merge.ts'
import { maxChildren, Registry } from './registry.ts'

function sample() {
  const registry = new Registry()
  const requests = registry.counters({ name: 'requests_total', help: 'All.', by: ['operation', 'code'] })
  const size = registry.histograms({ name: 'size', help: 'How large.', bounds: [1, 10] })
  const open = registry.gauges({ name: 'open', help: 'Open now.' }).of()
  const slowest = registry.gauges({ name: 'slowest', help: 'Of all.', merge: 'max' }).of()
  return { registry, requests, size: size.of(), open, slowest }
}

test('a histogram counts a value equal to a bound in that bucket, and larger values only in +Inf', () => {
  const { registry, size } = sample()
  for (const value of [0, 1, 1.01, 10, 11]) size.observe(value)
  const read = readExposition(writeExposition(registry.snapshot()))
  assert.equal(read.value('size_bucket', { le: '1' }), 2)
  assert.equal(read.value('size_bucket', { le: '10' }), 4)
  assert.equal(read.value('size_bucket', { le: '+Inf' }), 5)
  assert.equal(read.value('size_count'), 5)
  assert.equal(Math.round((read.value('size_sum') ?? 0) * 100), 2301)
})

test('special characters in a label are escaped', () => {
  const { registry, requests } = sample()
  requests.of('a"b\\c\nd', '1').add(2)
  assert.match(
    writeExposition(registry.snapshot()),
    /^requests_total\{operation="a\\"b\\\\c\\nd",code="1"\} 2$/m,
  )
  readExposition(writeExposition(registry.snapshot()))
})

test('an unbounded number of label values is counted as other', () => {
  const { registry, requests } = sample()
  for (let i = 0; i < maxChildren + 50; i++) requests.of(`operation ${i}`, '1').add()
  const read = readExposition(writeExposition(registry.snapshot()))
  assert.equal(read.value('requests_total', { operation: 'other', code: 'other' }), 50)
  assert.equal(read.sum('requests_total'), maxChildren + 50)
})

test('metrics of processes are merged: counters and histograms are added, gauges as declared', () => {
  const [one, two] = [sample(), sample()]
  one.requests.of('create', '20000').add(3)
  two.requests.of('create', '20000').add(4)
  two.requests.of('query', '20000').add()
  one.size.observe(1)
  two.size.observe(100)
  one.open.set(2)
  two.open.set(5)
  one.slowest.set(2)
  two.slowest.set(5)
  const read = readExposition(
    writeExposition(mergeSnapshots([one.registry.snapshot(), two.registry.snapshot()])),
  )
  assert.equal(read.value('requests_total', { operation: 'create', code: '20000' }), 7)
  assert.equal(read.value('requests_total', { operation: 'query', code: '20000' }), 1)
  assert.equal(read.value('size_count'), 2)
  assert.equal(read.value('size_sum'), 101)
  assert.equal(read.value('open'), 7)
  assert.equal(read.value('slowest'), 5)
})

test('counters of a process that ended are kept, its gauges are dropped', () => {
  const [ended, alive] = [sample(), sample()]
  ended.requests.of('create', '20000').add(3)
  ended.open.set(9)
  const merged = mergeSnapshots([countedOnly(ended.registry.snapshot()), alive.registry.snapshot()])
  const read = readExposition(writeExposition(merged))
  assert.equal(read.value('requests_total', { operation: 'create', code: '20000' }), 3)
  assert.equal(read.value('open'), 0)
})

const figures = {
  orders: { pending: 7, confirming: 1 },
  refunding: 2,
  authorizationsWaiting: 3,
  oldestAuthorizationDueAtMs: undefined,
  oldestAuthorizationSubmittedAtMs: 3_000,
  oldestExpiryAtMs: 4_000,
  callbacks: {
    waiting: 5,
    due: 4,
    exhausted: 3,
    oldestDueAtMs: 9_500,
    failingHosts: 2,
    pausedHosts: 1,
    failingDestinations: 4,
    pausedDestinations: 3,
  },
  reconciliation: {
    openBreaks: 3,
    oldestBreakAtMs: 8_000,
    unexplained: [
      { account: 'bank:main', currency: 'EUR', minor: -250 },
      { account: 'bank:main', currency: 'USD', minor: 0 },
    ],
  },
  lastBackupAtMs: 5_000,
  emails: { waiting: 6, oldestDueAtMs: 9_000 },
  rails: { paused: 1, failing: 2, tasksWaiting: 4, suspenseMinor: { EUR: 1_250 } },
  databaseBytes: 1_000,
}

test('database counts are updated once at a time and at most every few seconds, however often they are read', async () => {
  let nowMs = 10_000
  let reads = 0
  const read = makeDatabaseMetrics({
    clock: { now: () => nowMs, wait: () => new Promise(() => {}) },
    read: async () => {
      reads++
      return figures
    },
  })
  const [snapshot] = await Promise.all([read(), read(), read()])
  nowMs += refreshEveryMs - 1
  await read()
  assert.equal(reads, 1)
  nowMs += 1
  await read()
  assert.equal(reads, 2)
  const results = readExposition(writeExposition(snapshot ?? []))
  assert.equal(results.value('tillgate_expiry_lag_seconds'), 6)
  assert.equal(results.value('tillgate_authorization_lag_seconds'), 0)
  assert.equal(results.value('tillgate_authorization_age_seconds'), 7)
  assert.equal(results.value('tillgate_callbacks', { state: 'exhausted' }), 3)
  assert.equal(results.value('tillgate_callback_hosts', { state: 'paused' }), 1)
  assert.equal(results.value('tillgate_callback_destinations', { state: 'failing' }), 4)
  assert.equal(results.value('tillgate_callback_destinations', { state: 'paused' }), 3)
  assert.equal(results.value('tillgate_rails', { state: 'failing' }), 2)
  assert.equal(results.value('tillgate_suspense_minor', { currency: 'EUR' }), 1_250)
  assert.equal(results.value('tillgate_reconciliation_breaks'), 3)
  assert.equal(results.value('tillgate_reconciliation_break_age_seconds'), 2)
  const main = { account: 'bank:main', currency: 'EUR' }
  assert.equal(results.value('tillgate_reconciliation_unexplained_minor', main), -250)
  assert.equal(results.value('tillgate_last_backup_timestamp_seconds'), 5)
  assert.equal(results.value('tillgate_emails_waiting'), 6)
  assert.equal(results.value('tillgate_email_lag_seconds'), 1)
})

test('an unreachable database keeps the last counts with their age, and a hanging one is not waited for', async () => {
  let nowMs = 10_000
  let answer = async () => figures
  const read = makeDatabaseMetrics({
    clock: { now: () => nowMs, wait: async () => {} },
    read: () => answer(),
  })
  await new Promise((resolve) => setImmediate(resolve))
  await read()
  await new Promise((resolve) => setImmediate(resolve))
  answer = () => Promise.reject(new Error('away'))
  nowMs += 60_000
  await read()
  await new Promise((resolve) => setImmediate(resolve))
  let results = readExposition(writeExposition(await read()))
  assert.equal(results.value('tillgate_database_up'), 0)
  assert.equal(results.value('tillgate_database_figures_age_seconds'), 60)
  assert.equal(results.value('tillgate_orders', { status: 'pending' }), 7)
  answer = () => new Promise(() => {})
  nowMs += 60_000
  results = readExposition(writeExposition(await read()))
  assert.equal(results.value('tillgate_database_figures_age_seconds'), 120)
})
