// What rails pay over in one sum: which batch the bank's line is for, and what moves by it.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { type BankLine, camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import type { CsvMapping } from '../../src/finance/reconciliation/rules/csv.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { testIban } from '../support/payouts.ts'

const { pool } = await freshDatabase()
const money = openMoney(pool, { clock: heldClock(Date.parse('2026-12-01T08:00:00Z')) })
const { reconciliation, banks, rails } = actingAs(money.operations, 'test')
const currency = 'EUR'
await banks.changeBank(
  'main',
  { holder: 'Operator', iban: testIban, lines: undefined, bic: undefined },
  'test',
)
const columns: CsvMapping = {
  separator: ',',
  decimalSign: '.',
  dayForm: 'YYYY-MM-DD',
  sign: 'as_written',
  day: 'Day',
  amount: 'Amount',
  currency,
  references: ['Reference'],
  fee: 'Fee',
  batch: 'Batch',
}

afterEach(async () => assert.deepEqual(await money.verify(), []))

/** A rail of this name that says these rows: day, amount, reference, fee, batch. */
async function railSays(railId: string, rows: readonly string[]): Promise<void> {
  const url = `https://${railId}.example/rail`
  await rails.addRail(railId, { ...noExtras, name: railId, url, currencies: [currency] }, 'test')
  const mapping = { mappingName: railId, account: `rail:${railId}`, settlesTo: 'main', columns }
  await reconciliation.mappings.saveMapping(mapping, 'test')
  const text = ['Day,Amount,Reference,Fee,Batch', ...rows].join('\n')
  const file = fileOf(railId, `${text}\n`)
  await reconciliation.importStatement({ file, mapping: railId, reason: 'test' })
}

async function bankSays(...lines: readonly BankLine[]): Promise<void> {
  const days = lines.map(({ day }) => day).toSorted()
  const [from = '', through = ''] = [days[0], days.at(-1)]
  const text = camt053({ iban: testIban, currency, version: 4, from, through, openingMinor: 0n, lines })
  await reconciliation.importStatement({ file: fileOf(from, text), reason: 'test' })
  // Once more changes nothing.
  await reconciliation.matchLines('bank:main')
}

async function batchesOf(railId: string) {
  const { rows } = await pool.query<{ batch: string; gross: string; fee: string }>(
    `select batch, settled_gross::text as gross, settled_fee::text as fee from rail_batches
      where account = $1 and settled_gross <> 0 order by batch`,
    [`rail:${railId}`],
  )
  return rows
}

async function balanceOf(ownerKind: 'rail' | 'rail_fees', ownerId: string): Promise<bigint> {
  const [account] = await money.treasury.listAccounts({ ownerKind, ownerId })
  return (account?.creditsPostedMinor ?? 0n) - (account?.debitsPostedMinor ?? 0n)
}

test('a day in the text of a bank line names no batch: the amount says which one it is', async () => {
  await railSays('days', ['2026-11-16,900.00,A,0.00,', '2026-11-17,700.00,B,0.00,'])
  await bankSays(
    { reference: 'D1', day: '2026-11-17', amountMinor: 90_000n, text: 'days 2026-11-17' },
    { reference: 'D2', day: '2026-11-17', amountMinor: 5_000n, text: 'something else 2026-11-17' },
  )
  assert.deepEqual(await batchesOf('days'), [{ batch: '2026-11-16', gross: '90000', fee: '0' }])
  const { rows } = await pool.query(
    "select kind, item from reconciliation_breaks where account = 'bank:main' and resolved_at is null",
  )
  assert.deepEqual(rows, [{ kind: 'missing_here', item: null }])
})

test('fees that a rail gives back come back to its costs, and its account moves by the gross', async () => {
  await railSays('back', ['2026-11-16,100.00,A,0.00,PO-000007', '2026-11-16,-20.00,B,-1.00,PO-000007'])
  await bankSays({ reference: 'F1', day: '2026-11-18', amountMinor: 8_100n, text: 'PO-000007' })
  assert.deepEqual(await batchesOf('back'), [{ batch: 'PO-000007', gross: '8000', fee: '-100' }])
  assert.deepEqual([await balanceOf('rail', 'back'), await balanceOf('rail_fees', 'back')], [8_000n, 100n])
  const { rows } = await pool.query(
    "select amount_minor::text as minor from statement_lines where account = 'rail:back' and line_number = 0",
  )
  assert.deepEqual(rows, [{ minor: '-8000' }])
})

test('a batch whose name has blanks is settled once', async () => {
  await railSays('blanks', ['2026-11-20,30.00,A,1.00,Payout of Friday 7'])
  await bankSays({ reference: 'G1', day: '2026-11-21', amountMinor: 2_900n, text: 'thank you' })
  assert.deepEqual(await batchesOf('blanks'), [{ batch: 'Payout of Friday 7', gross: '3000', fee: '100' }])
})
