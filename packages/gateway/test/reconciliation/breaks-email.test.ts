// Operators get one email for an import, however many lines, kinds of breaks and accounts it has.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { testOperations } from '../support/operations.ts'
import { testEnvironment } from '../support/started.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-02T08:00:00Z'))
const mail = {
  SMTP_URL: 'smtp://127.0.0.1:1',
  SMTP_FROM: 'no-reply@pay.test',
  OPERATOR_EMAILS: 'ops@pay.test',
}
const { operations } = testOperations(pool, { config: readConfig({ ...testEnvironment, ...mail }), clock })
const { reconciliation, banks, ownMoney } = actingAs(operations, 'test')
const currency = 'EUR'
const ibans = ['DE89370400440532013000', 'DE75512108001245126199'] as const
const none = { holder: 'Company', lines: undefined, bic: undefined }
await banks.changeBank('main', { ...none, iban: ibans[0] }, 'test')
await banks.addBank({ ...none, bankName: 'own', currency, iban: ibans[1] }, 'test')

test('an import with breaks of several lines, kinds and accounts sends one email, and importing it again none', async () => {
  const empty = {
    currency,
    version: 4,
    from: '2026-11-01',
    through: '2026-11-01',
    openingMinor: 0n,
    lines: [],
  } as const
  await reconciliation.importStatement({
    file: fileOf('first', camt053({ ...empty, iban: ibans[0] })),
    reason: 'start',
  })
  const deposit = { bankName: 'main', currency, amountMinor: 7_700n, reference: 'FOUNDERS 1' }
  await ownMoney.deposit(deposit, 'never arrives')
  clock.advance(20 * 86_400_000)
  const [from, through] = ['2026-11-20', '2026-11-21']
  const statements = ibans.map((iban, bank) =>
    camt053({
      iban,
      currency,
      version: 4,
      from,
      through,
      openingMinor: 0n,
      lines: [1, 2, 3].map((line) => ({
        reference: `B${bank}${line}`,
        day: from,
        amountMinor: BigInt(line * 100),
        text: `who knows ${line}`,
      })),
    }),
  )
  const [first = '', second = ''] = statements
  const [statement = ''] = /<Stmt>.*<\/Stmt>/s.exec(second) ?? []
  const file = fileOf('both', first.replace('</BkToCstmrStmt>', `${statement}</BkToCstmrStmt>`))
  await reconciliation.importStatement({ file, reason: 'morning' })
  await reconciliation.importStatement({ file, reason: 'again' })
  assert.equal(await operations.reconcile(), 0)
  const { rows } = await pool.query<{ parameters: unknown }>(
    "select parameters from emails where kind = 'breaks-found'",
  )
  assert.deepEqual(
    rows.map(({ parameters }) => parameters),
    [{ account: 'bank:main, bank:own', count: '7', largest: '77.00 EUR' }],
  )
})
