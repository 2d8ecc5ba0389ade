import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { budgets, isOver, type Layer, timesOf } from './layers.ts'

const root = '/tillgate/packages'

test('a sample belongs to the layer of the nearest frame of the program', () => {
  const frames = [
    { id: 1, functionName: '(root)', url: '', children: [2, 3, 8, 9] },
    { id: 2, functionName: 'onread', url: 'node:internal/stream_base_commons' },
    {
      id: 3,
      functionName: 'answer',
      url: `${root}/gateway/src/adapters/merchant-api/merchant-api.ts`,
      children: [4, 6],
    },
    { id: 4, functionName: 'openRequest', url: `${root}/protocol/src/opening.ts`, children: [5] },
    { id: 5, functionName: 'update', url: 'node:internal/crypto/cipher' },
    {
      id: 6,
      functionName: 'insertOrders',
      url: `${root}/gateway/src/core/orders/store/orders.ts`,
      children: [7],
    },
    { id: 7, functionName: 'submit', url: '/tillgate/node_modules/pg/lib/query.js' },
    { id: 8, functionName: '(garbage collector)', url: '' },
    { id: 9, functionName: '(idle)', url: '' },
  ]
  const nodes = frames.map(({ id, functionName, url, children }) => ({
    id,
    callFrame: { functionName, url },
    ...(children && { children }),
  }))
  const times = timesOf({ nodes, samples: [2, 5, 7, 6, 3, 8, 9], timeDeltas: [0, 10, 20, 30, 5, 7, 3, 100] })
  assert.deepEqual(Object.fromEntries(times), {
    'Node: sockets, HTTP, streams': 10,
    envelope: 20,
    store: 35,
    HTTP: 7,
    'garbage collection': 3,
    undefined: 100,
  })
})

test('a layer fails from a fifth over its budget on', () => {
  for (const layer of Object.keys(budgets) as Layer[]) {
    assert.equal(isOver(layer, budgets[layer] * 1.19), false)
    assert.equal(isOver(layer, budgets[layer] * 1.21), true)
  }
})

test('docs/performance.md lists the budgets', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/performance.md'), 'utf8')
  for (const [layer, budget] of Object.entries(budgets))
    assert.ok(page.includes(` ${layer} ${budget}`), layer)
})
