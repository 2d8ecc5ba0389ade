// Plans, payouts by hand, returns and refunds by random commands against a model that is a few numbers.
// PAYOUT_COMMANDS=100000 runs as many as one likes by hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, toDecimalText } from '@tillgate/protocol'
import fc from 'fast-check'
import type { Payout } from '../../src/payouts/rules/payout.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, type Money, openMoney } from '../support/money.ts'
import { addPaidMerchant, availableOf, planFor, sell, workOff } from '../support/payouts.ts'

const wanted = Number(process.env['PAYOUT_COMMANDS'] ?? 200)
const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
const money: Money = openMoney(pool, { clock })
const { payouts, payoutRuns, payoutPlans } = money.operations.as('test')
const acts = money.operations.payoutActs({ operator: undefined, actor: 'test' })
const booking = { reference: 'B', valueDate: '2026-11-16' }
const dayMs = 86_400_000
const currencies = ['JPY', 'USD', 'TND'] as const

/** What one merchant has in one currency. */
class Model {
  availableMinor = 0n
  grossMinor = 0n
  refundedMinor = 0n
  paidMinor = 0n
  underWayMinor = 0n
  reserveMinor = 0n
  leastMinor = 0n
  readonly sales: { readonly paymentId: string; readonly minor: bigint; leftMinor: bigint }[] = []
}

interface Real {
  readonly merchant: Awaited<ReturnType<Money['addMerchant']>>
  readonly currency: (typeof currencies)[number]
  refunds: number
}

let executed = 0

type Command = fc.AsyncCommand<Model, Real>

function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
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

async function underWay({ merchant }: Real): Promise<Payout | undefined> {
  const all = await payouts.listPayouts({ merchantId: merchant.merchantId }, { limit: 200 })
  return all.find(({ status }) => status === 'requested' || status === 'sent')
}

const amount = fc.bigInt(1n, 5_000n)

const sale = amount.map((minor) =>
  command(`sell ${minor}`, async (model, { merchant, currency }) => {
    const { paymentId } = await sell(money, merchant, { minor, currency })
    model.sales.push({ paymentId, minor, leftMinor: minor })
    model.availableMinor += minor
    model.grossMinor += minor
  }),
)
const refund = amount.map((minor) =>
  command(`refund ${minor}`, async (model, real) => {
    const sold = model.sales.at(-1)
    if (!sold) return
    real.refunds += 1
    const body = {
      paymentId: sold.paymentId,
      referRefundNo: `r${real.refunds}`,
      refundAmount: toDecimalText(minor, real.currency),
    }
    const isTaken = await isDone(money.refundOrder(real.merchant, JSON.stringify(body)))
    await money.settle()
    assert.equal(isTaken, minor <= sold.leftMinor)
    if (!isTaken || minor > model.availableMinor) return
    sold.leftMinor -= minor
    model.availableMinor -= minor
    model.refundedMinor += minor
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
    const free = model.availableMinor - model.reserveMinor
    if (free <= 0n || free < model.leastMinor) return
    model.availableMinor -= free
    model.underWayMinor += free
  }),
)
const byHand = amount.map((minor) =>
  command(`pay out ${minor} by hand`, async (model, { merchant, currency }) => {
    const given = { merchantId: merchant.merchantId, currency, amountMinor: minor, bankName: 'main' }
    assert.equal(await isDone(acts.payOut(given, { reason: 'test' })), minor <= model.availableMinor)
    if (minor > model.availableMinor) return
    model.availableMinor -= minor
    model.underWayMinor += minor
  }),
)
const end = fc.constantFrom('paid', 'returned', 'cancelled', 'send').map((how) =>
  command(how, async (model, real) => {
    const payout = await underWay(real)
    if (!payout) return
    if (how === 'send') return void (await isDone(payoutRuns.sendRun(payout.runId, 'test')))
    const status = how as 'paid' | 'returned' | 'cancelled'
    const outside = status === 'cancelled' ? undefined : booking
    const isPossible = payout.status === 'sent' || status === 'cancelled'
    assert.equal(
      await isDone(payouts.endPayout(payout, { status, outside, message: undefined }, 'test')),
      isPossible,
    )
    if (!isPossible) return
    model.underWayMinor -= payout.amountMinor
    if (status === 'paid') model.paidMinor += payout.amountMinor
    else model.availableMinor += payout.amountMinor
  }),
)

const commands = fc.commands([sale, sale, refund, setPlan, nextDay, nextDay, byHand, end, end], {
  maxCommands: 80,
  size: 'max',
})

test(`payouts and returns are those of the model over ${wanted} random commands, in currencies of 0, 2 and 3 digits`, async () => {
  while (executed < wanted) {
    await fc.assert(
      fc.asyncProperty(commands, fc.constantFrom(...currencies), async (steps, currency) => {
        const merchant = await addPaidMerchant(money, { currency, minor: 0n })
        await payoutPlans.setPlan(planFor(merchant.merchantId, { currency }), 'test')
        const model = new Model()
        await fc.asyncModelRun(() => ({ model, real: { merchant, currency, refunds: 0 } }), steps)
        assert.equal(await availableOf(money, merchant.merchantId, currency), model.availableMinor)
        assert.equal(
          model.availableMinor + model.underWayMinor + model.paidMinor + model.refundedMinor,
          model.grossMinor,
        )
        // Of no concern to the next merchant.
        await payoutPlans.setPlan(planFor(merchant.merchantId, { currency, schedule: 'hand' }), 'test')
      }),
      { numRuns: 5 },
    )
  }
  assert.deepEqual(await money.verify(), [])
})
