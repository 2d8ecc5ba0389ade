// Rails that are asked for settlement reports. What comes of a report is told with each provider: rails/*/test/settlements.test.ts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { settlementColumns } from '../../src/finance/reconciliation/fetch-settlements.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { openRails } from '../support/rails.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T09:00:00Z'))
const rails = await openRails(pool, { clock })
await rails.addBank('bank')
const { reconciliation } = actingAs(rails.operations, 'test')
const save = (columns: typeof settlementColumns) =>
  reconciliation.mappings.saveMapping(
    { mappingName: 'bank', account: 'rail:bank', settlesTo: 'main', columns },
    'test',
  )

test('only a rail with a mapping for reports is asked', async () => {
  await save({ ...settlementColumns, day: 'Date' })
  assert.equal(await rails.operations.fetchSettlements(), 0)
  assert.deepEqual(rails.failedCalls, [])
})

test('a rail without reports is asked again the next time, and stays at the checkout', async () => {
  let asked = 0
  const server = createServer((_request, response) => {
    asked++
    response.writeHead(400).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await actingAs(rails.operations, 'test').rails.changeRail('bank', { url }, 'test')
  rails.operations.railDirectory.forget()
  await save(settlementColumns)
  assert.equal(await rails.operations.fetchSettlements(), 0)
  assert.equal(await rails.operations.fetchSettlements(), 0)
  assert.deepEqual([asked, rails.failedCalls.length], [2, 2])
  const [rail] = await actingAs(rails.operations, 'test').rails.listRails()
  assert.deepEqual([rail?.failures, rail?.pausedUntilMs], [0, undefined])
})
