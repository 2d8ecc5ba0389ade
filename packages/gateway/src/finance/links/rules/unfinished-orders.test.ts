import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnfinishedOrders, unfinishedLimits } from './unfinished-orders.ts'

const { most, countedMs, lookEveryMs, addresses } = unfinishedLimits

function fill(orders: UnfinishedOrders, key: string, nowMs: number): void {
  for (let at = 0; at < most; at++) assert.equal(orders.begin(key, `P${at}`, nowMs + at), 0)
}

test('an order over the limit must wait until the oldest one is an hour old', () => {
  const orders = new UnfinishedOrders()
  fill(orders, 'a', 1_000)
  assert.equal(orders.begin('a', 'more', 2_000), countedMs - 1_000)
  assert.equal(orders.begin('b', 'more', 2_000), 0)
  assert.equal(orders.begin('a', 'more', 1_000 + countedMs - 1), 1)
  assert.equal(orders.begin('a', 'more', 1_000 + countedMs), 0)
  assert.equal(orders.begin('a', 'again', 1_000 + countedMs), 1)
})

test('paid orders, and orders that were never created, do not count', () => {
  const orders = new UnfinishedOrders()
  fill(orders, 'a', 0)
  orders.forget('a', 'P7')
  orders.forget('a', 'P7')
  assert.equal(orders.begin('a', 'more', most), 0)
  assert(orders.begin('a', 'again', most) > 0)
})

test('orders are only counted at the limit, and at most every ten seconds', () => {
  const orders = new UnfinishedOrders()
  assert.deepEqual(orders.toLookAt('a', 0), [])
  fill(orders, 'a', 0)
  assert.equal(orders.toLookAt('a', most).length, most)
  assert.deepEqual(orders.toLookAt('a', most + lookEveryMs - 1), [])
  assert.equal(orders.toLookAt('a', most + lookEveryMs).length, most)
})

test('a bounded number of recent addresses is remembered', () => {
  const orders = new UnfinishedOrders()
  fill(orders, 'a', 0)
  fill(orders, 'b', 0)
  for (let at = 0; at < addresses - 1; at++) orders.begin(`other ${at}`, 'P', most)
  assert.equal(orders.begin('a', 'more', most), 0, 'a was forgotten')
  for (let at = 0; at < addresses - 2; at++) orders.begin(`another ${at}`, 'P', most)
  assert.equal(orders.begin('b', 'more', most), 0)
})
