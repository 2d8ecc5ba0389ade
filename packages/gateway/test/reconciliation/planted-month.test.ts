// A planted month, small: every break that was planted is found with its kind, and nothing else is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  closeMonth,
  foundBreaks,
  importMonth,
  resolveAll,
} from '../../../../reliability/reconciliation/reconcile-month.ts'
import { freshDatabase } from '../support/database.ts'

test('a planted month: every break is found with its kind and nothing else; settled, nothing is unexplained', async () => {
  const { pool } = await freshDatabase()
  const { month, known } = await importMonth(pool, { payments: 40, each: 1 })
  assert(known > 0)
  assert.deepEqual(await foundBreaks(month), month.planted)
  await resolveAll(month)
  for (const { account, closed } of await closeMonth(month))
    for (const { day, unexplainedMinor } of closed) assert.equal(unexplainedMinor, 0n, `${account} ${day}`)
  // What came of a batch, and what the rail kept of it, is the whole of it.
  const { rows } = await pool.query(
    'select * from rail_batches where settled_gross <> 0 and settled_gross <> gross_minor',
  )
  assert.deepEqual(rows, [])
  assert.deepEqual((await month.operations.verifyLedger()).findings, [])
})
