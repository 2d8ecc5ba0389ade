// Several who look at the same account at once, matchers and operators: a line and a transfer are each settled once.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { makeMatchingStore } from '../../src/finance/reconciliation/store/matching.ts'
import { actingAs } from '../support/acting.ts'
import { untilBlocked } from '../support/blocked.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
const money = openMoney(pool, { clock })
const { reconciliation, banks } = actingAs(money.operations, 'test')
const iban = 'DE89370400440532013000'
await banks.changeBank('main', { holder: 'Operator', iban, lines: undefined, bic: undefined }, 'test')

afterEach(async () => assert.deepEqual(await money.verify(), []))

let files = 0
async function say(amountMinor: bigint) {
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  const reference = `E${++files}`
  const given = { iban, currency: 'USD', version: 4, from: day, through: day, openingMinor: 0n } as const
  const lines = [{ reference, day, amountMinor, text: 'thank you' }]
  await reconciliation.importStatement({
    file: fileOf(reference, camt053({ ...given, lines })),
    reason: 'test',
  })
}

const listOpen = () => reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })

test('a line that an operator writes off is not matched by whoever looked at it before', async () => {
  await say(1_234n)
  const [found] = await listOpen()
  assert(found?.kind === 'missing_here')
  await money.addWallet(1_234n)
  const { matching, writing } = await pool.transaction(async (transaction) => {
    await transaction.query('select from statement_lines for update')
    const matching = reconciliation.matchLines('bank:main')
    await untilBlocked(pool, 1, '%from statement_lines%for update%')
    const writing = reconciliation.breaks.writeOff(found.breakId, { reason: 'a gain' })
    await untilBlocked(pool, 2, '%')
    return { matching, writing }
  })
  await matching
  assert.equal((await writing).resolution, 'written_off')
  const { rows } = await pool.query(
    'select m.rule from statement_lines l join reconciliation_matches m using (match_id)',
  )
  assert.deepEqual(rows, [{ rule: 'operator' }])
})

test('a transfer whose line is matched while it is found missing is in no break', async () => {
  await say(4_321n)
  const broken = (await listOpen()).find(({ amountMinor }) => amountMinor === 4_321n)
  assert(broken?.kind === 'missing_here')
  await money.addWallet(4_321n)
  await pool.query('update outside_accounts set seen_through = seen_through + 20')
  const store = makeMatchingStore(pool)
  const [outside] = (await store.listOutsideAccounts()).filter(({ account }) => account === 'bank:main')
  assert(outside)
  const overdue = await store.listOverdue(outside, { graceDays: 5, limit: 10 })
  const item = overdue.find(({ amountMinor }) => amountMinor === 4_321n)
  assert(item)
  const { currency, day } = item
  const missing = { kind: 'missing_there', currency, day, amountMinor: -4_321n, sizeMinor: 4_321n } as const
  const { matching, recording } = await pool.transaction(async (transaction) => {
    await transaction.query('select from reconciliation_breaks where break_id = $1 for update', [
      broken.breakId,
    ])
    const matching = reconciliation.matchLines('bank:main')
    await untilBlocked(pool, 1, '%reconciliation_breaks%')
    const breaks = [{ ...missing, breakId: randomUUID(), lineId: undefined, item }]
    const recording = store.record({
      account: 'bank:main',
      lineIds: [],
      matches: [],
      breaks,
      nowMs: clock.now(),
    })
    await Promise.race([recording, untilBlocked(pool, 2, '%')])
    return { matching, recording }
  })
  await Promise.all([matching, recording])
  assert.deepEqual(
    (await listOpen()).filter(({ sizeMinor }) => sizeMinor === 4_321n),
    [],
  )
})
