import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { scopedTo } from './scoped.ts'

const own = '100000000000000001'
const other = '100000000000000002'
const asked: unknown[] = []
const stores = {
  orders: {
    find: async (key: { merchantId: string; orderNo?: string }) => asked.push(key),
    list: async (page: { limit: number }) => asked.push(page),
    insert: async (request: { refund: { merchantId: string } }, entry?: { merchantId?: string }) =>
      asked.push([request, entry]),
  },
  merchants: { find: async (merchantId: string) => asked.push(merchantId) },
  figures: async () => asked.push('figures'),
}
const scoped = scopedTo(stores, own)

test('statements that name the merchant are run', async () => {
  await scoped.orders.find({ merchantId: own })
  await scoped.orders.insert({ refund: { merchantId: own } }, { merchantId: own })
  await scoped.merchants.find(own)
  // A merchant can choose any number.
  await scoped.orders.find({ merchantId: own, orderNo: other })
  assert.equal(asked.length, 4)
})

test('a statement that names another merchant anywhere finds nothing and is not run', () => {
  asked.length = 0
  for (const ask of [
    () => scoped.orders.find({ merchantId: other }),
    () => scoped.orders.insert({ refund: { merchantId: other } }),
    () => scoped.orders.insert({ refund: { merchantId: own } }, { merchantId: other }),
    () => scoped.merchants.find(other),
  ])
    assert.throws(ask, (error) => error instanceof Failure && error.failure === 'not_found')
  assert.deepEqual(asked, [])
})

test('a statement that names no merchant is a bug and is not run', () => {
  assert.throws(() => scoped.orders.list({ limit: 1 }), /orders.list names no merchant/)
  assert.throws(() => scoped.figures(), /figures is about no merchant/)
  assert.deepEqual(asked, [])
})
