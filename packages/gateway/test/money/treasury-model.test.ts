// Sales with fees, refunds, corrections, plans, payouts and returns by random commands against a model that is a few
// numbers. TREASURY_COMMANDS=100000 runs as many as one likes by hand; a failure is shrunk and printed with the seed
// that repeats it.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Failure, makeUuid, toDecimalText } from '@tillgate/protocol'
import fc from 'fast-check'
import { priceLeadMs, type Terms } from '../../src/core/orders/fees/rules/price.ts'
import type { Payout } from '../../src/finance/payouts/rules/payout.ts'
import type { Correction } from '../../src/finance/treasury/rules/correction.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, type Money, openMoney } from '../support/money.ts'
import { addPaidMerchant, availableOf, planFor, workOff } from '../support/payouts.ts'
import { type ModelMove, TreasuryModel } from '../support/treasury-model.ts'

const wanted = Number(process.env['TREASURY_COMMANDS'] ?? 200)
const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
const money: Money = openMoney(pool, { clock })
const { payouts, payoutRuns, payoutPlans, prices, corrections } = actingAs(money.operations, 'test')
const booking = { reference: 'B', valueDate: '2026-11-16' }
const outside = { bankName: 'main' }
const dayMs = 86_400_000
const currencies = ['JPY', 'USD', 'TND'] as const

interface Real {
  readonly merchant: Awaited<ReturnType<Money['addMerchant']>>
  readonly walletId: string
  readonly currency: (typeof currencies)[number]
  refunds: number
}

let executed = 0

type Command = fc.AsyncCommand<TreasuryModel, Real>

function command(name: string, run: (model: TreasuryModel, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    async run(model, real) {
      executed += 1
      await run(model, real)
    },
    toString: () => name,
  }
}

async function isDone(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}

async function findPayout({ merchant }: Real, statuses: readonly string[]): Promise<Payout | undefined> {
  const all = await payouts.listPayouts({ merchantId: merchant.merchantId }, { limit: 200 })
  return all.find(({ status }) => statuses.includes(status))
}

const amount = fc.bigInt(1n, 5_000n)
const which = fc.nat(2)

function pick<Item>(items: readonly Item[], which: number): Item | undefined {
  return items.at(-1 - (which % Math.max(1, items.length)))
}

const topUp = amount.map((minor) => command(`top up ${minor}`, (model, real) => topUpBy(minor, model, real)))
const sale = amount.map((minor) =>
  command(`sell ${minor}`, async (model, real) => {
    const { merchant, walletId, currency } = real
    const lacking = minor - model.walletMinor
    if (lacking > 0n) await topUpBy(lacking, model, real)
    const order = await money.addOrder(merchant, { amountMinor: minor, currency })
    await money.submitPayment({ ...order, walletId })
    await money.settle()
    model.sell(order.paymentId, minor)
  }),
)
const refund = fc.tuple(which, fc.bigInt(1n, 60n)).map(([which, percent]) =>
  command(`refund ${percent} % of sale ${which}`, async (model, real) => {
    const sold = pick(model.sales, which)
    if (!sold) return
    const minor = (sold.minor * percent) / 100n + 1n
    real.refunds += 1
    const body = {
      paymentId: sold.paymentId,
      referRefundNo: `r${real.refunds}`,
      refundAmount: toDecimalText(minor, real.currency),
    }
    const isTaken = await isDone(money.refundOrder(real.merchant, JSON.stringify(body)))
    await money.settle()
    assert.equal(isTaken, model.refund(sold, minor))
  }),
)
const terms = fc
  .record({
    fixedMinor: fc.bigInt(0n, 60n),
    basisPoints: fc.oneof(fc.nat(500), fc.nat(10_000)),
    leastMinor: fc.option(fc.bigInt(0n, 50n), { nil: undefined }),
    mostMinor: fc.option(fc.bigInt(50n, 400n), { nil: undefined }),
    returnsFee: fc.boolean(),
  })
  .map((given): Terms => given)
const setPrice = fc
  .tuple(fc.option(terms, { nil: undefined, freq: 4 }), fc.constantFrom('currency', 'all'))
  .map(([wished, scope]) =>
    command(`price for ${scope}: ${fc.stringify(wished)}`, (model, real) =>
      price(wished, scope, model, real),
    ),
  )
const fund = amount.map((minor) =>
  command(`fund ${minor}`, async (model, real) => {
    const { merchant, currency } = real
    const given = { kind: 'fund', merchantId: merchant.merchantId, currency, amountMinor: minor } as const
    await correct({ ...given, outside }, { of: 'merchant', minor }, model)
  }),
)
const withdraw = amount.map((minor) =>
  command(`withdraw ${minor}`, async (model, { walletId, currency }) => {
    const given = { kind: 'withdraw', walletId, currency, amountMinor: minor } as const
    await correct({ ...given, outside }, { of: 'wallet', minor: -minor }, model)
  }),
)
const reverse = fc.tuple(which, amount).map(([which, minor]) =>
  command(`reverse ${minor} of move ${which}`, async (model, { merchant, currency }) => {
    const moved = pick(model.moves, which)
    if (!moved) return
    const { of, transferId: corrects } = moved
    const merchantId = of === 'merchant' ? merchant.merchantId : ''
    const given = { kind: 'reverse', merchantId, currency, amountMinor: minor, corrects } as const
    const back = { of, minor: moved.minor < 0n ? minor : -minor }
    await correct({ ...given, outside }, back, model, moved)
  }),
)
const setPlan = fc.tuple(fc.bigInt(0n, 3_000n), fc.bigInt(0n, 2_000n)).map(([reserveMinor, leastMinor]) =>
  command(`keep ${reserveMinor}, pay ${leastMinor} at least`, async (model, { merchant, currency }) => {
    const reserve = { fixedMinor: reserveMinor, shareBasisPoints: 0, shareDays: 0 }
    await payoutPlans.setPlan(planFor(merchant.merchantId, { currency, leastMinor, reserve }), 'test')
    Object.assign(model, { reserveMinor, leastMinor })
  }),
)
const nextDay = fc.constant(
  command('a day passes', async (model) => {
    clock.advance(dayMs)
    await Promise.all([workOff(money), workOff(money)])
    model.payOutByPlan()
  }),
)
const byHand = amount.map((minor) =>
  command(`pay out ${minor} by hand`, async (model, { merchant, currency }) => {
    const given = { merchantId: merchant.merchantId, currency, amountMinor: minor, bankName: 'main' }
    assert.equal(await isDone(payouts.requestPayout(given, { reason: 'test' })), model.payOut(minor))
  }),
)
const send = fc.constant(
  command('send', async (_model, real) => {
    const payout = await findPayout(real, ['requested'])
    if (payout) await isDone(payoutRuns.sendRun(payout.runId, 'test'))
  }),
)
const end = fc
  .record({
    status: fc.constantFrom('paid', 'returned', 'cancelled'),
    of: fc.constantFrom(['requested', 'sent'], ['paid']),
  })
  .map(({ status, of }) =>
    command(`${of.join(' or ')} is ${status}`, async (model, real) => {
      const payout = await findPayout(real, of)
      if (!payout) return
      const from = payout.status
      const mark = status === 'cancelled' ? undefined : booking
      const isPossible =
        from === 'sent' || status === (from === 'paid' ? ('returned' as const) : ('cancelled' as const))
      const once = () =>
        isDone(payouts.endPayout(payout, { status, outside: mark, message: undefined }, 'test'))
      const done = await Promise.all([once(), once()])
      assert.equal(done.filter(Boolean).length, isPossible ? 1 : 0)
      if (isPossible) model.endPayout(payout.amountMinor, { from, to: status })
    }),
  )

/** A list for all currencies has no amounts. */
async function price(
  wished: Terms | undefined,
  scope: keyof TreasuryModel['prices'],
  model: TreasuryModel,
  { merchant: { merchantId }, currency }: Real,
): Promise<void> {
  const isForAll = scope === 'all'
  const noAmounts = { fixedMinor: 0n, leastMinor: undefined, mostMinor: undefined }
  const given = wished && isForAll ? { ...wished, ...noAmounts } : wished
  const list = { merchantId, railId: undefined, currency: isForAll ? undefined : currency }
  await prices.setPrice({ ...list, terms: given, fromMs: undefined }, 'test')
  clock.advance(priceLeadMs)
  model.prices[scope] = given
}

async function topUpBy(minor: bigint, model: TreasuryModel, { walletId, currency }: Real): Promise<void> {
  const idempotencyKey = makeUuid(clock.now(), randomBytes)
  const topUps = [{ walletId, currency, amountMinor: minor }]
  await money.funds.topUp(topUps, { subject: walletId, reason: 'test', idempotencyKey })
  model.move({ transferId: await transferOf(idempotencyKey), of: 'wallet', minor })
}

/** Sent twice at the same moment, as somebody who clicks twice. */
async function correct(
  correction: Correction,
  move: Pick<ModelMove, 'of' | 'minor'>,
  model: TreasuryModel,
  moved?: ModelMove,
): Promise<void> {
  const idempotencyKey = makeUuid(clock.now(), randomBytes)
  const isPossible =
    model.canMove(move.of, move.minor) && (!moved || correction.amountMinor <= moved.leftMinor)
  const once = () => isDone(corrections.correct(correction, 'test', { idempotencyKey }))
  assert.deepEqual(await Promise.all([once(), once()]), [isPossible, isPossible])
  if (!isPossible) return
  model.move({ ...move, transferId: await transferOf(idempotencyKey) })
  if (moved) moved.leftMinor -= correction.amountMinor
}

async function transferOf(auditId: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    'select transfer_id as id from transfers where audit_id = $1',
    [auditId],
  )
  assert(rows.length === 1 && rows[0], 'one act is one transfer')
  return rows[0].id
}

const commands = fc.commands(
  [
    ...[sale, sale, sale, setPrice, refund, refund, topUp, fund, withdraw, reverse, reverse],
    ...[setPlan, nextDay, byHand, send, end, end],
  ],
  { maxCommands: 80, size: 'max' },
)

test(`fees, corrections and payouts are those of the model over ${wanted} random commands, in currencies of 0, 2 and 3 digits`, async () => {
  while (executed < wanted) {
    await fc.assert(
      fc.asyncProperty(terms, commands, fc.constantFrom(...currencies), async (first, steps, currency) => {
        // Empty, but for what a failed sequence left behind: the shorter ones are not to find it again.
        const before = await money.verify()
        const merchant = await addPaidMerchant(money, { currency, minor: 0n })
        await payoutPlans.setPlan(planFor(merchant.merchantId, { currency }), 'test')
        const model = new TreasuryModel()
        const real = { merchant, walletId: await money.addWallet(), currency, refunds: 0 }
        await price(first, 'currency', model, real)
        await fc.asyncModelRun(() => ({ model, real }), steps)
        await compare(model, real)
        assert.deepEqual(await money.verify(), before)
        // Of no concern to the next merchant.
        await payoutPlans.setPlan(planFor(merchant.merchantId, { currency, schedule: 'hand' }), 'test')
      }),
      { numRuns: 5 },
    )
  }
})

async function compare(model: TreasuryModel, { merchant, walletId, currency }: Real): Promise<void> {
  const { merchantId } = merchant
  assert.deepEqual(money.troubles.splice(0), [])
  assert.equal(await money.balanceOf(walletId, currency), model.walletMinor)
  assert.equal(await availableOf(money, merchantId, currency), model.availableMinor)
  const [fees] = await money.treasury.listAccounts({ ownerKind: 'fees', ownerId: merchantId })
  assert.equal(fees ? fees.creditsPostedMinor - fees.debitsPostedMinor : 0n, model.feesMinor)
  assert.equal(
    model.availableMinor + model.underWayMinor + model.paidMinor + model.refundedMinor + model.feesMinor,
    model.grossMinor + model.correctedMinor,
  )
  for (const sale of model.sales) {
    const { paymentId, minor, feeMinor, returnedMinor, refundedMinor } = sale
    const { fee = 0 } = await money.queryOrder(merchant, JSON.stringify({ paymentId }))
    assert.equal(fee, Number(toDecimalText(feeMinor, currency)))
    const posted = await postedOf(merchantId, paymentId)
    assert.deepEqual(posted, {
      fees: feeMinor - returnedMinor,
      net: minor - feeMinor + returnedMinor - refundedMinor,
      refunds: refundedMinor,
    })
    assert.equal(posted.fees + posted.net + posted.refunds, minor)
  }
  const { rows } = await pool.query(
    `select account_id from accounts
      where owner_id in ($1, $2) and credits_posted - debits_posted - debits_pending < 0`,
    [merchantId, walletId],
  )
  assert.deepEqual(rows, [], 'nothing is below zero')
}

/** What the ledger moved for a payment: to fees, to the merchant, and back to the consumer. */
async function postedOf(merchantId: string, paymentId: string) {
  const { rows } = await pool.query<{ fees: string; net: string; refunds: string }>(
    `select coalesce(sum(case when credit_account like 'fees:%' then amount_minor
                              when debit_account like 'fees:%' then -amount_minor else 0 end), 0) as fees,
            coalesce(sum(case when credit_account like 'merchant:%' then amount_minor else 0 end)
                   - sum(case when debit_account like 'merchant:%' then amount_minor else 0 end), 0) as net,
            coalesce(sum(case when kind = 'refund' then amount_minor else 0 end), 0) as refunds
       from transfers where merchant_id = $1 and payment_id = $2 and phase in ('post', 'direct')`,
    [merchantId, paymentId],
  )
  const { fees = 0, net = 0, refunds = 0 } = rows[0] ?? {}
  return { fees: BigInt(fees), net: BigInt(net), refunds: BigInt(refunds) }
}
