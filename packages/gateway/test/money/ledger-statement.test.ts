import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvStatement } from '../../src/core/ledger/write-statement.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { payOutWholly } from '../support/payouts.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const money = openMoney(pool, { clock })
const merchant = await money.addMerchant()
const other = await money.addMerchant()
const { merchantId } = merchant
const walletId = await money.addWallet(100_000n)
const hour = 3_600_000

async function pay(of = merchant) {
  const order = await money.addOrder(of)
  await money.submitPayment({ ...order, walletId })
  clock.advance(1)
  await money.settle()
  return order
}

async function readLines(range: { fromMs: number; toMs: number }): Promise<string[]> {
  let text = ''
  const reader = csvStatement((more) => {
    text += more
  })
  await money.statements.read({ merchantId, ...range }, reader)
  return text.trimEnd().split('\r\n')
}

/** What a line says by the heads' names. */
async function read(range: { fromMs: number; toMs: number }) {
  const [heads = '', ...lines] = await readLines(range)
  const rows = lines.map((line) => {
    // At commas that stand outside of quotes.
    const cells = line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
    return Object.fromEntries(heads.split(',').map((head, index) => [head, cells[index]]))
  })
  const of = (...kinds: string[]) => rows.filter(({ kind }) => kinds.includes(kind ?? ''))
  const amounts = (kind: string) => of(kind).map(({ currency, amount }) => `${amount} ${currency}`)
  return {
    opening: amounts('opening'),
    entries: of('payment', 'refund', 'payout'),
    closing: amounts('closing'),
  }
}

const startMs = clock.now()
const first = await pay()
clock.advance(hour)
const second = await pay()
await pay(other)
clock.advance(1)
await money.refundOrder(
  merchant,
  JSON.stringify({ paymentId: second.paymentId, referRefundNo: 'R,1', refundAmount: '2.50' }),
)
await money.settle()
clock.advance(1)
await payOutWholly(money, { merchantId, amountMinor: 700n })
// Held and not posted yet, so not in a statement until it is settled.
await money.submitPayment({ ...(await money.addOrder(merchant)), walletId })
const endMs = clock.now() + 1

test('every payment, refund and payout is there, with balances that fit and agree with the account', async () => {
  const statement = await read({ fromMs: startMs, toMs: endMs })
  assert.deepEqual(statement.opening, ['0.00 USD'])
  assert.deepEqual(
    statement.entries.map((entry) => [entry['kind'], entry['amount'], entry['orderNo']]),
    [
      ['payment', '10.00', first.orderNo],
      ['payment', '10.00', second.orderNo],
      ['refund', '-2.50', second.orderNo],
      ['payout', '-7.00', ''],
    ],
  )
  assert.deepEqual(statement.closing, ['10.50 USD'])
  const [account] = await money.treasury.listAccounts({ ownerKind: 'merchant', ownerId: merchantId })
  assert.equal(account && account.creditsPostedMinor - account.debitsPostedMinor, 1_050n)
})

test('what closes one statement opens the next, and an entry is in one of them', async () => {
  const splitMs = startMs + hour
  const before = await read({ fromMs: startMs, toMs: splitMs })
  const after = await read({ fromMs: splitMs, toMs: endMs })
  assert.deepEqual(before.closing, ['10.00 USD'])
  assert.deepEqual(after.opening, before.closing)
  assert.deepEqual([before.entries.length, after.entries.length], [1, 3])
})

test('CSV quotes what needs it, and a spreadsheet takes nothing in it for a formula', async () => {
  await money.refundOrder(
    merchant,
    JSON.stringify({ paymentId: first.paymentId, referRefundNo: '=1+1"', refundAmount: '0.01' }),
  )
  await money.settle()
  const lines = await readLines({ fromMs: startMs, toMs: endMs })
  assert.equal(lines[0], 'time,kind,transactionId,paymentId,orderNo,refundId,referRefundNo,currency,amount')
  assert.equal(lines[1], ',opening,,,,,,USD,0.00')
  assert.ok(lines.some((line) => line.includes(',"R,1",USD,-2.50')))
  assert.ok(lines.some((line) => line.includes(`,"'=1+1""",USD,-0.01`)))
  assert.equal(lines.at(-1), ',closing,,,,,,USD,20.49')
})

test('more entries than a page holds are all there, once', async () => {
  await pool.query(
    `insert into transfers (merchant_id, transfer_id, kind, phase, debit_account, credit_account, currency,
                            amount_minor, made_at, outside_reference, value_date)
     select merchant_id, 'X' || n, kind, 'direct', debit_account, credit_account, currency, 1, made_at + n % 7, 'X' || n,
            value_date
       from transfers, generate_series(1, 5000) as n where kind = 'payout' and phase = 'post'`,
  )
  await pool.query(
    `update accounts set debits_posted = debits_posted + 5000, credits_posted = credits_posted + 10000
      where account_id = 'merchant:${merchantId}:USD'`,
  )
  const { entries } = await read({ fromMs: startMs, toMs: endMs + hour })
  const ids = entries.map((entry) => entry['transactionId'])
  assert.equal(ids.length, 5_006)
  assert.equal(new Set(ids).size, 5_006)
})
