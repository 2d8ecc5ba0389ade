// Runs from plan to bank and back: what is due is paid once, files stay the same, and every end moves the money as it says.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { payoutRunActions } from '../../src/actions/payouts/payout-run-actions.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import { actingAs } from '../support/acting.ts'
import { untilBlocked } from '../support/blocked.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import {
  addPaidMerchant,
  availableOf,
  planFor,
  sell,
  testBankDetails,
  textOf,
  workOff,
} from '../support/payouts.ts'
import { testEnvironment } from '../support/started.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
const money = openMoney(pool, { clock })
const { payoutPlans, payoutRuns, payouts, bankAccounts, merchants } = actingAs(money.operations, 'test')
const booking = { reference: 'B-1', valueDate: '2026-11-18' }
const dayMs = 86_400_000

// Safe: the form is of a run with its totals.
const isSendOffered = (subject: object) =>
  payoutRunActions
    .find(({ name }) => name === 'payout-run.send')
    ?.forms[0]?.isOffered?.(subject as never, { nowMs: clock.now(), login: 'test' })

async function newestPayout(merchantId: string) {
  const [newest] = await payouts.listPayouts({ merchantId }, { limit: 1 })
  assert.ok(newest)
  return newest
}

async function refused(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
  return assert.fail('it was not refused')
}

test('a plan pays out on its day, less its reserve, and once, however often and by how many it is looked for', async () => {
  const { merchantId } = await addPaidMerchant(money, { minor: 1_000n })
  const reserve = { fixedMinor: 100n, shareBasisPoints: 1_000, shareDays: 7 }
  const plan = await payoutPlans.setPlan(planFor(merchantId, { reserve }), 'test')
  assert.equal(plan.nextDay, '2026-11-17')
  assert.deepEqual(await workOff(money), { made: 0, ended: 0 })
  clock.advance(dayMs)
  const other = openMoney(pool, { clock })
  await Promise.all([money, other, money, other].map(workOff))
  // A hundred are fixed, and a hundred are a tenth of the sales.
  assert.equal((await newestPayout(merchantId)).amountMinor, 800n)
  assert.equal(await availableOf(money, merchantId), 200n)
  const [after] = await payoutPlans.listPlans(merchantId)
  assert.deepEqual(
    [after?.nextDay, after?.lastDay, after?.lastOutcome],
    ['2026-11-18', '2026-11-17', 'paid_out'],
  )
  assert.equal((await payouts.listPayouts({ merchantId }, { limit: 9 })).length, 1)
  assert.deepEqual(await money.verify(), [])
})

test('a clock that jumps back pays nothing again, and one that jumps ahead pays once', async () => {
  const { merchantId } = await addPaidMerchant(money)
  await payoutPlans.setPlan(planFor(merchantId), 'test')
  clock.advance(5 * dayMs)
  await workOff(money)
  clock.advance(-4 * dayMs)
  await sell(money, { ...(await merchants.showMerchant(merchantId)).merchant }, { minor: 50n })
  await workOff(money)
  assert.equal((await payouts.listPayouts({ merchantId }, { limit: 9 })).length, 1)
  clock.advance(5 * dayMs)
  await workOff(money)
  const made = await payouts.listPayouts({ merchantId }, { limit: 9 })
  assert.deepEqual(
    made.map(({ amountMinor }) => amountMinor),
    [50n, 1_000n],
  )
})

test('who is suspended, has no bank account or too little is passed over, and the plan says why', async () => {
  const poor = await addPaidMerchant(money, { minor: 99n })
  const suspended = await addPaidMerchant(money)
  const homeless = await money.addMerchant()
  await sell(money, homeless, { minor: 500n })
  await merchants.suspendMerchant(suspended.merchantId, 'test')
  for (const { merchantId } of [poor, suspended, homeless])
    await payoutPlans.setPlan(planFor(merchantId, { leastMinor: 100n }), 'test')
  clock.advance(dayMs)
  await workOff(money)
  const outcomes = await Promise.all(
    [poor, suspended, homeless].map(
      async ({ merchantId }) => (await payoutPlans.listPlans(merchantId))[0]?.lastOutcome,
    ),
  )
  assert.deepEqual(outcomes, ['nothing_to_pay', 'suspended', 'no_bank_account'])
})

test('a run by hand pays out plans by hand, once a day', async () => {
  const [one, two] = [
    await addPaidMerchant(money, { currency: 'JPY' }),
    await addPaidMerchant(money, { currency: 'JPY' }),
  ]
  for (const { merchantId } of [one, two])
    await payoutPlans.setPlan(planFor(merchantId, { currency: 'JPY', schedule: 'hand' }), 'test')
  clock.advance(dayMs)
  await workOff(money)
  assert.equal((await payouts.listPayouts({ merchantId: one.merchantId }, { limit: 9 })).length, 0)
  assert.equal(await payoutPlans.startRun('main', 'JPY', 'test'), 2)
  await workOff(money)
  const made = await Promise.all([one, two].map(({ merchantId }) => newestPayout(merchantId)))
  assert.equal(made[0]?.runId, made[1]?.runId)
  assert.match(await refused(payoutPlans.startRun('main', 'JPY', 'test')), /once a day/)
  assert.match(await refused(payoutPlans.startRun('none', 'JPY', 'test')), /Bank account none does not exist/)
})

test('a run is sent once, its file is there from then on and never changes, whatever becomes of its payouts', async () => {
  const all = await Promise.all([1, 2, 3, 4].map(() => addPaidMerchant(money, { currency: 'TND' })))
  for (const { merchantId } of all)
    await payoutPlans.setPlan(planFor(merchantId, { currency: 'TND' }), 'test')
  clock.advance(dayMs)
  await workOff(money)
  const made = await Promise.all(all.map(({ merchantId }) => newestPayout(merchantId)))
  const [first, second, third, fourth] = made
  assert.ok(first && second && third && fourth)
  const { runId } = first
  assert.match(await refused(payoutRuns.exportRun(runId, 'xml')), /after the run is sent/)
  await payouts.endPayout(
    fourth,
    { status: 'cancelled', outside: undefined, message: 'not this one' },
    'test',
  )
  assert.match(
    await refused(payoutRuns.endRun(runId, { ending: 'paid', ...booking, message: undefined }, 'x')),
    /Send the run first/,
  )
  await payoutRuns.sendRun(runId, 'test')
  assert.match(await refused(payoutRuns.sendRun(runId, 'test')), /was already sent/)
  assert.match(await refused(payoutRuns.exportRun(runId, 'xml')), /neither an IBAN nor an account number/)
  const csv = await textOf(await payoutRuns.exportRun(runId, 'csv'))
  assert.deepEqual(
    [...csv.matchAll(/^T\w+/gm)].map(([id]) => id),
    [first, second, third].map(({ payoutId }) => payoutId).toSorted(),
  )
  assert.doesNotMatch(csv, new RegExp(fourth.payoutId))
  await payouts.endPayout(first, { status: 'returned', outside: booking, message: 'account closed' }, 'test')
  await payouts.endPayout(second, { status: 'cancelled', outside: undefined, message: 'refused' }, 'test')
  await payoutRuns.endRun(runId, { ending: 'paid', ...booking, message: undefined }, 'test')
  await workOff(money)
  assert.equal(await textOf(await payoutRuns.exportRun(runId, 'csv')), csv)
  const left = await Promise.all(all.map(({ merchantId }) => availableOf(money, merchantId, 'TND')))
  assert.deepEqual(left, [1_000n, 1_000n, 0n, 1_000n])
  const { run, totals } = await payoutRuns.showRun(runId)
  assert.ok(run.endedAtMs !== undefined)
  assert.deepEqual(
    new Map(totals.map(({ status, payouts: many }) => [status, many])),
    new Map([
      ['returned', 1],
      ['cancelled', 2],
      ['paid', 1],
    ]),
  )
  assert.deepEqual(await money.verify(), [])
})

test('a payout that was paid can come back, and nothing comes back twice', async () => {
  const { merchantId } = await addPaidMerchant(money)
  const given = { merchantId, currency: 'USD', amountMinor: 400n, bankName: 'main' }
  await payouts.requestPayout(given, { reason: 'test', idempotencyKey: randomUUID() })
  const payout = await newestPayout(merchantId)
  const returned = { status: 'returned', outside: booking, message: 'no such account' } as const
  assert.match(await refused(payouts.endPayout(payout, returned, 'x')), /sent or cancelled, not returned/)
  await payoutRuns.sendRun(payout.runId, 'test')
  await payouts.endPayout(payout, { status: 'paid', outside: booking, message: undefined }, 'test')
  assert.equal(await availableOf(money, merchantId), 600n)
  const both = await Promise.allSettled([1, 2].map(() => payouts.endPayout(payout, returned, 'test')))
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  assert.equal(await availableOf(money, merchantId), 1_000n)
  assert.deepEqual(await money.verify(), [])
})

test('a run that the bank paid is told to each merchant whose payout it paid, once', async () => {
  const { mail } = readConfig({ ...testEnvironment, SMTP_URL: 'smtp://127.0.0.1:1', SMTP_FROM: 'a@pay.test' })
  const [mailing, other] = [1, 2].map(() => openMoney(pool, { clock, config: { mail } }))
  assert.ok(mailing && other)
  const all = await Promise.all([1, 2, 3].map(() => addPaidMerchant(money, { currency: 'BHD' })))
  for (const { merchantId } of all)
    await payoutPlans.setPlan(planFor(merchantId, { currency: 'BHD' }), 'test')
  clock.advance(dayMs)
  await workOff(mailing)
  const [first, second, third] = await Promise.all(all.map(({ merchantId }) => newestPayout(merchantId)))
  assert.ok(first && second && third)
  await payoutRuns.sendRun(first.runId, 'test')
  const single = actingAs(mailing.operations, 'test').payouts
  await single.endPayout(first, { status: 'returned', outside: booking, message: 'closed' }, 'closed')
  await payoutRuns.endRun(first.runId, { ending: 'paid', ...booking, message: undefined }, 'test')
  await Promise.all([mailing, other, mailing].map(workOff))
  const { rows } = await pool.query(
    `select merchant_id as "merchantId", kind, parameters from emails
      where merchant_id = any ($1) order by parameters ->> 'payoutId'`,
    [all.map(({ merchantId }) => merchantId)],
  )
  assert.deepEqual(
    rows,
    [
      { ...told(first, 'payout-returned'), parameters: { ...told(first).parameters, reason: 'closed' } },
      told(second),
      told(third),
    ].toSorted((a, b) => (a.parameters.payoutId < b.parameters.payoutId ? -1 : 1)),
  )

  function told({ merchantId, payoutId }: { merchantId: string; payoutId: string }, kind = 'payout-paid') {
    return { merchantId, kind, parameters: { amount: '1.000 BHD', payoutId } }
  }
})

test('a run whose payouts were all cancelled is not sent, also when the last is cancelled at that moment', async () => {
  const { merchantId } = await addPaidMerchant(money)
  await payoutPlans.setPlan(planFor(merchantId), 'test')
  clock.advance(dayMs)
  await workOff(money)
  const payout = await newestPayout(merchantId)
  const { runId } = payout
  const { run: before, totals: requested } = await payoutRuns.showRun(runId)
  assert.equal(isSendOffered({ ...before, totals: requested }), true)
  const { sending } = await pool.transaction(async (transaction) => {
    await transaction.query('select from payouts where merchant_id = $1 and payout_id = $2 for update', [
      merchantId,
      payout.payoutId,
    ])
    const cancelling = payouts.endPayout(
      payout,
      { status: 'cancelled', outside: undefined, message: 'not this one' },
      'test',
    )
    await untilBlocked(pool, 1, '%payouts%')
    const sending = refused(payoutRuns.sendRun(runId, 'test'))
    await untilBlocked(pool, 2, '%payouts%')
    return { cancelling, sending }
  })
  const nothing = /All payouts of the run were cancelled, so nothing is left to send. Cancel the run./
  assert.match(await sending, nothing)
  assert.match(await refused(payoutRuns.sendRun(runId, 'test')), nothing)
  const { run, totals } = await payoutRuns.showRun(runId)
  assert.deepEqual([run.sentAtMs, run.debtor], [undefined, undefined])
  assert.equal(isSendOffered({ ...run, totals }), false)
  await payoutRuns.endRun(
    runId,
    { ending: 'cancelled', message: 'empty', reference: undefined, valueDate: undefined },
    'test',
  )
  await workOff(money)
  assert.ok((await payoutRuns.showRun(runId)).run.endedAtMs !== undefined)
  assert.deepEqual(await money.verify(), [])
})

test('a run that is cancelled gives all money back', async () => {
  const { merchantId } = await addPaidMerchant(money)
  await payoutPlans.setPlan(planFor(merchantId), 'test')
  clock.advance(dayMs)
  await workOff(money)
  const { runId } = await newestPayout(merchantId)
  const cancelled = {
    ending: 'cancelled',
    message: 'wrong day',
    reference: undefined,
    valueDate: undefined,
  } as const
  await payoutRuns.endRun(runId, cancelled, 'test')
  assert.match(await refused(payoutRuns.sendRun(runId, 'test')), /already cancelled/)
  await workOff(money)
  assert.equal((await newestPayout(merchantId)).status, 'cancelled')
  assert.equal(await availableOf(money, merchantId), 1_000n)
})

test('a payment file has the bank account as it was when the run was sent', async () => {
  const { banks } = actingAs(money.operations, 'test')
  const details = { ...testBankDetails, holder: 'Operator & Co', bic: 'COBADEFFXXX' }
  await banks.addBank({ bankName: 'euro', currency: 'EUR', ...details }, 'test')
  const { merchantId } = await addPaidMerchant(money, { currency: 'EUR', minor: 12_345n })
  const given = { merchantId, currency: 'EUR', amountMinor: 12_345n, bankName: 'euro' }
  await payouts.requestPayout(given, { reason: 'test' })
  const { runId, payoutId } = await newestPayout(merchantId)
  await payoutRuns.sendRun(runId, 'test')
  const xml = await textOf(await payoutRuns.exportRun(runId, 'xml'))
  await banks.changeBank('euro', { ...details, holder: 'Somebody else' }, 'test')
  await bankAccounts.setBankAccount(
    merchantId,
    { currency: 'EUR', ...testBankDetails, holder: 'New' },
    { reason: 'x' },
  )
  assert.equal(await textOf(await payoutRuns.exportRun(runId, 'xml')), xml)
  assert.match(xml, /<NbOfTxs>1<\/NbOfTxs><CtrlSum>123\.45<\/CtrlSum><InitgPty><Nm>Operator \+ Co<\/Nm>/)
  assert.match(xml, new RegExp(`<EndToEndId>${payoutId}</EndToEndId>.*<InstdAmt Ccy="EUR">123.45<`))
  assert.match(
    await refused(payouts.requestPayout({ ...given, currency: 'USD' }, { reason: 'x' })),
    /holds EUR, not USD/,
  )
})

test('while plans are paid out, refunds and sales go on, and the reserve is there afterwards', async () => {
  const merchant = await addPaidMerchant(money, { minor: 5_000n })
  const { merchantId } = merchant
  const order = await sell(money, merchant, { minor: 5_000n })
  await payoutPlans.setPlan(
    planFor(merchantId, { reserve: { fixedMinor: 2_000n, shareBasisPoints: 0, shareDays: 0 } }),
    'test',
  )
  clock.advance(dayMs)
  const refunds = Array.from({ length: 20 }, (_, n) =>
    money.refundOrder(
      merchant,
      JSON.stringify({ paymentId: order.paymentId, referRefundNo: `r${n}`, refundAmount: '1.00' }),
    ),
  )
  await Promise.all([workOff(money), ...refunds])
  await money.settle()
  const { amountMinor } = await newestPayout(merchantId)
  assert.ok(amountMinor >= 6_000n && amountMinor <= 8_000n, String(amountMinor))
  assert.equal((await availableOf(money, merchantId)) + amountMinor, 8_000n)
  assert.deepEqual(await money.verify(), [])
})
