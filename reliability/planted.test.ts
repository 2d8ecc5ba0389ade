// That every planted bug can still be planted; `npm run planted` sees whether it is caught.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { test } from 'node:test'
import { bugs } from './planted/bugs.ts'
import { plant, readSources } from './planted/plant.ts'
import { root } from './support/tree-copy.ts'

const sources = readSources(root)

for (const [name, bug] of Object.entries(bugs))
  test(`${name} can be planted into the code as it is, and its catcher is there`, () => {
    const changed = plant(sources, bug)
    assert.ok(changed.size > 0)
    for (const [path, text] of changed) {
      assert.notEqual(text, sources.get(path))
      if (path.endsWith('.ts')) assert.doesNotThrow(() => stripTypeScriptTypes(text), path)
    }
    if (bug.caughtBy !== 'simulation')
      assert.equal(globSync(`packages/gateway/test/**/${bug.caughtBy}`, { cwd: root }).length, 1)
  })

const code = new Map([
  ['packages/gateway/src/a.ts', 'export function pay(\n  a: number,\n) {\n  return a  <=\n 1\n}\n'],
])
const bugAt = (place: { in: string; find: string }) => ({
  what: '',
  caughtBy: 'simulation' as const,
  places: [{ ...place, replace: 'a < 1' }],
})

test('a place is found however it is laid out', () => {
  assert.match(
    plant(code, bugAt({ in: 'pay', find: 'a<=1' })).get('packages/gateway/src/a.ts') ?? '',
    /return a < 1\n}/,
  )
})

test('a place that is found nowhere or twice is an error', () => {
  const twice = new Map([...code, ...[...code].map(([path, text]) => [`other/${path}`, text] as const)])
  assert.throws(() => plant(code, bugAt({ in: 'pay', find: 'a >= 1' })), /0 times instead of once/)
  assert.throws(() => plant(code, bugAt({ in: 'pay', find: 'a' })), /3 times instead of once/)
  assert.throws(() => plant(code, bugAt({ in: 'refund', find: 'a <= 1' })), /0 functions are called refund/)
  assert.throws(() => plant(twice, bugAt({ in: 'pay', find: 'a <= 1' })), /2 functions are called pay/)
})
