// Merchants' bank accounts: a new one waits, can be stopped while it does, and needs a second operator where that is set.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { sell, testBankDetails } from '../support/payouts.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const dayMs = 86_400_000
const money = openMoney(pool, { clock, config: { bankAccountWaitMs: dayMs } })
const { bankAccounts, payouts } = actingAs(money.operations, 'test')
const merchant = await money.addMerchant()
const { merchantId } = merchant
await sell(money, merchant, { minor: 10_000n })

const set = (holder: string) =>
  bankAccounts.setBankAccount(merchantId, { currency: 'USD', ...testBankDetails, holder }, { reason: 'test' })
const payOut = () =>
  payouts.requestPayout(
    { merchantId, currency: 'USD', amountMinor: 1n, bankName: 'main' },
    { reason: 'test', idempotencyKey: randomUUID() },
  )
const lastHolder = async () => (await payouts.listPayouts({ merchantId }, { limit: 1 }))[0]?.account.holder

test('nothing is paid out without a bank account, nor before the first one’s wait is over', async () => {
  await assert.rejects(payOut(), /no usable bank account for USD/)
  await set('First')
  clock.advance(dayMs - 1)
  await assert.rejects(payOut(), /no usable bank account for USD/)
  clock.advance(1)
  await payOut()
  assert.equal(await lastHolder(), 'First')
})

test('the account before is paid to until the new one’s wait is over, and one that is stopped never', async () => {
  const second = await set('Second')
  await payOut()
  assert.equal(await lastHolder(), 'First')
  await bankAccounts.stopBankAccount(second, 'the merchant objects')
  await assert.rejects(bankAccounts.stopBankAccount(second, 'again'), /No such waiting bank account/)
  clock.advance(2 * dayMs)
  await payOut()
  assert.equal(await lastHolder(), 'First')
})

test('a change ends the one that still waits, also where two change it at once', async () => {
  await Promise.all(['A', 'B', 'C'].map(set))
  const waiting = (await bankAccounts.listBankAccounts(merchantId)).filter(
    ({ endedAtMs, validFromMs }) => endedAtMs === undefined && validFromMs > clock.now(),
  )
  assert.equal(waiting.length, 1)
  clock.advance(dayMs)
  await payOut()
  assert.equal(await lastHolder(), waiting[0]?.holder)
  const [used] = waiting
  assert.ok(used)
  await assert.rejects(bankAccounts.stopBankAccount(used, 'too late'), /No such waiting bank account/)
})

test('both accounts are on record, and who changed it', async () => {
  const { rows } = await pool.query<{ reason: string }>(
    "select reason from audit where act = 'merchant.bank-account' order by audit_id desc limit 1",
  )
  assert.match(rows[0]?.reason ?? '', /^USD: First, DE89 3704 .* -> [ABC], DE89 3704 .*: test$/)
})

test('a payout that is sent twice with one id is requested once', async () => {
  const idempotencyKey = randomUUID()
  const given = { merchantId, currency: 'USD', amountMinor: 77n, bankName: 'main' }
  const both = await Promise.all(
    [1, 2].map(() => payouts.requestPayout(given, { reason: 'test', idempotencyKey })),
  )
  const again = await payouts.requestPayout(given, { reason: 'test', idempotencyKey })
  const ids = [...both, again].map(({ payoutId }) => payoutId)
  assert.equal(new Set(ids).size, 1)
  const { rowCount } = await pool.query('select from payouts where amount_minor = 77')
  assert.equal(rowCount, 1)
  assert.deepEqual(await money.verify(), [])
})
