// The real operations and worker turns against a simple model, by random commands. MONEY_COMMANDS=100000 runs as many
// as one likes by hand; a failure is shrunk and printed with the seed that repeats it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, toDecimalText } from '@tillgate/protocol'
import fc from 'fast-check'
import type { Merchant } from '../../src/core/merchants/rules/merchant.ts'
import { leaseMs } from '../../src/core/orders/payments/settle.ts'
import type { Behaviour } from '../../src/core/wallets/rules/wallet.ts'
import { confirmsAfterMs, makeSandboxRail } from '../../src/finance/rails/sandbox-rail.ts'
import { freshDatabase } from '../support/database.ts'
import { type HeldClock, heldClock, type Money, openMoney } from '../support/money.ts'
import { type ModelOrder, MoneyModel } from '../support/money-model.ts'
import { payOutWholly } from '../support/payouts.ts'

const wantedCommands = Number(process.env['MONEY_COMMANDS'] ?? 2_000)
const runsAtOnce = 10
const behaviours = ['approves', 'declines', 'confirms_later', 'refund_fails'] as const satisfies Behaviour[]
const { pool } = await freshDatabase()

interface Real {
  money: Money
  readonly restart: () => Money
  readonly merchant: Merchant
  readonly wallets: readonly string[]
  readonly clock: HeldClock
}

type Command = fc.AsyncCommand<MoneyModel, Real>

let executed = 0

/** A command that does something whatever the state is, and says what it is when it is printed. */
function command(name: string, run: (model: MoneyModel, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      executed += 1
      await run(model, real)
    },
    toString: () => name,
  }
}

/** On the n-th newest order, if there is any. */
function onOrder(
  name: string,
  which: number,
  run: (order: ModelOrder, model: MoneyModel, real: Real) => Promise<void>,
): Command {
  return command(`${name} of order ${which}`, async (model, real) => {
    const order = model.orders.at(-1 - (which % Math.max(1, model.orders.length)))
    if (order) await run(order, model, real)
  })
}

async function codeOf(work: Promise<unknown>): Promise<number> {
  try {
    await work
    return 20000
  } catch (error) {
    if (error instanceof Failure) return error.code
    throw error
  }
}

const which = fc.nat(3)
const wallet = fc.nat(behaviours.length - 1)
const amount = fc.bigInt(1n, 100n)
const key = (order: ModelOrder, { merchant }: Real) => ({
  merchantId: merchant.merchantId,
  paymentId: order.paymentId,
})

const create = fc.record({ amount, lifeMs: fc.constantFrom(300_000, 86_400_000) }).map(({ amount, lifeMs }) =>
  command(`create ${amount}`, async (model, { money, merchant, clock }) => {
    const order = await money.addOrder(merchant, { amountMinor: amount, lifeMs })
    model.orders.push({
      paymentId: order.paymentId,
      amountMinor: amount,
      expiresAtMs: clock.now() + lifeMs,
      status: 'pending',
      wallet: 0,
      refunds: [],
      events: [],
    })
  }),
)

const pay = fc.tuple(which, wallet).map(([which, wallet]) =>
  onOrder(`pay by ${behaviours[wallet]}`, which, async (order, model, real) => {
    const walletId = real.wallets[wallet] ?? ''
    const outcome = await real.money.submitPayment({ ...key(order, real), walletId })
    const expected = model.pay(order, wallet, real.clock.now())
    assert.equal(outcome.kind === 'order_not_payable' ? outcome.status : outcome.kind, expected)
  }),
)

const cancel = which.map((which) =>
  onOrder('cancel', which, async (order, model, real) => {
    const { paymentId } = order
    const code = await codeOf(real.money.cancelOrder(real.merchant, JSON.stringify({ paymentId })))
    assert.equal(code, model.cancel(order, real.clock.now()))
  }),
)

const refund = fc.record({ which, amount, number: fc.nat(30) }).map(({ which, amount, number }) =>
  onOrder(`refund ${amount} as ${number}`, which, async (order, model, real) => {
    const referRefundNo = `no ${number}`
    const body = { paymentId: order.paymentId, referRefundNo, refundAmount: toDecimalText(amount, 'USD') }
    const code = await codeOf(real.money.refundOrder(real.merchant, JSON.stringify(body)))
    assert.equal(code, model.refund(order, { referRefundNo, amountMinor: amount }, real.clock.now()))
  }),
)

const topUp = fc.tuple(wallet, amount).map(([wallet, amount]) =>
  command(`top up ${behaviours[wallet]} by ${amount}`, async (model, { money, wallets }) => {
    const walletId = wallets[wallet] ?? ''
    await money.funds.topUp([{ walletId, currency: 'USD', amountMinor: amount }], {
      subject: walletId,
      reason: 'test',
    })
    model.walletsMinor[wallet] = (model.walletsMinor[wallet] ?? 0n) + amount
  }),
)

const payOut = amount.map((amount) =>
  command(`pay out ${amount}`, async (model, { money, merchant: { merchantId } }) => {
    const code = await codeOf(payOutWholly(money, { merchantId, amountMinor: amount }))
    assert.equal(code === 20000, model.payOut(amount))
  }),
)

const passTime = fc
  .constantFrom(1, 1_000, confirmsAfterMs, leaseMs, 300_000)
  .map((ms) => command(`${ms} ms pass`, async (_model, { clock }) => clock.advance(ms)))

const expire = fc.constant(
  command('expire', async (model, { money, clock }) => {
    await money.expireOrders()
    model.expire(clock.now())
  }),
)

const settle = fc.constant(
  command('settle', async (model, { money, clock }) => {
    await money.settle()
    model.settle(clock.now(), confirmsAfterMs)
  }),
)

const crash = fc.constant(
  command('the worker claims and dies', async (model, real) => {
    const { clock, money } = real
    const claimId = crypto.randomUUID()
    await money.settling.claim({ claimId, nowMs: clock.now(), leaseMs, limit: 1_000 })
    model.claimAndDie(clock.now(), leaseMs)
    real.money = real.restart()
  }),
)

const commands = fc.commands(
  [create, pay, settle, refund, pay, topUp, create, cancel, payOut, passTime, expire, crash],
  {
    maxCommands: 150,
    size: 'max',
  },
)

test(`statuses, balances and callbacks are those of the model over ${wantedCommands} random commands`, async () => {
  while (executed < wantedCommands) {
    await fc.assert(
      fc.asyncProperty(commands, async (steps) => {
        const model = new MoneyModel(behaviours)
        const real = await setUp(model)
        await fc.asyncModelRun(() => ({ model, real }), steps)
        await compare(model, real)
      }),
      { numRuns: runsAtOnce },
    )
  }
  assert.deepEqual(await openMoney(pool, { clock: heldClock() }).verify(), [])
})

async function setUp(model: MoneyModel): Promise<Real> {
  const clock = heldClock()
  const behaviourOf = new Map<string, Behaviour>()
  const rail = makeSandboxRail({ clock, behaviourOf: async (walletId) => behaviourOf.get(walletId) })
  const restart = () => openMoney(pool, { clock, rail })
  const money = restart()
  // What an earlier run left under way is not this one's.
  await pool.query('update authorizations set due_at = 9000000000000')
  const wallets: string[] = []
  for (const [index, behaviour] of behaviours.entries()) {
    const walletId = await money.addWallet(150n)
    model.walletsMinor[index] = 150n
    behaviourOf.set(walletId, behaviour)
    wallets.push(walletId)
  }
  return { money, restart, merchant: await money.addMerchant(), wallets, clock }
}

async function compare(model: MoneyModel, { money, merchant, wallets, clock }: Real): Promise<void> {
  assert.deepEqual(money.troubles, [])
  for (const [index, walletId] of wallets.entries()) {
    assert.equal(await money.balanceOf(walletId), model.walletsMinor[index])
  }
  const [account] = await money.treasury.listAccounts({ ownerKind: 'merchant', ownerId: merchant.merchantId })
  const available = account
    ? account.creditsPostedMinor - account.debitsPostedMinor - account.debitsPendingMinor
    : 0n
  assert.equal(available, model.merchantMinor)
  for (const order of model.orders) {
    const { paymentId } = order
    const answer = await money.queryOrder(merchant, JSON.stringify({ paymentId }))
    assert.equal(answer.paymentStatus, model.statusAt(order, clock.now()))
    assert.deepEqual(
      answer.refunds.map(({ referRefundNo, status }) => `${referRefundNo} ${status}`).toSorted(),
      order.refunds.map(({ referRefundNo, status }) => `${referRefundNo} ${status}`).toSorted(),
    )
  }
  const { rows } = await pool.query<{ payment_id: string; events: string[] }>(
    `select payment_id, array_agg(event_name order by event_name) as events from callbacks
      where merchant_id = $1 group by payment_id`,
    [merchant.merchantId],
  )
  const events = new Map(rows.map((row) => [row.payment_id, row.events]))
  for (const { paymentId, events: expected } of model.orders) {
    assert.deepEqual(events.get(paymentId) ?? [], expected.toSorted())
  }
}
