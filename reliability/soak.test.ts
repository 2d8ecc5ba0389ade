// A short form of the soak: that it looks, counts and compares. Whether memory is flat takes an hour to say.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyDataDir } from '../packages/gateway/test/support/data-dir.ts'
import { runSoak } from './soak/run-soak.ts'

test('under an even load files, connections and disk stay in proportion, and all is as it was told', async (t) => {
  const { violations, ...figures } = await runSoak({
    dataDir: await emptyDataDir(t),
    looks: 6,
    lookEveryMs: 1_000,
    shoppers: 2,
  })
  t.diagnostic(JSON.stringify(figures))
  assert.deepEqual(
    violations.filter((each) => !each.startsWith('memory')),
    [],
  )
  assert.ok(figures.orders > 0 && figures.first.orders < figures.last.orders)
})
