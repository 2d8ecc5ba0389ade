import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonWriter, textWriter } from '../../src/faces/cli/statement.ts'
import type { StatementReader } from '../../src/ledger/store/statements.ts'
import { csvStatement } from '../../src/ledger/write-statement.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'

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

async function read(
  range: { fromMs: number; toMs: number },
  form: (write: (text: string) => void) => StatementReader,
) {
  let text = ''
  await money.statements.read(
    { merchantId, ...range },
    form((more) => {
      text += more
    }),
  )
  return text
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
await money.funds.payOut({ merchantId, currency: 'USD', amountMinor: 700n }, 'test')
// Held and not posted yet, so not in a statement until it is settled.
await money.submitPayment({ ...(await money.addOrder(merchant)), walletId })
const endMs = clock.now() + 1

test('every payment, refund and payout is there, with balances that fit and agree with the account', async () => {
  const statement = JSON.parse(await read({ fromMs: startMs, toMs: endMs }, jsonWriter))
  assert.deepEqual(statement.opening, { USD: '0.00' })
  assert.deepEqual(
    statement.entries.map((entry: Record<string, string>) => [
      entry['kind'],
      entry['amount'],
      entry['orderNo'] ?? '',
    ]),
    [
      ['payment', '10.00', first.orderNo],
      ['payment', '10.00', second.orderNo],
      ['refund', '-2.50', second.orderNo],
      ['payout', '-7.00', ''],
    ],
  )
  assert.deepEqual(statement.closing, { USD: '10.50' })
  const [account] = await money.treasury.listAccounts({ ownerKind: 'merchant', ownerId: merchantId })
  assert.equal(account && account.creditsPostedMinor - account.debitsPostedMinor, 1_050n)
})

test('what closes one statement opens the next, and an entry is in one of them', async () => {
  const splitMs = startMs + hour
  const before = JSON.parse(await read({ fromMs: startMs, toMs: splitMs }, jsonWriter))
  const after = JSON.parse(await read({ fromMs: splitMs, toMs: endMs }, jsonWriter))
  assert.deepEqual(before.closing, { USD: '10.00' })
  assert.deepEqual(after.opening, before.closing)
  assert.deepEqual([before.entries.length, after.entries.length], [1, 3])
})

test('CSV quotes what needs it, and a spreadsheet takes nothing in it for a formula', async () => {
  await money.refundOrder(
    merchant,
    JSON.stringify({ paymentId: first.paymentId, referRefundNo: '=1+1"', refundAmount: '0.01' }),
  )
  await money.settle()
  const lines = (await read({ fromMs: startMs, toMs: endMs }, csvStatement)).split('\r\n')
  assert.equal(lines[0], 'time,kind,transactionId,paymentId,orderNo,refundId,referRefundNo,currency,amount')
  assert.equal(lines[1], ',opening,,,,,,USD,0.00')
  assert.ok(lines.some((line) => line.includes(',"R,1",USD,-2.50')))
  assert.ok(lines.some((line) => line.includes(`,"'=1+1""",USD,-0.01`)))
  assert.equal(lines.at(-2), ',closing,,,,,,USD,20.49')
})

test('people get a line for each entry', async () => {
  const lines = (await read({ fromMs: startMs, toMs: endMs }, textWriter)).trimEnd().split('\n')
  assert.equal(lines[0], 'Opening balance  0.00 USD')
  assert.match(lines[1] ?? '', /^\d{4}-.+ {2}payment +10\.00 USD {2}P/)
  assert.equal(lines.at(-1), 'Closing balance  20.49 USD')
})

test('more entries than a page holds are all there, once', async () => {
  await pool.query(
    `insert into transfers (merchant_id, transfer_id, kind, phase, debit_account, credit_account, currency,
                            amount_minor, audit_id, made_at)
     select merchant_id, 'X' || n, kind, phase, debit_account, credit_account, currency, 1, audit_id, made_at + n % 7
       from transfers, generate_series(1, 5000) as n where kind = 'payout'`,
  )
  await pool.query(
    `update accounts set debits_posted = debits_posted + 5000, credits_posted = credits_posted + 10000
      where account_id = 'merchant:${merchantId}:USD'`,
  )
  const statement = JSON.parse(await read({ fromMs: startMs, toMs: endMs + hour }, jsonWriter))
  const ids = statement.entries.map((entry: { transactionId: string }) => entry.transactionId)
  assert.equal(ids.length, 5_006)
  assert.equal(new Set(ids).size, 5_006)
})
