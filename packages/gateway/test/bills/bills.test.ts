// Bills from the ledger: made once for each day on which something moved, never changed, and in agreement with the books
// whatever happens.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import type { Merchant } from '../../src/core/merchants/rules/merchant.ts'
import { priceLeadMs } from '../../src/core/orders/fees/rules/price.ts'
import { makeReadBill } from '../../src/finance/bills/read-bill.ts'
import { billDelayMs } from '../../src/finance/bills/rules/bill.ts'
import { startBill } from '../../src/finance/bills/write-bill.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { payOutWholly, sell, textOf } from '../support/payouts.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
const money = openMoney(pool, { clock })
const { makeBills, readBill } = money.operations
const dayMs = 86_400_000

function goTo(time: string): void {
  const aheadMs = Date.parse(time) - clock.now()
  assert.ok(aheadMs >= 0)
  clock.advance(aheadMs)
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => {
      const cells = line.split(',')
      return `${cells[1]} ${cells.at(-1)}`
    })

async function verified(): Promise<readonly string[]> {
  const { findings } = await money.verifyLedger()
  return findings.map(({ claim, examples }) => `${claim}: ${examples.join(', ')}`)
}

async function pay(merchant: Merchant, minor: bigint, currency = 'USD') {
  const order = await sell(money, merchant, { minor, currency })
  clock.advance(1)
  return order
}

async function refused(work: Promise<unknown>): Promise<Failure> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof Failure)
  return error
}

const merchant = await money.addMerchant()
const { merchantId } = merchant
const quiet = await money.addMerchant()

test('a day’s bill has every line, sums that add up, and the hash of its bytes', async () => {
  await actingAs(money.operations, 'test').prices.setPrice(
    {
      merchantId,
      railId: undefined,
      currency: 'USD',
      terms: {
        fixedMinor: 0n,
        basisPoints: 100,
        leastMinor: undefined,
        mostMinor: undefined,
        returnsFee: true,
      },
      fromMs: undefined,
    },
    'test',
  )
  clock.advance(priceLeadMs)
  const { paymentId } = await pay(merchant, 1_000n)
  await pay(merchant, 2_000n)
  await pay(merchant, 700n, 'EUR')
  const refund = { paymentId, referRefundNo: 'R-1', refundAmount: '5.00' }
  await money.refundOrder(merchant, JSON.stringify(refund))
  await money.settle()
  clock.advance(1)
  await payOutWholly(money, { merchantId, amountMinor: 1_500n })
  clock.advance(1)
  const outside = { bankName: 'main' }
  await actingAs(money.operations, 'test').corrections.correct(
    { kind: 'fund', merchantId, currency: 'USD', amountMinor: 25n, outside },
    'test',
  )
  goTo('2026-11-17T00:14:59Z')
  assert.deepEqual(await makeBills(), { made: 0, errors: [], more: false })
  goTo('2026-11-17T00:15:00Z')
  assert.deepEqual(await makeBills(), { made: 1, errors: [], more: false })
  const { bill, content } = await readBill({ merchantId, day: '2026-11-16' })
  const text = await textOf(content())
  // A payment and its fee are of the same moment, in whichever order.
  assert.deepEqual(linesOf(text).toSorted(), [
    'closing 10.00',
    'closing 7.00',
    'correction 0.25',
    'fee -0.10',
    'fee -0.20',
    'fee_return 0.05',
    'payment 10.00',
    'payment 20.00',
    'payment 7.00',
    'payout -15.00',
    'refund -5.00',
  ])
  const none = { opening: 0n, late: 0n, refunds: 0n, fees: 0n, payouts: 0n, corrections: 0n }
  assert.deepEqual(bill.totals, [
    { ...none, currency: 'EUR', payments: 700n, closing: 700n },
    {
      ...none,
      currency: 'USD',
      payments: 3_000n,
      refunds: -500n,
      fees: -25n,
      payouts: -1_500n,
      corrections: 25n,
      closing: 1_000n,
    },
  ])
  assert.equal(bill.lines, 9)
  assert.equal(bill.bytes, Buffer.byteLength(text))
  assert.equal(bill.sha256, createHash('sha256').update(text).digest('hex'))
  assert.deepEqual(await verified(), [])
})

test('the next bill opens with what this one closed with; quiet days have one that says so', async () => {
  goTo('2026-11-19T12:00:00Z')
  await pay(merchant, 100n)
  goTo('2026-11-20T01:00:00Z')
  assert.equal((await makeBills()).made, 1)
  const { bill } = await readBill({ merchantId, day: '2026-11-19' })
  assert.deepEqual(
    bill.totals.map(({ currency, opening, payments, closing }) => [currency, opening, payments, closing]),
    [
      ['EUR', 700n, 0n, 700n],
      ['USD', 1_000n, 100n, 1_099n],
    ],
  )
  const between = await readBill({ merchantId, day: '2026-11-18' })
  assert.deepEqual(linesOf(await textOf(between.content())), [
    'opening 7.00',
    'opening 10.00',
    'closing 7.00',
    'closing 10.00',
  ])
  assert.equal(between.bill.lines, 0)
  const never = await readBill({ merchantId: quiet.merchantId, day: '2026-11-18' })
  assert.deepEqual([never.bill.totals, never.bill.lines], [[], 0])
  assert.deepEqual(
    (await money.bills.listBills(merchantId, { limit: 10 })).map(({ day }) => day),
    ['2026-11-19', '2026-11-16'],
  )
  assert.deepEqual(await verified(), [])
})

test('a day that is not over has no bill, and one whose bill is not made yet asks for patience', async () => {
  await pay(merchant, 100n)
  const today = await refused(readBill({ merchantId, day: '2026-11-20' }))
  assert.deepEqual([today.failure, today.field], ['times_out_of_range', 'date'])
  assert.match(today.message, /after 2026-11-21T00:15:00\.000Z/)
  clock.advance(dayMs)
  assert.equal((await refused(readBill({ merchantId, day: '2026-11-20' }))).failure, 'unavailable')
  await makeBills()
  assert.equal((await readBill({ merchantId, day: '2026-11-20' })).bill.lines, 2)
})

test('many workers at once make each bill once, and one that dies on the way leaves nothing', async () => {
  const merchants = await Promise.all(Array.from({ length: 6 }, () => money.addMerchant()))
  for (const each of merchants) await pay(each, 50n)
  clock.advance(dayMs)
  await money.billMaker.enrolMerchants()
  const [first = ''] = merchants.map((each) => each.merchantId).toSorted()
  const justBefore = String(BigInt(first) - 1n).padStart(first.length, '0')
  const billing = { openDay: '2026-11-22', nowMs: clock.now(), after: justBefore }
  const dying = money.billMaker.makeNextBill({ ...billing, start: () => assert.fail('the worker dies') })
  const { kind, merchantId: failed } = (await dying) ?? {}
  assert.deepEqual([kind, failed], ['failed', first])
  // Whoever's bill fails holds up nobody else.
  const next = await money.billMaker.makeNextBill({ ...billing, after: first, start: startBill })
  const others = Array.from({ length: 4 }, () => openMoney(pool, { clock }).operations.makeBills())
  const made = (await Promise.all(others)).reduce((sum, turn) => sum + turn.made, 0)
  assert.equal(made + (next?.kind === 'made' ? 1 : 0), 6)
  assert.deepEqual(await verified(), [])
})

test('what is written down after its bill was made is in the next one, said openly', async () => {
  const late = await money.addMerchant()
  await pay(late, 1_000n)
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  clock.advance(dayMs + billDelayMs)
  await makeBills()
  const first = (await readBill({ merchantId: late.merchantId, day })).bill
  await pay(late, 300n)
  await pay(late, 4n)
  // As if the first of them had been decided on a day before, by a process that then stood still.
  await pool.query(
    "update transfers set made_at = made_at - 2 * 86400000 where merchant_id = $1 and phase = 'post' and amount_minor = 300",
    [late.merchantId],
  )
  clock.advance(dayMs)
  assert.equal((await makeBills()).made, 1)
  assert.deepEqual((await readBill({ merchantId: late.merchantId, day })).bill, first)
  const [newest] = await money.bills.listBills(late.merchantId, { limit: 1 })
  assert.ok(newest)
  assert.deepEqual(
    newest.totals.map(({ opening, late: came, payments, closing }) => [opening, came, payments, closing]),
    [[1_000n, 300n, 4n, 1_304n]],
  )
  assert.deepEqual(linesOf(await textOf(money.bills.readParts(newest))), [
    'opening 10.00',
    'late 3.00',
    'payment 0.04',
    'closing 13.04',
  ])
  assert.deepEqual(await verified(), [])
  // A day that nothing was added to is held to the ledger as before.
  const shift = (minor: number) =>
    pool.query(
      'update bill_totals set payments_minor = payments_minor + $3, fees_minor = fees_minor - $3 where merchant_id = $1 and day = $2',
      [late.merchantId, day, minor],
    )
  await shift(1)
  assert.equal((await verified()).length, 1)
  await shift(-1)
  assert.deepEqual(await verified(), [])
})

test('what is written down late is said in a bill of its own where nothing moves any more', async () => {
  const late = await money.addMerchant()
  await pay(late, 1_000n)
  clock.advance(dayMs + billDelayMs)
  await makeBills()
  await pay(late, 300n)
  // As if all clocks had been set back by a day meanwhile.
  await pool.query(
    "update transfers set made_at = made_at - 86400000 where merchant_id = $1 and phase = 'post' and amount_minor = 300",
    [late.merchantId],
  )
  clock.advance(dayMs)
  assert.equal((await makeBills()).made, 1)
  const [newest] = await money.bills.listBills(late.merchantId, { limit: 1 })
  assert.deepEqual(
    newest?.totals.map(({ opening, late: came, payments, closing }) => [opening, came, payments, closing]),
    [[1_000n, 300n, 0n, 1_300n]],
  )
  assert.deepEqual(await verified(), [])
  clock.advance(dayMs)
  assert.equal((await makeBills()).made, 0)
})

test('a bill that is made while it is asked for is there or asks for patience, and is never told as empty', async () => {
  const busy = await money.addMerchant()
  await pay(busy, 1_000n)
  const key = { merchantId: busy.merchantId, day: new Date(clock.now()).toISOString().slice(0, 10) }
  clock.advance(dayMs + billDelayMs)
  let asked = 0
  const thenMade = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    await answer
    if (asked++ === 0) await makeBills()
    return answer
  }
  const { bills } = money
  const between = makeReadBill({
    bills: {
      ...bills,
      findBill: (of) => thenMade(bills.findBill(of)),
      isBilled: (of) => thenMade(bills.isBilled(of)),
    },
    clock,
  })
  const lines = await between(key).then(
    ({ bill }) => bill.lines,
    (error: unknown) => (error instanceof Failure ? error.failure : error),
  )
  const made = (await readBill(key)).bill.lines
  assert.ok(made > 0)
  assert.equal(lines, made)
})

test('the check of the books notices a bill that was changed, a line that is missing and a bill that is gone', async () => {
  const found = async (...statements: string[]) => {
    const transaction = pool.transaction(async (within) => {
      for (const statement of statements) await within.query(statement)
      // Its claims, asked within, so that nothing of it stays.
      const { billClaims } = await import('../../src/finance/bills/store/bill-claims.ts')
      const claims = []
      for (const [claim, sql] of Object.entries(billClaims))
        if ((await within.query(sql)).rows.length > 0) claims.push(claim)
      throw Object.assign(new Error('undo it'), { claims })
    })
    return transaction.catch(
      (error: unknown) => (error as { claims?: string[] }).claims ?? Promise.reject(error),
    )
  }
  const summed = 'every bill equals the ledger’s totals of its day, and every billed day has a bill'
  const chained = 'every bill opens with the previous closing balance'
  const hashed = 'every bill matches its hash and its length'
  const of = `merchant_id = '${merchantId}' and day = '2026-11-19'`
  assert.deepEqual(await found(), [])
  assert.deepEqual(await found(`update bill_parts set content = content || ' ' where ${of}`), [hashed])
  assert.deepEqual(
    await found(
      `update bill_totals set payments_minor = 0, fees_minor = fees_minor + 100 where ${of} and currency = 'USD'`,
    ),
    [summed],
  )
  assert.deepEqual(
    await found(
      `update bill_totals set opening_minor = opening_minor + 1, closing_minor = closing_minor + 1 where ${of} and currency = 'USD'`,
    ),
    [chained],
  )
  assert.deepEqual(
    await found(
      `delete from bill_totals where ${of}`,
      `delete from bill_parts where ${of}`,
      `delete from bills where ${of}`,
    ),
    [summed, chained],
  )
})
