// What the bank says of payouts: a line that names only their run belongs to nobody unless it can mean one of them alone.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { type BankLine, camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { makeReconciling, type Reconciling } from '../../src/finance/reconciliation/reconciling.ts'
import { makeSettleRail } from '../../src/finance/treasury/settle-rail.ts'
import { silentLog } from '../../src/platform/runtime/log.ts'
import { type Acting, actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { addPaidMerchant, availableOf, planFor, testIban, workOff } from '../support/payouts.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
const money = openMoney(pool, { clock })
const { reconciliation, banks, payouts, payoutPlans, payoutRuns } = actingAs(money.operations, 'test')
const bank = { holder: 'Operator', iban: testIban, lines: undefined, bic: undefined }
await banks.changeBank('main', bank, 'test')
const currency = 'EUR'

/** A run of one payout of 10.00 to each of so many merchants, which is sent. */
async function sendRun(merchants: number) {
  const all = await Promise.all(Array.from({ length: merchants }, () => addPaidMerchant(money, { currency })))
  for (const { merchantId } of all) await payoutPlans.setPlan(planFor(merchantId, { currency }), 'test')
  clock.advance(86_400_000)
  await workOff(money)
  for (const { merchantId } of all)
    await payoutPlans.setPlan(planFor(merchantId, { currency, schedule: 'hand' }), 'test')
  const made = await Promise.all(
    all.map(({ merchantId }) => payouts.listPayouts({ merchantId }, { limit: 1 })),
  )
  const sent = made.flat()
  const runId = sent[0]?.runId
  assert(runId !== undefined && sent.length === merchants)
  await payoutRuns.sendRun(runId, 'test')
  return { sent, batchId: runId.replaceAll('-', '') }
}

let files = 0
type Said = Omit<BankLine, 'reference' | 'day'>
const say = (...lines: readonly Said[]) => sayTo(reconciliation, lines)
async function sayTo(
  { importStatement }: Pick<Acting<Reconciling>, 'importStatement'>,
  lines: readonly Said[],
) {
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  const name = `${++files}`
  const written = lines.map((line, index) => ({ ...line, day, reference: `E${name}-${index}` }))
  const given = { iban: testIban, currency, version: 4, from: day, through: day, openingMinor: 0n } as const
  await importStatement({
    file: fileOf(name, camt053({ ...given, lines: written })),
    reason: 'test',
  })
  assert.deepEqual(await money.verify(), [])
}

async function statuses(sent: readonly { merchantId: string; payoutId: string }[]) {
  return Promise.all(sent.map(async (key) => (await payouts.findPayout(key)).status))
}

async function openBreaks(): Promise<string[]> {
  const { rows } = await pool.query<{ kind: string }>(
    'select kind from reconciliation_breaks where resolved_at is null',
  )
  return rows.map(({ kind }) => kind)
}

test('money that came back for one of two equal payouts goes to nobody until it is known whose it is', async () => {
  const { sent, batchId } = await sendRun(2)
  const [one, two] = sent
  assert(one && two)
  await say({ amountMinor: -1_000n, batchId })
  assert.deepEqual([await statuses(sent), await openBreaks()], [['sent', 'sent'], ['missing_here']])
  await say({ amountMinor: -1_000n, batchId })
  assert.deepEqual([await statuses(sent), await openBreaks()], [['paid', 'paid'], []])

  await say({ amountMinor: 1_000n, batchId, isReturn: true })
  assert.deepEqual([await statuses(sent), await openBreaks()], [['paid', 'paid'], ['missing_here']])
  const outside = { reference: 'by hand', valueDate: '2026-11-17' }
  await payouts.endPayout(two, { status: 'returned', outside, message: undefined }, 'test')
  await reconciliation.matchLines('bank:main')
  assert.deepEqual([await statuses(sent), await openBreaks()], [['paid', 'returned'], []])
  const left = await Promise.all(sent.map(({ merchantId }) => availableOf(money, merchantId, currency)))
  assert.deepEqual(left, [0n, 1_000n])
  assert.deepEqual(await money.verify(), [])
})

test('a payout that a line names is not taken by one that names the run, and the other gets that', async () => {
  const { sent, batchId } = await sendRun(2)
  const [, two] = sent
  assert(two)
  await say({ amountMinor: -1_000n, batchId }, { amountMinor: -1_000n, batchId, endToEndId: two.payoutId })
  assert.deepEqual([await statuses(sent), await openBreaks()], [['paid', 'paid'], []])
  const { rows } = await pool.query(
    `select m.merchant_id from statement_lines l join matched_transfers m on m.match_id = l.match_id
      where $1 = any (l.refs)`,
    [two.payoutId],
  )
  assert.deepEqual(rows, [{ merchant_id: two.merchantId }])
})

test('two passes at once give the lines of a run to its payouts once each', async () => {
  const { sent, batchId } = await sendRun(3)
  const importing = say(...sent.map(() => ({ amountMinor: -1_000n, batchId })))
  await Promise.all([importing, ...[1, 2, 3].map(() => reconciliation.matchLines('bank:main'))])
  await reconciliation.matchLines('bank:main')
  assert.deepEqual([await statuses(sent), await openBreaks()], [['paid', 'paid', 'paid'], []])
  assert.deepEqual(await money.verify(), [])
})

test('whoever dies while one line for a whole run is booked is followed by the worker, who books the rest', async () => {
  const { sent, batchId } = await sendRun(3)
  let left = 2
  const dying = makeReconciling({
    ...money,
    statements: money.bankStatements,
    transfers: money.operations.transfers,
    corrections: money.operations.corrections,
    policy: money.operations.approvalPolicy,
    settleRail: makeSettleRail({ ...money, clock, random: randomBytes }),
    payouts: {
      async endPayout(...given) {
        if (left-- === 0) throw new Error('killed')
        return money.operations.payouts.endPayout(...given)
      },
    },
    clock,
    random: randomBytes,
    makeEmails: () => [],
    log: silentLog,
  })
  const { importStatement } = actingAs({ reconciliation: dying }, 'test').reconciliation
  await assert.rejects(sayTo({ importStatement }, [{ amountMinor: -3_000n, batchId }]), /killed/)
  assert.deepEqual((await statuses(sent)).toSorted(), ['paid', 'paid', 'sent'])
  await reconciliation.work()
  assert.deepEqual([await statuses(sent), await openBreaks()], [['paid', 'paid', 'paid'], []])
  const { rows } = await pool.query(
    `select m.transfer_id from statement_lines l join matched_transfers m on m.match_id = l.match_id
      where l.amount_minor = -3000`,
  )
  assert.equal(rows.length, 3)
  assert.deepEqual(await money.verify(), [])
})

test('a payout that no statement shows is a break until it comes to its end, however it does', async () => {
  const { sent } = await sendRun(2)
  const [paid, cancelled] = sent
  assert(paid && cancelled)
  const awaited = async () => {
    const open = await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 100 })
    return open.filter(({ item }) => item?.kind === 'payout').length
  }
  clock.advance(10 * 86_400_000)
  // A statement without a line says as well that nothing came.
  await say()
  assert.equal(await awaited(), 2)
  const outside = { reference: 'by telephone', valueDate: '2026-11-27' }
  await payouts.endPayout(paid, { status: 'paid', outside, message: undefined }, 'test')
  await payouts.endPayout(cancelled, { status: 'cancelled', outside: undefined, message: 'refused' }, 'test')
  await reconciliation.matchLines('bank:main')
  assert.equal(await awaited(), 0)
})
