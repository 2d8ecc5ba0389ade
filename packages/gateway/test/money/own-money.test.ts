// The operator's own money against the real database: each movement once, whoever sends it how often, within what is the operator's
// own, and at most one opening balance of each bank account and currency.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import { toDecimalText } from '@tillgate/protocol'
import type { AccountOwner, Transfer } from '../../src/core/ledger/rules/transfer.ts'
import { priceLeadMs } from '../../src/core/orders/fees/rules/price.ts'
import { moveWithin } from '../../src/finance/treasury/store/treasury.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { faultyPool } from '../support/faulty-pool.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { testOperations } from '../support/operations.ts'
import { addPaidMerchant, sell } from '../support/payouts.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
const money = openMoney(pool, { clock })
const { ownMoney, banks, corrections, prices } = actingAs(money.operations, 'test')
const terms = {
  fixedMinor: 0n,
  basisPoints: 1_000,
  leastMinor: undefined,
  mostMinor: undefined,
  returnsFee: true,
}
const everywhere = { merchantId: undefined, railId: undefined, currency: undefined }
await prices.setPrice({ ...everywhere, terms, fromMs: undefined }, 'test')
clock.advance(priceLeadMs)

beforeEach(() => clock.advance(1_000))
afterEach(async () => assert.deepEqual(await money.verify(), []))

async function balanceOf(ownerKind: AccountOwner['ownerKind'], ownerId: string, currency: string) {
  const accounts = await money.treasury.listAccounts({ ownerKind, ownerId })
  const found = accounts.find((each) => each.currency === currency)
  return (found?.creditsPostedMinor ?? 0n) - (found?.debitsPostedMinor ?? 0n)
}
const equityOf = (currency: string) => balanceOf('equity', 'operator', currency)

async function transfersOf(auditId: string) {
  const { rows } = await pool.query<Record<string, string>>(
    `select kind, debit_account, credit_account, amount_minor::text as amount, outside_reference, value_date::text
       from transfers where audit_id = $1 order by merchant_id`,
    [auditId],
  )
  return rows
}

/** A new bank account of this currency. */
async function addBank(bankName: string, currency: string): Promise<void> {
  const none = { iban: undefined, bic: undefined }
  await banks.addBank({ ...none, bankName, currency, holder: 'Shop', lines: [`Account ${bankName}`] }, 'test')
}

/** With a currency of its own, in which nothing else happened. */
async function sold(currency: string, minor: bigint) {
  const merchant = await addPaidMerchant(money, { currency, minor: 0n })
  const order = await sell(money, merchant, { minor, currency })
  return { merchant, order }
}

test('an opening balance is booked once, under its day, however often and by how many at once it is sent', async () => {
  await addBank('opened', 'EUR')
  const given = {
    bankName: 'opened',
    currency: 'EUR',
    amountMinor: 100_000n,
    valueDate: '2026-11-01',
    reference: 'ST 1',
  }
  const idempotencyKey = randomUUID()
  const set = (id: string) => ownMoney.setOpeningBalance(given, 'first statement', { idempotencyKey: id })
  const done = await Promise.all(Array.from({ length: 4 }, () => set(idempotencyKey)))
  clock.advance(5_000)
  const again = await set(idempotencyKey)
  assert.equal(new Set([...done, again].map(({ transferId }) => transferId)).size, 1)
  assert.equal(again.doneBeforeMs, clock.now() - 5_000)
  assert.deepEqual(await transfersOf(idempotencyKey), [
    {
      kind: 'opening_balance',
      debit_account: 'bank:opened:EUR',
      credit_account: 'equity:operator:EUR',
      amount: '100000',
      outside_reference: 'ST1',
      value_date: '2026-11-01',
    },
  ])
  const { openings } = await banks.showBank('opened')
  assert.deepEqual(openings, [
    { transferId: again.transferId, currency: 'EUR', amountMinor: 100_000n, day: '2026-11-01' },
  ])
})

test('of two opening balances at the same moment one is booked, and another currency has one of its own', async () => {
  const open = (currency: string) =>
    ownMoney.setOpeningBalance({ bankName: 'main', currency, amountMinor: 500n }, 'test', {
      idempotencyKey: randomUUID(),
    })
  const outcomes = await Promise.allSettled([open('SEK'), open('SEK'), open('SEK'), open('NOK')])
  assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), [
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ])
  assert.deepEqual([await equityOf('SEK'), await equityOf('NOK')], [500n, 500n])
  await assert.rejects(
    open('SEK'),
    /main already has an opening balance in SEK\. Reverse that transfer first/,
  )
})

test('an opening balance that was wrong is taken back in part, or wholly and then set again', async () => {
  await addBank('wrong', 'CHF')
  const set = (amountMinor: bigint) =>
    ownMoney.setOpeningBalance({ bankName: 'wrong', currency: 'CHF', amountMinor }, 'test')
  const reverse = (corrects: string | undefined, amountMinor: bigint) =>
    corrections.correct(
      {
        kind: 'reverse',
        merchantId: '',
        currency: 'CHF',
        amountMinor,
        corrects,
        outside: { bankName: 'main' },
      },
      'typed wrongly',
    )
  const first = await set(1_100n)
  await reverse(first.transferId, 100n)
  assert.equal((await banks.showBank('wrong')).openings[0]?.amountMinor, 1_000n)
  await assert.rejects(set(5n), /already has an opening balance/)
  await reverse(first.transferId, 1_000n)
  assert.deepEqual((await banks.showBank('wrong')).openings, [])
  await set(-250n)
  assert.equal((await banks.showBank('wrong')).openings[0]?.amountMinor, -250n)
  assert.equal(await equityOf('CHF'), -250n)
  const { rows } = await pool.query<{ id: string }>(
    `select transfer_id as id from transfers where kind = 'correction' and corrects = $1 order by amount_minor`,
    [first.transferId],
  )
  await assert.rejects(reverse(rows[0]?.id, 1n), /a reversal of your own money\. Record the movement again/)
})

test('an opening balance of a day to come is refused', async () => {
  const given = { bankName: 'main', currency: 'DKK', amountMinor: 5n, valueDate: '2026-11-17' }
  await assert.rejects(ownMoney.setOpeningBalance(given, 'test'), /2026-11-17 is in the future/)
  assert.equal(await equityOf('DKK'), 0n)
})

test('the owner takes out what equity has, and no more, also by several withdrawals at once', async () => {
  const given = (amountMinor: bigint) => ({ bankName: 'main', currency: 'PLN', amountMinor })
  const { transferId } = await ownMoney.deposit(given(1_000n), 'capital')
  assert.match(transferId ?? '', /^[0-9A-Z]+$/)
  await assert.rejects(ownMoney.withdraw(given(1_001n), 'too much'), /Equity has 10\.00 PLN/)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 6 }, () => ownMoney.withdraw(given(300n), 'salary')),
  )
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3)
  assert.equal(await equityOf('PLN'), 100n)
  const idempotencyKey = randomUUID()
  await ownMoney.withdraw(given(100n), 'the rest', { idempotencyKey })
  const again = await ownMoney.withdraw(given(100n), 'the rest', { idempotencyKey })
  assert.deepEqual([again.amountMinor, again.doneBeforeMs], [100n, clock.now()])
  assert.equal(await equityOf('PLN'), 0n)
})

test('what costs took is not the owner’s to withdraw: it would be taken from consumers', async () => {
  const currency = 'CZK'
  await money.addWallet(50_000n, { currency })
  await ownMoney.deposit({ bankName: 'main', currency, amountMinor: 1_000n }, 'capital')
  await corrections.correct(
    {
      kind: 'difference',
      account: 'bank:main',
      currency,
      direction: 'out',
      amountMinor: 400n,
      outside: { bankName: 'main' },
    },
    'lost',
  )
  const withdraw = (amountMinor: bigint) =>
    ownMoney.withdraw({ bankName: 'main', currency, amountMinor }, 'salary')
  await assert.rejects(withdraw(601n), /After costs and losses, 6\.00 CZK .* is your own/)
  await withdraw(600n)
})

test('fees that are swept where their money lies become equity, and nothing moves at the bank', async () => {
  const currency = 'GBP'
  const { merchant } = await sold(currency, 10_000n)
  const before = await balanceOf('bank', 'main', currency)
  const idempotencyKey = randomUUID()
  const given = { bankName: 'main', currency, amountMinor: undefined }
  const swept = await ownMoney.sweepFees(given, 'month', { idempotencyKey })
  assert.deepEqual([swept.amountMinor, swept.transferId], [1_000n, undefined])
  assert.equal((await ownMoney.sweepFees(given, 'month', { idempotencyKey })).doneBeforeMs, clock.now())
  assert.equal(await balanceOf('fees', merchant.merchantId, currency), 0n)
  assert.equal(await equityOf(currency), 1_000n)
  assert.equal(await balanceOf('bank', 'main', currency), before)
  await assert.rejects(ownMoney.sweepFees(given, 'month'), /There are 0\.00 GBP of fees to sweep/)
})

test('fees that are swept to another account leave one bank account and come to the other, in one sum', async () => {
  const currency = 'HUF'
  await sold(currency, 20_000n)
  await sold(currency, 40_000n)
  await addBank('forint', currency)
  const idempotencyKey = randomUUID()
  const given = { bankName: 'forint', fromBankName: 'main', currency, amountMinor: 4_500n }
  const { transferId } = await ownMoney.sweepFees(given, 'month', { idempotencyKey })
  const [bankLeg, ...legs] = await transfersOf(idempotencyKey)
  assert.deepEqual(bankLeg, {
    kind: 'fee_sweep',
    debit_account: 'bank:forint:HUF',
    credit_account: 'bank:main:HUF',
    amount: '4500',
    outside_reference: transferId,
    value_date: '2026-11-16',
  })
  assert.deepEqual(legs.map(({ amount }) => amount).toSorted(), ['4000', '500'])
  assert.equal(await equityOf(currency), 4_500n)
})

test('a refund gives back its share of a fee that was swept, and the next fees make up for it', async () => {
  const currency = 'RON'
  const { merchant, order } = await sold(currency, 10_000n)
  await ownMoney.sweepFees({ bankName: 'main', currency, amountMinor: undefined }, 'month')
  await sell(money, merchant, { minor: 500n, currency })
  const body = {
    paymentId: order.paymentId,
    referRefundNo: 'back',
    refundAmount: toDecimalText(8_000n, currency),
  }
  await money.refundOrder(merchant, JSON.stringify(body))
  await money.settle()
  assert.equal(await balanceOf('fees', merchant.merchantId, currency), -750n)
  assert.deepEqual(money.troubles, [])
  await assert.rejects(
    ownMoney.sweepFees({ bankName: 'main', currency, amountMinor: 1n }, 'month'),
    /0\.00 RON of fees to sweep/,
  )
  await sell(money, merchant, { minor: 10_000n, currency })
  const swept = await ownMoney.sweepFees({ bankName: 'main', currency, amountMinor: undefined }, 'month')
  assert.equal(swept.amountMinor, 250n)
})

test('a sweep of more than a merchant’s fees have by then takes nothing', async () => {
  const currency = 'MXN'
  const { merchant } = await sold(currency, 10_000n)
  const [fees, equity] = [`fees:${merchant.merchantId}:${currency}`, `equity:operator:${currency}`]
  await money.treasury.openAccounts([{ ownerKind: 'equity', ownerId: 'operator', currency }])
  const leg: Transfer = {
    merchantId: merchant.merchantId,
    transferId: 'SWEEPTOOMUCH',
    kind: 'fee_sweep',
    phase: 'direct',
    holdId: undefined,
    debitAccountId: fees,
    creditAccountId: equity,
    currency,
    amountMinor: 1_001n,
    paymentId: undefined,
    refundId: undefined,
    auditId: randomUUID(),
    madeAtMs: clock.now(),
  }
  assert.equal(await pool.transaction((transaction) => moveWithin(transaction, [leg])), false)
  assert.equal(await equityOf(currency), 0n)
})

for (const dies of ['connection', 'process'] as const)
  test(`own money is there once, whichever point of it the ${dies} does not survive`, async () => {
    const currency = { connection: 'ISK', process: 'TRY' }[dies]
    await addBank(`at-${dies}`, currency)
    const { merchant } = await sold(currency, 90_000n)
    const bank = { bankName: `at-${dies}`, currency }
    let equityMinor = 0n
    type Own = typeof ownMoney
    const movements: readonly ((own: Own, idempotencyKey: string) => Promise<unknown>)[] = [
      (own, idempotencyKey) => own.deposit({ ...bank, amountMinor: 70n }, 'test', { idempotencyKey }),
      (own, idempotencyKey) => own.withdraw({ ...bank, amountMinor: 20n }, 'test', { idempotencyKey }),
      (own, idempotencyKey) =>
        own.sweepFees({ ...bank, fromBankName: 'main', amountMinor: 30n }, 'test', { idempotencyKey }),
    ]
    for (const [index, move] of movements.entries())
      for (let atPoint = 1; ; atPoint++) {
        clock.advance(1)
        const faulty = faultyPool(pool, { atPoint, dies })
        const { ownMoney: own } = actingAs(testOperations(faulty.pool, { clock }).operations, 'test')
        const idempotencyKey = randomUUID()
        await move(own, idempotencyKey).catch(() => {})
        await move(ownMoney, idempotencyKey)
        equityMinor += [70n, -20n, 30n][index] ?? 0n
        assert.equal(await equityOf(currency), equityMinor, `${index} at ${atPoint}`)
        if (!faulty.hasFailed()) break
      }
    assert.ok((await balanceOf('fees', merchant.merchantId, currency)) < 9_000n)
  })

test('an opening balance is there once, whichever point of it its process does not survive', async () => {
  for (let atPoint = 1; ; atPoint++) {
    const bankName = `point-${atPoint}`
    await addBank(bankName, 'JPY')
    const faulty = faultyPool(pool, { atPoint, dies: 'process' })
    const { ownMoney: own } = actingAs(testOperations(faulty.pool, { clock }).operations, 'test')
    const given = { bankName, currency: 'JPY', amountMinor: 9n }
    const idempotencyKey = randomUUID()
    await own.setOpeningBalance(given, 'test', { idempotencyKey }).catch(() => {})
    await ownMoney.setOpeningBalance(given, 'test', { idempotencyKey })
    assert.equal(await equityOf('JPY'), 9n * BigInt(atPoint))
    if (!faulty.hasFailed()) break
  }
})
