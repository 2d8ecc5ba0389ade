// A short form of the upgrade: this release under load, replaced by a planted next one with a new column and table.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { root } from './support/tree-copy.ts'
import { withPlantedRelease } from './upgrade/planted-release.ts'
import { openRelease } from './upgrade/release.ts'
import { runUpgrade } from './upgrade/run-upgrade.ts'

const home = mkdtempSync(join(tmpdir(), 'tillgate-upgrade-'))
after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))

test('the next release takes over under load, with a new column and table, and loses nothing', async (t) => {
  const release = await openRelease({ checkout: root })
  const { violations, failures, ...figures } = await withPlantedRelease((newTree) =>
    runUpgrade({
      home,
      release,
      newTree,
      engine: 'external',
      orders: 100,
      shoppers: 2,
      seconds: 1,
      stopFirst: false,
      tell: (line) => t.diagnostic(line),
    }),
  )
  t.diagnostic(JSON.stringify(figures))
  assert.deepEqual([violations, failures], [[], {}])
  assert(figures.acknowledged > 0)
  assert.deepEqual(
    figures.slowest.map(({ migration }) => migration),
    ['0016-planted'],
  )
})
