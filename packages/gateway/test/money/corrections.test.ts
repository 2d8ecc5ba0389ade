// Corrections against the real database: each names what it corrects, by no more than its amount in all, however often and
// at the same moment it is asked for; and after each the books are proved.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import { makeUuid } from '@tillgate/protocol'
import type { Correction } from '../../src/finance/treasury/rules/correction.ts'
import { actingAs } from '../support/acting.ts'
import { untilBlocked } from '../support/blocked.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { payOutWholly } from '../support/payouts.ts'
import { approved, openRails } from '../support/rails.ts'
import { suspenseIsListed } from '../support/suspense.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const rails = await openRails(pool, { clock, lateMoney: 'hold' })
const { money, operations } = rails
const merchant = await money.addMerchant()
const { merchantId } = merchant
const outside = { bankName: 'main', reference: 'bank 1', valueDate: '2026-11-16' }
const usd = { currency: 'USD', outside }

beforeEach(() => clock.advance(1_000))
afterEach(async () => {
  assert.deepEqual(await money.verify(), [])
  await suspenseIsListed(pool, operations)
})

const correct = (correction: Correction, idempotencyKey?: string) =>
  actingAs(operations, 'test').corrections.correct(correction, 'test', { idempotencyKey })

async function lastTransfer(kind: string): Promise<Record<string, string>> {
  const { rows } = await pool.query<Record<string, string>>(
    "select * from transfers where kind = $1 and phase <> 'hold' order by made_at desc, transfer_id desc limit 1",
    [kind],
  )
  assert(rows[0])
  return rows[0]
}

async function balanceOf(accountId: string): Promise<bigint> {
  const { rows } = await pool.query<{ balance: string }>(
    'select credits_posted - debits_posted as balance from accounts where account_id = $1',
    [accountId],
  )
  return BigInt(rows[0]?.balance ?? 0)
}

/** With as much in its wallet. */
async function sell(amountMinor: bigint): Promise<string> {
  const order = await money.addOrder(merchant, { amountMinor })
  await money.submitPayment({ ...order, walletId: await money.addWallet(amountMinor) })
  await money.settle()
  return order.paymentId
}

test('a merchant that was paid out to nothing is funded and can refund again', async () => {
  const paymentId = await sell(1_000n)
  await payOutWholly(money, { merchantId, amountMinor: 1_000n })
  const { transfer_id: corrects = '' } = await lastTransfer('payout')
  clock.advance(1)
  await correct({ kind: 'fund', merchantId, ...usd, amountMinor: 400n, corrects })
  const funding = await lastTransfer('correction')
  assert.deepEqual(
    [funding['debit_account'], funding['credit_account'], funding['corrects'], funding['outside_reference']],
    ['bank:main:USD', `merchant:${merchantId}:USD`, corrects, 'bank 1'],
  )
  const body = { paymentId, referRefundNo: 'after funding', refundAmount: 4 }
  assert.equal((await money.refundOrder(merchant, JSON.stringify(body))).status, 'refunding')
  await money.settle()
  await assert.rejects(
    correct({ kind: 'fund', merchantId, ...usd, amountMinor: 601n, corrects }),
    /At most 6\.00 USD/,
  )
  await correct({ kind: 'fund', merchantId, ...usd, amountMinor: 5n })
})

test('a wrong top-up is reversed as far as its money is still there, and never twice', async () => {
  const walletId = await money.addWallet(500n)
  const { transfer_id: corrects = '' } = await lastTransfer('top_up')
  const reversal = { kind: 'reverse', merchantId: '', ...usd, corrects } as const
  await correct({ ...reversal, amountMinor: 200n })
  assert.equal(await money.balanceOf(walletId), 300n)
  await assert.rejects(correct({ ...reversal, amountMinor: 301n }), /At most 3\.00 USD/)
  const order = await money.addOrder(merchant, { amountMinor: 100n })
  await money.submitPayment({ ...order, walletId })
  await money.settle()
  await assert.rejects(correct({ ...reversal, amountMinor: 300n }), /balance is only 2\.00 USD/)
  await correct({ ...reversal, amountMinor: 200n })
  assert.equal(await money.balanceOf(walletId), 0n)
  const loss = await balanceOf('write_off:operator:USD')
  await correct({ kind: 'write_off', merchantId: '', ...usd, amountMinor: 100n, corrects })
  assert.equal(await balanceOf('write_off:operator:USD'), loss - 100n)
  await assert.rejects(correct({ ...reversal, amountMinor: 1n }), /At most 0\.00 USD/)
})

test('of many reversals at the same moment as many are made as there is money to correct', async () => {
  const walletId = await money.addWallet(500n)
  const { transfer_id: corrects = '' } = await lastTransfer('top_up')
  await money.funds.topUp([{ walletId, currency: 'USD', amountMinor: 5_000n }], {
    subject: walletId,
    reason: 'so that the wallet is not what stops it',
  })
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, () =>
      correct({ kind: 'reverse', merchantId: '', ...usd, amountMinor: 150n, corrects }),
    ),
  )
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3)
  assert.equal(await money.balanceOf(walletId), 5_500n - 450n)
})

test('one act that is sent many times corrects once', async () => {
  const walletId = await money.addWallet(500n)
  const { transfer_id: corrects = '' } = await lastTransfer('top_up')
  const idempotencyKey = makeUuid(clock.now(), randomBytes)
  const reversal = { kind: 'reverse', merchantId: '', ...usd, amountMinor: 500n, corrects } as const
  await Promise.all(Array.from({ length: 5 }, () => correct(reversal, idempotencyKey)))
  await correct(reversal, idempotencyKey)
  assert.equal(await money.balanceOf(walletId), 0n)
})

test('a funding goes back, and a reversal can itself be reversed', async () => {
  const account = `merchant:${merchantId}:USD`
  const before = await balanceOf(account)
  await correct({ kind: 'fund', merchantId, ...usd, amountMinor: 900n })
  const { transfer_id: corrects = '' } = await lastTransfer('correction')
  clock.advance(1)
  await correct({ kind: 'reverse', merchantId, ...usd, amountMinor: 900n, corrects })
  assert.equal(await balanceOf(account), before)
  const { transfer_id: reversal = '' } = await lastTransfer('correction')
  clock.advance(1)
  await correct({ kind: 'reverse', merchantId, ...usd, amountMinor: 900n, corrects: reversal })
  assert.equal(await balanceOf(account), before + 900n)
})

test('a consumer’s money is withdrawn, but not more than is there', async () => {
  const walletId = await money.addWallet(500n)
  await correct({ kind: 'withdraw', walletId, ...usd, amountMinor: 500n })
  await assert.rejects(correct({ kind: 'withdraw', walletId, ...usd, amountMinor: 1n }), /balance is only/)
  assert.equal(await money.balanceOf(walletId), 0n)
})

test('what does not fit what it corrects is refused at its field', async () => {
  const walletId = await money.addWallet(500n)
  const { transfer_id: topUp = '' } = await lastTransfer('top_up')
  const other = await money.addWallet()
  await sell(100n)
  const { transfer_id: payment = '' } = await lastTransfer('payment')
  const refused: [Correction, RegExp, string][] = [
    [
      { kind: 'withdraw', walletId: other, ...usd, amountMinor: 1n, corrects: topUp },
      /not a top-up of/,
      'transferId',
    ],
    [{ kind: 'fund', merchantId, ...usd, amountMinor: 1n, corrects: payment }, /is a payment/, 'transferId'],
    [
      { kind: 'reverse', merchantId, ...usd, amountMinor: 1n, corrects: payment },
      /is a payment/,
      'transferId',
    ],
    [
      { kind: 'reverse', merchantId: '', ...usd, amountMinor: 1n, corrects: 'T0' },
      /Transfer T0 .*does not exist/,
      'transferId',
    ],
    [
      { kind: 'withdraw', walletId, ...usd, currency: 'EUR', amountMinor: 1n, corrects: topUp },
      /is in USD/,
      'currency',
    ],
    [
      { kind: 'release', merchantId: '', to: 'merchant', ...usd, amountMinor: 1n, corrects: topUp },
      /is a top_up/,
      'transferId',
    ],
  ]
  for (const [correction, words, field] of refused)
    await assert.rejects(correct(correction), (error: Error & { field?: string }) => {
      assert.match(error.message, words)
      return error.field === field
    })
})

/** Money that came for an order that had timed out, and is held for an operator. */
async function lateMoney(): Promise<string> {
  const order = await money.addOrder(merchant, { lifeMs: 300_000 })
  const outcome = await operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(outcome.kind === 'started')
  const { transactionId } = outcome.attempt
  bank.payments.set(transactionId, approved)
  clock.advance(300_000)
  await operations.expireOrders()
  await rails.turn()
  return transactionId
}

const bank = await rails.addBank('bank')

test('late money that is held moves on to the merchant, a wallet or a bank, once, and then not through the rail', async () => {
  const walletId = await money.addWallet()
  for (const to of ['merchant', 'wallet', 'bank'] as const) {
    const corrects = await lateMoney()
    const before = await balanceOf('suspense:late:USD')
    const [newest] = await actingAs(operations, 'test').corrections.listHeld(1)
    assert.deepEqual(
      [newest?.transferId, newest?.heldMinor, newest?.orderStatus],
      [corrects, 1_000n, 'timeout'],
    )
    await correct({ kind: 'release', merchantId, to, walletId, ...usd, amountMinor: 1_000n, corrects })
    assert.equal(await balanceOf('suspense:late:USD'), before - 1_000n)
    await assert.rejects(
      actingAs(operations, 'test').returnLateMoney({ merchantId, transactionId: corrects }, 'again'),
      /already returned or released/,
    )
    await assert.rejects(
      correct({ kind: 'release', merchantId, to, walletId, ...usd, amountMinor: 1n, corrects }),
      /At most/,
    )
  }
  assert.equal(await money.balanceOf(walletId), 1_000n)
})

test('late money does not go into a wallet that was closed', async () => {
  const walletId = await money.addWallet(0n)
  assert.equal(await operations.closeWallet({ walletId, accessVersion: 0 }, 'consumer'), 'closed')
  const corrects = await lateMoney()
  const release = { kind: 'release', merchantId, walletId, ...usd, amountMinor: 1_000n, corrects } as const
  await assert.rejects(correct({ ...release, to: 'wallet' }), /wallet is closed/)
  await correct({ ...release, to: 'bank' })
  assert.equal(await money.balanceOf(walletId), 0n)
})

test('late money that goes back through its rail is not an operator’s to move', async () => {
  const corrects = await lateMoney()
  await actingAs(operations, 'test').returnLateMoney({ merchantId, transactionId: corrects }, 'back')
  const release = {
    kind: 'release',
    merchantId,
    to: 'merchant',
    ...usd,
    amountMinor: 1_000n,
    corrects,
  } as const
  await assert.rejects(correct(release), /is being returned/)
  const [listed] = await actingAs(operations, 'test').corrections.listHeld(10)
  assert.deepEqual([listed?.transferId, listed?.isReturning], [corrects, true])
  await rails.turn()
  await assert.rejects(correct(release), /is being returned|balance is only/)
})

test('late money that nobody claims is written off as a gain', async () => {
  const corrects = await lateMoney()
  const before = await balanceOf('write_off:operator:USD')
  await correct({ kind: 'write_off', merchantId, ...usd, amountMinor: 1_000n, corrects })
  assert.equal(await balanceOf('write_off:operator:USD'), before + 1_000n)
})

test('the tables refuse that more is corrected than there was', async () => {
  await assert.rejects(pool.query('update corrected_transfers set corrected_minor = amount_minor + 1'), {
    code: '23514',
  })
  await assert.rejects(pool.query("update transfers set corrects = 'T1' where kind = 'top_up'"), {
    code: '23514',
  })
})

test('late money that is released at the moment at which somebody sends it back moves once', async () => {
  const corrects = await lateMoney()
  const before = await balanceOf('suspense:late:USD')
  const release = {
    kind: 'release',
    merchantId,
    to: 'merchant',
    ...usd,
    amountMinor: 1_000n,
    corrects,
  } as const
  const { releasing, returning } = await pool.transaction(async (transaction) => {
    // The release waits with all that it does, before its entry in the audit.
    await transaction.query('lock table audit in share mode')
    const releasing = correct(release)
    await untilBlocked(pool, 1, '%insert into audit%')
    const returning = actingAs(operations, 'test')
      .returnLateMoney({ merchantId, transactionId: corrects }, 'back')
      .then(
        () => 'returned',
        (error: Error) => error.message,
      )
    await untilBlocked(pool, 1, '%rail_attempts%')
    return { releasing, returning }
  })
  await releasing
  assert.match(await returning, /already returned or released/)
  await rails.turn()
  assert.equal(await balanceOf('suspense:late:USD'), before - 1_000n)
})

test('late money that is released while its rail’s answer is written down waits for that with nothing in its hands', async () => {
  const corrects = await lateMoney()
  const release = {
    kind: 'release',
    merchantId,
    to: 'merchant',
    ...usd,
    amountMinor: 1_000n,
    corrects,
  } as const
  const releasing = await pool.transaction(async (transaction) => {
    // As the answer is committed: the attempt, and then the accounts.
    await transaction.query(
      'select from rail_attempts where merchant_id = $1 and transaction_id = $2 for update',
      [merchantId, corrects],
    )
    const releasing = correct(release)
    await untilBlocked(pool, 1, '%rail_attempts%')
    await transaction.query("select from accounts where account_id = 'suspense:late:USD' for update")
    return [releasing]
  })
  await Promise.all(releasing)
})
