// Two gateways make and end a run of ten thousand payouts while one after the other is killed with kill -9: each payout is
// in the books once and in the file once. On the list of slow ones.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { bindMode } from '../../src/platform/database/mode.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import { utcDay } from '../../src/platform/runtime/utc.ts'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { freshDatabase } from '../support/database.ts'
import { testOperations } from '../support/operations.ts'
import { addManyMerchants, textOf } from '../support/payouts.ts'
import { type RunningGateway, startProcess, temporaryFolder } from '../support/process.ts'
import { urlOf } from '../support/server.ts'

const count = Number(process.env['PAYOUTS'] ?? 10_000)
const masterKey = randomBytes(32)
const dataDir = temporaryFolder()
const { pool, connection } = await freshDatabase()
await bindMode(pool, { mode: 'sandbox', isModeGiven: true })
const { stores, operations } = testOperations(pool, { vault: makeVault(masterKey) })
const { payoutRuns } = actingAs(operations, 'test')

async function countOf(condition: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`select count(*) from payouts where ${condition}`)
  return Number(rows[0]?.count)
}

test('a run of ten thousand payouts under kill -9: each once in the books and once in the file', async () => {
  await addManyMerchants(pool, { count, day: utcDay(Date.now()) })
  const start = () =>
    startProcess({
      DATABASE_URL: urlOf(connection),
      MASTER_KEY: masterKey.toString('base64'),
      DATA_DIR: dataDir,
    })
  let gateways: RunningGateway[] = await Promise.all([start(), start()])
  /** One dies whenever about a fifth more is done, and another takes its place. */
  const killWhile = async (condition: string): Promise<number> => {
    let kills = 0
    for (let part = 1; part < 5; part++) {
      await until(async () => (await countOf(condition)) >= (count * part) / 5)
      const [victim, ...others] = gateways
      victim?.child.kill('SIGKILL')
      kills += 1
      gateways = [...others, await start()]
    }
    await until(async () => (await countOf(condition)) === count)
    return kills
  }
  assert.equal(await killWhile('true'), 4)
  await until(async () =>
    (await stores.payoutRuns.listRuns({ limit: 9 })).every(({ closedAtMs }) => closedAtMs !== undefined),
  )
  const runs = await stores.payoutRuns.listRuns({ limit: 9 })
  assert.equal(runs.length, 1)
  const runId = runs[0]?.runId ?? ''
  await payoutRuns.sendRun(runId, 'test')
  const csv = await textOf(await payoutRuns.exportRun(runId, 'csv'))
  await payoutRuns.endRun(
    runId,
    { ending: 'paid', reference: 'B', valueDate: '2026-11-16', message: undefined },
    'test',
  )
  await killWhile("status = 'paid'")
  for (const { child, exited } of gateways) {
    child.kill('SIGTERM')
    await exited()
  }

  const { rows } = await pool.query<{ merchant_id: string; payout_id: string; sum: string }>(`
select p.merchant_id, p.payout_id, a.credits_posted - a.debits_posted - a.debits_pending as sum
  from payouts p join accounts a on a.account_id = 'merchant:' || p.merchant_id || ':EUR'`)
  assert.equal(rows.length, count)
  assert.equal(new Set(rows.map((row) => row.merchant_id)).size, count)
  assert.ok(
    rows.every(({ sum }) => sum === '1000'),
    'the reserve is there, and nothing else',
  )
  const inFile = [...csv.matchAll(/^T\w+/gm)].map(([id]) => id)
  assert.deepEqual(inFile, rows.map((row) => row.payout_id).toSorted())
  assert.deepEqual((await operations.verifyLedger()).findings, [])
})
