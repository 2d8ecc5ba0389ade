// ledger verify must find every kind of wrong book, so each is made wrong once and put right again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { describeVerification } from '../../src/core/ledger/run-checks.ts'
import { priceLeadMs } from '../../src/core/orders/fees/rules/price.ts'
import { verifyLedger } from '../../src/finance/overview/store/verify-ledger.ts'
import { isRefusedByWorker } from '../../src/platform/database/data-error.ts'
import type { Pool, Queryable } from '../../src/platform/database/pool.ts'
import { codeOf } from '../../src/platform/runtime/errors.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { payOutWholly, sell } from '../support/payouts.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const money = openMoney(pool, { clock })
const merchant = await money.addMerchant()
const { merchantId } = merchant
const walletId = await money.addWallet(10_000n)
const [paid, confirming] = [await money.addOrder(merchant), await money.addOrder(merchant)]
await money.submitPayment({ ...paid, walletId })
await money.settle()
await money.refundOrder(
  merchant,
  JSON.stringify({ paymentId: paid.paymentId, referRefundNo: '1', refundAmount: 4 }),
)
await money.settle()
const authorized = await money.addOrder(merchant, { isManual: true })
await money.submitPayment({ ...authorized, walletId })
await money.settle()
await money.captureOrder(
  merchant,
  JSON.stringify({ paymentId: authorized.paymentId, referCaptureNo: '1', amount: 4 }),
)
await payOutWholly(money, { merchantId, amountMinor: 100n })
const { corrections, ownMoney, prices, reconciliation } = actingAs(money.operations, 'test')
// The operator's own: an opening balance, a deposit, a withdrawal, and a fee that is swept.
const terms = {
  fixedMinor: 10n,
  basisPoints: 0,
  leastMinor: undefined,
  mostMinor: undefined,
  returnsFee: false,
}
const everywhere = { merchantId: undefined, railId: undefined, currency: 'USD' }
await prices.setPrice({ ...everywhere, terms, fromMs: undefined }, 'test')
clock.advance(priceLeadMs)
await sell(money, await money.addMerchant(), { minor: 100n })
const own = { bankName: 'main', currency: 'USD' }
const { transferId: openingId } = await ownMoney.setOpeningBalance({ ...own, amountMinor: 500n }, 'test')
await ownMoney.deposit({ ...own, amountMinor: 30n }, 'test')
await ownMoney.withdraw({ ...own, amountMinor: 20n }, 'test')
await ownMoney.sweepFees({ ...own, amountMinor: undefined }, 'test')
await money.submitPayment({ ...confirming, walletId })
const outside = { bankName: 'main' }
const fund = { kind: 'fund', merchantId, currency: 'USD', amountMinor: 50n, outside } as const
await corrections.correct(fund, 'test')

const day = new Date(clock.now()).toISOString().slice(0, 10)
const strange = { from: day, through: day, openingMinor: 0n } as const
await reconciliation.importStatement({
  file: fileOf(
    'strange',
    camt053({
      iban: 'DE89370400440532013000',
      currency: 'USD',
      version: 8,
      ...strange,
      lines: [70n, 80n].map((amountMinor) => ({ reference: `S${amountMinor}`, day, amountMinor })),
    }),
  ),
  account: 'bank:main',
  reason: 'test',
})
for (const { breakId, amountMinor } of await reconciliation.breaks.listBreaks(
  { status: 'open' },
  { skip: 0, limit: 9 },
))
  await reconciliation.breaks[amountMinor === 70n ? 'park' : 'returnToSender'](breakId, { reason: 'test' })

test('books that balance are clean, and the report says what was looked at', async () => {
  const verification = await verifyLedger(pool)
  assert.deepEqual(verification.findings, [])
  assert.deepEqual(describeVerification(verification), [
    'The ledger is clean: 8 accounts, 22 transfers, 40 claims.',
  ])
})

/** What is done to the books, and words of the claim that must be found untrue by it. */
const wrongs: [string, RegExp][] = [
  [
    `update accounts set credits_posted = credits_posted + 1 where owner_kind = 'wallet'`,
    /sum of its transfers/,
  ],
  [
    `update accounts set credits_posted = credits_posted + 1 where owner_kind = 'merchant'`,
    /debits equal credits/,
  ],
  [`delete from accounts where owner_kind = 'bank'`, /sum of its transfers/],
  [
    `update transfers set amount_minor = amount_minor + 1 where phase = 'post' and kind = 'refund'`,
    /matches its hold/,
  ],
  [
    `delete from transfers where phase = 'post' and kind = 'payment'`,
    /every processing, paid or failed order/,
  ],
  [
    `update orders set status = 'failed' where payment_id = '${confirming.paymentId}'`,
    /every processing, paid or failed order/,
  ],
  [
    `update orders set status = 'failed' where payment_id = '${confirming.paymentId}'`,
    /waits for authorization/,
  ],
  [
    `update orders set status = 'pending', transaction_id = null, wallet_id = null
      where payment_id = '${confirming.paymentId}'`,
    /every processing, paid or failed order/,
  ],
  [`update captures set amount_minor = amount_minor + 1`, /captured amount equals/],
  [`delete from captures`, /captured amount equals/],
  [`update orders set captured_minor = 399 where captured_minor > 0`, /captured amount equals/],
  [`update authorizations set kind = 'payment' where kind = 'held'`, /waits for authorization/],
  [`update refunds set status = 'refund_failed'`, /refund with reserved money/],
  [`update refunds set amount_minor = 399`, /refund with reserved money/],
  [`update orders set refunded_minor = 399 where refund_count > 0`, /refunded amount equals its refunds/],
  [
    `update orders set refunded_minor = 0, refund_count = 0 where refund_count > 0`,
    /refunded amount equals its refunds/,
  ],
  [`delete from audit where act = 'wallet.top-up'`, /its audit entry/],
  [`delete from transfers where kind = 'payout'`, /has its transfer/],
  [`update payouts set status = 'returned', return_id = 'T1'`, /holds its money according to its status/],
  [`update payouts set amount_minor = amount_minor + 1`, /holds its money according to its status/],
  [`delete from payouts`, /holds its money according to its status/],
  [`update payout_runs set sent_at = sent_at + 1`, /sent with its run/],
  [`update payouts set plan_day = '2026-11-16'`, /has a schedule or an audit entry/],
  [`delete from authorizations`, /waits for authorization/],
  // Booked between other accounts than its kind goes between, twice for one action, or for another merchant.
  [
    `update transfers set credit_account = 'merchant:${merchantId}:USD' where kind = 'top_up'`,
    /that its type allows/,
  ],
  [
    inserted({ kind: 'fee_return', from: `merchant:${merchantId}:USD`, to: `fees:${merchantId}:USD` }),
    /that its type allows/,
  ],
  [
    inserted({ kind: 'transfer_applied', from: `wallet:${walletId}:USD`, to: 'rail:card:USD' }),
    /that its type allows/,
  ],
  [
    inserted({ kind: 'fee', from: `merchant:${merchantId}:USD`, to: 'fees:another:USD' }),
    /none of another merchant/,
  ],
  [`delete from bank_openings`, /opening balance matches its bank account’s record/],
  [`update bank_openings set day = day - 1`, /opening balance matches its bank account’s record/],
  [`update bank_openings set reversed_minor = 1 where transfer_id = '${openingId}'`, /less reversals/],
  [`delete from audit where act = 'bank.deposit'`, /every movement of own money has an audit entry/],
  [`delete from transfers where kind = 'owner_withdrawal'`, /every such entry has one movement/],
  [`update audit set act = 'bank.deposit' where act = 'bank.withdraw'`, /every movement of own money/],
  [again('owner_deposit'), /every movement of own money .* one movement/],
  [
    `update transfers set kind = 'owner_deposit' where kind = 'owner_withdrawal'`,
    /connects accounts that its type allows/,
  ],
  [
    `update accounts set debits_posted = credits_posted + 11 where owner_kind = 'fees'`,
    /overdrawn by more than its swept fees/,
  ],
  [
    `insert into transfers (merchant_id, transfer_id, kind, phase, debit_account, credit_account, currency, amount_minor,
                           audit_id, made_at, outside_reference, value_date)
     select '', 'T1', kind, phase, 'bank:main:USD', 'bank:other:USD', currency, amount_minor + 1, audit_id, made_at, 'T1', '2026-11-16'
       from transfers where kind = 'fee_sweep'`,
    /moved the same amount between bank accounts/,
  ],
  [`delete from audit where act = 'reconcile.park'`, /unknown money is in suspense once per audit entry/],
  [`update audit set act = 'reconcile.return' where act = 'reconcile.park'`, /unknown money is in suspense/],
  [again('unknown_received'), /unknown money is in suspense once/],
  [`delete from transfers where kind = 'unknown_returned'`, /is returned in full/],
  [
    `update transfers set credit_account = 'write_off:operator:USD' where kind = 'unknown_received'`,
    /connects accounts that its type allows/,
  ],
  [again('top_up'), /every top-up .* has its audit entry/],
  [
    inserted({ kind: 'dispute', from: `merchant:${merchantId}:USD`, to: 'disputes:card:USD' }),
    /every dispute holds its money/,
  ],
  [
    inserted({ kind: 'dispute_lost', from: 'disputes:card:USD', to: 'rail:other:USD' }),
    /of its payment, its merchant and its rail/,
  ],
  [
    `update orders set disputed_minor = 1 where status = 'success' and refund_count = 0`,
    /disputed amount equals its open and lost disputes/,
  ],
  [again('correction'), /every correction has an audit entry of its own/],
]

function inserted({ kind, from, to }: { kind: string; from: string; to: string }): string {
  const refundId = kind === 'fee_return' ? 'refund_id' : 'null'
  return `
insert into transfers (merchant_id, transfer_id, kind, phase, debit_account, credit_account, currency, amount_minor,
                       payment_id, refund_id, made_at)
select merchant_id, 'T1', '${kind}', 'direct', '${from}', '${to}', currency, 1, payment_id, ${refundId}, made_at
  from transfers where kind = 'refund' and phase = 'post'`
}

/** By the same action. */
function again(kind: 'top_up' | 'correction' | 'owner_deposit' | 'unknown_received'): string {
  return `
insert into transfers (merchant_id, transfer_id, kind, phase, debit_account, credit_account, currency, amount_minor,
                       audit_id, made_at, outside_reference, value_date)
select merchant_id, 'T1', kind, phase, debit_account, credit_account, currency, amount_minor,
       audit_id, made_at, 'another', value_date
  from transfers where kind = '${kind}' limit 1`
}

for (const [wrong, claim] of wrongs) {
  test(`it finds: ${wrong.replace(/\s+/g, ' ').replaceAll(confirming.paymentId, '…')}`, async () => {
    const rolledBack = new Error('rolled back')
    const doing = pool.transaction(async (transaction) => {
      const { rowCount } = await transaction.query(wrong)
      assert.ok(rowCount > 0, 'the wrong was done')
      const { findings } = await verifyLedger(within(transaction))
      assert.ok(
        findings.some(
          ({ claim: text, count, examples }) =>
            claim.test(text) &&
            count > 0 &&
            examples.length > 0 &&
            examples.every((example) => typeof example === 'string'),
        ),
        JSON.stringify(findings),
      )
      throw rolledBack
    })
    await assert.rejects(doing, rolledBack)
  })
}

/** Asks the same questions inside the transaction that did the wrong and is undone. */
function within(transaction: Queryable): Pool {
  const asking: Queryable = {
    query: (statement, values) =>
      // Too late for it here, and without it the answers are the same.
      String(statement).startsWith('set transaction')
        ? Promise.resolve({ rows: [], rowCount: 0 })
        : transaction.query(statement, values),
  }
  return { ...pool, ...asking, transaction: (work) => work(asking) }
}

test('it locks nobody out: payments go on while it looks', async () => {
  const another = await money.addOrder(merchant)
  const verifying = verifyLedger({
    ...pool,
    transaction: (work, options) =>
      pool.transaction(async (transaction) => {
        const result = await work(transaction)
        assert.equal((await money.submitPayment({ ...another, walletId })).kind, 'submitted')
        return result
      }, options),
  })
  assert.deepEqual((await verifying).findings, [])
  await money.settle()
})

test('what must never be is refused by the tables themselves', async () => {
  const refused: [string, string][] = [
    ["update accounts set debits_posted = 100000 where owner_kind = 'wallet'", '23514'],
    ["update accounts set debits_pending = 100000 where owner_kind = 'merchant'", '23514'],
    ['update transfers set amount_minor = 0', '23514'],
    ['update transfers set amount_minor = -1', '23514'],
    ['update transfers set credit_account = debit_account', '23514'],
    ["update transfers set currency = 'EUR'", '23514'],
    [
      "update orders set status = 'confirming', transaction_id = null, wallet_id = null where status = 'success'",
      '23514',
    ],
    [
      "insert into transfers select merchant_id, 'T2', kind, phase, hold_id, debit_account, credit_account, currency, amount_minor, payment_id, refund_id, audit_id, made_at from transfers where phase = 'post' limit 1",
      '23505',
    ],
    [
      "insert into transfers select merchant_id, 'T2', kind, phase, hold_id, debit_account, credit_account, currency, amount_minor, payment_id, refund_id, audit_id, made_at from transfers where phase = 'hold' limit 1",
      '23505',
    ],
  ]
  for (const [statement, code] of refused)
    await assert.rejects(
      pool.query(statement),
      // On a cluster a worker's refusal may come without its code.
      (error) => codeOf(error) === code || isRefusedByWorker(error),
      statement,
    )
})
