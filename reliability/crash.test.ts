// Ten of the kill cycles; `npm run crash` runs as many as one likes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyDataDir } from '../packages/gateway/test/support/data-dir.ts'
import { embeddedEngine } from './crash/engines/embedded.ts'
import { runCycles } from './crash/run-cycles.ts'

test('ten times killed under load, the gateway comes back by itself and nothing acknowledged is lost', async (t) => {
  const dataDir = await emptyDataDir(t)
  const { violations, ...figures } = await runCycles({
    dataDir,
    engine: embeddedEngine(dataDir),
    cycles: 10,
    seed: 7,
    shoppers: 2,
    processes: [2],
    endsClaims: true,
  })
  t.diagnostic(JSON.stringify(figures))
  assert.deepEqual(violations, [])
  assert.ok(figures.attempts > 0, 'nobody paid through the bank')
  assert.ok(figures.atEndpoint >= 20 && figures.events >= 20, JSON.stringify(figures))
  assert.ok(figures.payoutRuns > 0 && figures.corrections > 0, JSON.stringify(figures))
  assert.ok(figures.ownMoves > 2, JSON.stringify(figures))
  assert.ok(figures.orders >= 10 && figures.arrivals >= 20, JSON.stringify(figures))
  for (const [victim, times] of Object.entries(figures.victims))
    assert.ok(times > 0, `nobody killed the ${victim}`)
})
