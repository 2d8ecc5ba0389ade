import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bottleneck, capacityOf, chanceToWait, demandMs, predict, type Station, waitPerMs } from './model.ts'

const order = { orderMs: 2, transactionMs: 0 }
const few: Station = { name: 'few', cores: 2, parts: [order, { orderMs: 3, transactionMs: 0 }] }
const many: Station = { name: 'many', cores: 16, parts: [order] }

test('a station carries as many orders as its cores have time for, and the least of all is the bottleneck', () => {
  assert.equal(capacityOf(few), 400)
  assert.equal(capacityOf(many), 8_000)
  assert.equal(bottleneck([many, few, many]), few)
})

test('the chance to wait is that of the tables of Erlang C', () => {
  assert.equal(chanceToWait(1, 0.7), 0.7)
  assert.ok(Math.abs(chanceToWait(2, 0.5) - 1 / 3) < 1e-12)
  assert.ok(Math.abs(chanceToWait(10, 0.8) - 0.4092) < 1e-4)
  assert.equal(chanceToWait(4, 1), 1)
})

test('on one core work takes twice as long at half load, and for ever when it is full', () => {
  assert.equal(waitPerMs(1, 0.5), 1)
  assert.equal(waitPerMs(1, 1), Number.POSITIVE_INFINITY)
})

test('an order that shares its transactions costs less', () => {
  const parts = [{ orderMs: 1, transactionMs: 0.5 }]
  assert.equal(demandMs(parts, 16), 9)
  assert.equal(demandMs(parts, 2), 2)
})

test('with more orders each makes fewer transactions and waits longer, and no station is full before its capacity', () => {
  const station: Station = { name: 'cores', cores: 2, parts: [{ orderMs: 5, transactionMs: 0.5 }] }
  const predictions = [10, 100, 200, 300].map((perSecond) => predict([station], { perSecond }))
  for (const [index, { transactionsAnOrder, utilisations, createMs }] of predictions.entries()) {
    const before = predictions[index - 1]
    assert.ok(utilisations.every((utilisation) => utilisation < 1))
    assert.ok(createMs.p50 < createMs.p95)
    if (before)
      assert.ok(transactionsAnOrder < before.transactionsAnOrder && createMs.p50 > before.createMs.p50)
  }
})

test('the same orders over more processes share less', () => {
  const [one, ten] = [1, 10].map((processes) => predict([many], { perSecond: 2_000, processes }))
  assert.ok(one && ten && ten.transactionsAnOrder > one.transactionsAnOrder)
})
