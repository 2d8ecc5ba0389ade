// Fees against the real database: charged with the payment, given back with refunds, once each, and proved by the ledger.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvStatement } from '../../src/core/ledger/write-statement.ts'
import type { Merchant } from '../../src/core/merchants/rules/merchant.ts'
import { priceLeadMs, type Terms } from '../../src/core/orders/fees/rules/price.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { testOperations } from '../support/operations.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const money = openMoney(pool, { clock })
const { operations } = testOperations(pool, { clock })
const { prices } = actingAs(operations, 'test')
const all = { merchantId: undefined, railId: undefined, currency: 'USD' }
const percent: Terms = {
  fixedMinor: 30n,
  basisPoints: 150,
  leastMinor: undefined,
  mostMinor: undefined,
  returnsFee: true,
}

/** A merchant with its own price, in force. */
async function pricedMerchant(terms: Partial<Terms> = {}): Promise<Merchant> {
  const merchant = await money.addMerchant()
  const { merchantId } = merchant
  await prices.setPrice({ ...all, merchantId, terms: { ...percent, ...terms }, fromMs: undefined }, 'test')
  clock.advance(priceLeadMs)
  return merchant
}

async function pay(merchant: Merchant, amountMinor: bigint) {
  const order = await money.addOrder(merchant, { amountMinor })
  await money.submitPayment({ ...order, walletId: await money.addWallet(amountMinor) })
  clock.advance(1)
  await money.settle()
  return order
}

async function refund(merchant: Merchant, paymentId: string, referRefundNo: string, refundAmount: number) {
  return money.refundOrder(merchant, JSON.stringify({ paymentId, referRefundNo, refundAmount }))
}

const query = (merchant: Merchant, paymentId: string) =>
  money.queryOrder(merchant, JSON.stringify({ paymentId }))

async function balanceOf(ownerKind: 'merchant' | 'fees', { merchantId }: Merchant): Promise<bigint> {
  const [account] = await money.treasury.listAccounts({ ownerKind, ownerId: merchantId })
  return account ? account.creditsPostedMinor - account.debitsPostedMinor : 0n
}

test('the fee is charged with the payment, and the query tells it', async () => {
  const merchant = await pricedMerchant()
  const { paymentId } = await pay(merchant, 1_000n)
  const { payAmount, fee, netAmount } = await query(merchant, paymentId)
  assert.deepEqual([payAmount, fee, netAmount], [10, 0.45, 9.55])
  assert.deepEqual([await balanceOf('merchant', merchant), await balanceOf('fees', merchant)], [955n, 45n])
  assert.deepEqual(await money.verify(), [])
})

test('a fee is rounded half up, to the minor unit', async () => {
  const merchant = await pricedMerchant({ fixedMinor: 0n, basisPoints: 100 })
  for (const [amountMinor, expected] of [
    [149n, 0.01],
    [150n, 0.02],
  ] as const) {
    const { paymentId } = await pay(merchant, amountMinor)
    assert.equal((await query(merchant, paymentId)).fee, expected)
  }
})

test('without a price nothing is charged, and the query says nothing of fees', async () => {
  const merchant = await money.addMerchant()
  const { paymentId } = await pay(merchant, 1_000n)
  const answer = await query(merchant, paymentId)
  assert.ok(!('fee' in answer) && !('netAmount' in answer))
  assert.equal(await balanceOf('merchant', merchant), 1_000n)
})

test('a price holds from its moment on, and what was charged before stays', async () => {
  const merchant = await pricedMerchant()
  const { merchantId } = merchant
  const before = await pay(merchant, 1_000n)
  const fromMs = clock.now() + 2 * priceLeadMs
  await prices.setPrice({ ...all, merchantId, terms: { ...percent, fixedMinor: 0n }, fromMs }, 'cheaper')
  const between = await pay(merchant, 1_000n)
  clock.advance(fromMs - clock.now() - 2)
  const last = await pay(merchant, 1_000n)
  clock.advance(1)
  const first = await pay(merchant, 1_000n)
  const fees = await Promise.all(
    [before, between, last, first].map(async ({ paymentId }) => (await query(merchant, paymentId)).fee),
  )
  assert.deepEqual(fees, [0.45, 0.45, 0.45, 0.15])
})

test('a price that was set by a gateway whose clock is behind is charged by those that run', async () => {
  await pricedMerchant()
  const merchant = await money.addMerchant()
  await pay(merchant, 1_000n)
  const behind = testOperations(pool, { clock: heldClock(clock.now() - 3_600_000) }).operations
  const given = { ...all, merchantId: merchant.merchantId, terms: percent, fromMs: undefined }
  await actingAs(behind, 'test').prices.setPrice(given, 'test')
  clock.advance(priceLeadMs)
  const { paymentId } = await pay(merchant, 1_000n)
  assert.equal((await query(merchant, paymentId)).fee, 0.45)
})

test('a refund gives back its share, a fee that is kept stays, and the last part makes it whole', async () => {
  for (const returnsFee of [true, false]) {
    const merchant = await pricedMerchant({ returnsFee })
    await pay(merchant, 5_000n)
    const { paymentId } = await pay(merchant, 1_000n)
    const feesBefore = await balanceOf('fees', merchant)
    for (const [index, amount] of [3.33, 3.33, 3.34].entries()) {
      await refund(merchant, paymentId, `R${index}`, amount)
      await money.settle()
    }
    assert.equal(feesBefore - (await balanceOf('fees', merchant)), returnsFee ? 45n : 0n)
    assert.deepEqual(await money.verify(), [])
  }
})

test('refunds of one order that end in one batch each give back their own share', async () => {
  const merchant = await pricedMerchant({ fixedMinor: 7n, basisPoints: 0 })
  await pay(merchant, 5_000n)
  const { paymentId } = await pay(merchant, 1_000n)
  await Promise.all(Array.from({ length: 10 }, (_, index) => refund(merchant, paymentId, `P${index}`, 1)))
  await money.settle()
  const { rows } = await pool.query(
    "select sum(amount_minor) as sum, count(*) as count from transfers where kind = 'fee_return' and payment_id = $1",
    [paymentId],
  )
  assert.deepEqual(rows, [{ sum: '7', count: '7' }])
  assert.deepEqual(await money.verify(), [])
})

test('a payment that fails costs nothing, and a fee that takes all leaves nothing', async () => {
  const merchant = await pricedMerchant({ leastMinor: 500n })
  const { paymentId } = await pay(merchant, 400n)
  const { fee, netAmount } = await query(merchant, paymentId)
  assert.deepEqual([fee, netAmount], [4, 0])
  assert.equal(await balanceOf('merchant', merchant), 0n)
  assert.deepEqual(await money.verify(), [])
})

test('the statement lists fees and what came back of them, and its sums fit', async () => {
  const merchant = await pricedMerchant()
  const fromMs = clock.now()
  const { paymentId } = await pay(merchant, 2_000n)
  await refund(merchant, paymentId, 'R', 10)
  clock.advance(1)
  await money.settle()
  let text = ''
  const reader = csvStatement((more) => {
    text += more
  })
  await money.statements.read({ merchantId: merchant.merchantId, fromMs, toMs: clock.now() + 1 }, reader)
  const rows = text.trimEnd().split('\r\n').slice(1)
  assert.deepEqual(
    rows.map((row) => `${row.split(',')[1]} ${row.split(',').at(-1)}`),
    ['opening 0.00', 'payment 20.00', 'fee -0.60', 'refund -10.00', 'fee_return 0.30', 'closing 9.70'],
  )
})

test('payments of one moment each have their fee after them', async () => {
  const merchant = await pricedMerchant()
  const fromMs = clock.now()
  for (let paid = 0; paid < 3; paid++) {
    const order = await money.addOrder(merchant, { amountMinor: 1_000n })
    await money.submitPayment({ ...order, walletId: await money.addWallet(1_000n) })
  }
  clock.advance(1)
  await money.settle()
  const listed: string[] = []
  await money.statements.read(
    { merchantId: merchant.merchantId, fromMs, toMs: clock.now() + 1 },
    {
      opening() {},
      entries: (page) => void listed.push(...page.map(({ kind, paymentId }) => `${paymentId} ${kind}`)),
      closing() {},
    },
  )
  const ids = [...new Set(listed.map((line) => line.split(' ')[0]))]
  assert.equal(ids.length, 3)
  assert.deepEqual(
    listed,
    ids.flatMap((id) => [`${id} payment`, `${id} fee`]),
  )
})

test('the audit says what was set, in words', async () => {
  const { merchantId } = await pricedMerchant({ mostMinor: 500n })
  const { rows } = await pool.query<{ reason: string }>(
    `select reason from audit where act = 'price.set' and merchant_id = $1`,
    [merchantId],
  )
  assert.match(
    rows[0]?.reason ?? '',
    /^merchant \S+, every payment method, in USD: 0\.30 USD \+ 1\.5%, at most 5\.00 USD, refunds return their share, from \d{4}-.* UTC: test$/,
  )
})

test('no price is set backwards or twice for one moment, not even by hand', async () => {
  const merchant = await money.addMerchant()
  const { merchantId } = merchant
  const given = { ...all, merchantId, terms: percent }
  const fromMs = clock.now() + priceLeadMs
  await assert.rejects(prices.setPrice({ ...given, fromMs: fromMs - 1 }, 'x'), { field: 'fromMs' })
  await prices.setPrice({ ...given, fromMs }, 'x')
  await assert.rejects(prices.setPrice({ ...given, fromMs }, 'x'), /with the same start time/)
  const both = await Promise.allSettled(
    [1, 2].map(() => prices.setPrice({ ...given, fromMs: fromMs + 1 }, 'race')),
  )
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  await assert.rejects(
    pool.query('update prices set valid_from = created_at + 59999 where merchant_id = $1', [merchantId]),
    { code: '23514' },
  )
  await assert.rejects(prices.setPrice({ ...given, merchantId: '999999999999999999', fromMs }, 'x'), {
    field: 'merchantId',
  })
  await assert.rejects(prices.setPrice({ ...given, railId: 'nowhere', fromMs }, 'x'), { field: 'railId' })
})

test('an explanation names the price that holds and why the others do not', async () => {
  const merchant = await pricedMerchant()
  const { merchantId } = merchant
  await prices.setPrice(
    { ...all, currency: 'USD', terms: { ...percent, fixedMinor: 1n }, fromMs: undefined },
    'x',
  )
  const atMs = clock.now() + priceLeadMs
  const priced = { merchantId, railId: 'wallet', currency: 'USD', amountMinor: 1_000n }
  const { feeMinor, netMinor, considered } = await prices.explainFee({ ...priced, atMs })
  assert.deepEqual([feeMinor, netMinor], [45n, 955n])
  assert.deepEqual(considered, [
    {
      scope: `merchant ${merchantId}, every payment method, in USD`,
      why: 'holds: the most specific in force',
    },
    { scope: 'every merchant, every payment method, in USD', why: 'less specific' },
  ])
  await prices.setPrice({ ...all, merchantId, terms: undefined, fromMs: undefined }, 'over')
  const later = await prices.explainFee({ ...priced, atMs: clock.now() + priceLeadMs })
  assert.deepEqual(
    [later.feeMinor, later.considered.map(({ why }) => why)],
    [16n, ['ended', 'holds: the most specific in force']],
  )
})

test('the tables refuse a second fee, a fee without a payment, and one that is more than it', async () => {
  const merchant = await pricedMerchant()
  const { paymentId } = await pay(merchant, 1_000n)
  const refused: [string, string][] = [
    ['update orders set fee_minor = payment_amount_minor + 1 where payment_id = $1', '23514'],
    ['update orders set returns_fee = null where payment_id = $1', '23514'],
    [
      `insert into transfers (merchant_id, transfer_id, kind, phase, debit_account, credit_account, currency,
                              amount_minor, payment_id, made_at)
       select merchant_id, transfer_id, kind, phase, debit_account, credit_account, currency, amount_minor, payment_id,
              made_at from transfers where kind = 'fee' and payment_id = $1`,
      '23505',
    ],
    ["update transfers set payment_id = null where kind = 'fee' and payment_id = $1", '23514'],
  ]
  for (const [statement, code] of refused)
    await assert.rejects(pool.query(statement, [paymentId]), { code }, statement)
})
