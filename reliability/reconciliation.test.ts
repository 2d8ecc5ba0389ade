// A planted month, of 2,000 payments unless PAYMENTS says how many: every break that was planted is found with its kind, and nothing else is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from '../packages/gateway/test/support/database.ts'
import { closeMonth, foundBreaks, importMonth, resolveAll } from './reconciliation/reconcile-month.ts'
import { wholeOption } from './support/whole-option.ts'

const payments = wholeOption('payments', process.env['PAYMENTS'] ?? '2000', { least: 40 })

test('a planted month: every break is found with its kind and nothing else; settled, nothing is unexplained', async () => {
  const { pool } = await freshDatabase()
  const { month, known } = await importMonth(pool, { payments, each: 5 })
  assert(known > 0)
  assert.deepEqual(await foundBreaks(month), month.planted)
  await resolveAll(month)
  for (const { account, closed } of await closeMonth(month))
    for (const { day, unexplainedMinor } of closed) assert.equal(unexplainedMinor, 0n, `${account} ${day}`)
  assert.deepEqual((await month.operations.verifyLedger()).findings, [])
})
