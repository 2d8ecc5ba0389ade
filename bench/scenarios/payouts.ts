// A run of payouts for very many merchants, beside the bare statements of the same rows; and what is left of the rate of
// orders while such a run goes on.

import { mostPayoutBatchesAtOnce } from '../../packages/gateway/src/app/job-table.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { makeRandom } from '../../packages/gateway/src/platform/runtime/node-workarounds/random.ts'
import { dayAfter, utcDay } from '../../packages/gateway/src/platform/runtime/utc.ts'
import { testOperations } from '../../packages/gateway/test/support/operations.ts'
import { addManyMerchants } from '../../packages/gateway/test/support/payouts.ts'
import { createBody } from '../bodies.ts'
import { inTurn, median, timed } from '../figures.ts'
import { load } from '../load.ts'
import { atLeast, atMost, type Measured, type Scenario, type Size } from '../scenario.ts'
import type { World } from '../world.ts'

const connections = 64

export const payouts: Scenario = {
  name: 'payouts to 100,000 merchants',
  yardstick: 'bare INSERTs and UPDATEs of the same rows',
  async run(world, size) {
    return [await measureRun(world, size), await measureOrders(world, size)]
  },
}

async function measureRun(world: World, size: Size): Promise<Measured> {
  const pool = world.openPool(await world.freshDatabase(), 4)
  const count = size.of(100_000, 15_000)
  const { operations } = testOperations(pool, { random: makeRandom() })
  const times = await inTurn(3, {
    ours: async () => {
      await fill(pool, count)
      return timed(async () => {
        while ((await operations.workPayouts({ batchesAtOnce: mostPayoutBatchesAtOnce })).more);
      })
    },
    bare: async () => {
      await fill(pool, count)
      return timed(() => bare(pool))
    },
  })
  const [ours, plain] = [median(times.ours), median(times.bare)]
  return {
    part: 'the run',
    goal: atMost(2),
    ratio: ours / plain,
    ours: `${(ours / 1_000).toFixed(1)} s`,
    yardstick: `${(plain / 1_000).toFixed(1)} s`,
    note: `${count} payouts`,
  }
}

async function measureOrders(world: World, size: Size): Promise<Measured> {
  const database = await world.freshDatabase()
  const pool = world.openPool(database, 2)
  const { url } = await world.startGateway(database)
  const creates = async (count: number) =>
    world.sealMany(
      'service.trade.create',
      Array.from({ length: count }, () => createBody()),
    )
  const rate = async () =>
    (await load(url, { requests: await creates(size.of(4_000, 1_500)), connections })).perSecond
  await rate()
  const rates: Record<'alone' | 'meanwhile', number[]> = { alone: [], meanwhile: [] }
  let paidOut = 0
  for (let round = 0; round < 3; round++) {
    await fill(pool, size.of(100_000, 15_000), dayAfter(utcDay(Date.now()), 1))
    rates.alone.push(await rate())
    await pool.query('update payout_plans set next_day = next_day - 1')
    await pool.query('vacuum payout_plans')
    await pool.query('checkpoint')
    while ((await countPayouts(pool)) === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    const before = await countPayouts(pool)
    rates.meanwhile.push(await rate())
    paidOut += (await countPayouts(pool)) - before
    await pool.query('update payout_plans set next_day = null')
  }
  const [alone, meanwhile] = [median(rates.alone), median(rates.meanwhile)]
  return {
    part: 'orders created meanwhile',
    goal: atLeast(0.9),
    ratio: meanwhile / alone,
    ours: `${meanwhile.toFixed(0)}/s`,
    yardstick: `${alone.toFixed(0)}/s without a run`,
    note: `${paidOut} payouts were made in those rounds`,
  }
}

async function countPayouts(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: string }>('select count(*) from payouts')
  return Number(rows[0]?.count)
}

async function fill(pool: Pool, count: number, day = utcDay(Date.now())): Promise<void> {
  // Bills too: the gateway makes them of what a round moved, once its time has come.
  await pool.query(`
truncate payouts, payout_runs, payout_plans, merchant_bank_accounts, transfers, accounts,
         bills, bill_totals, bill_parts, bill_turns`)
  await pool.query("delete from merchants where merchant_id like 'X%'")
  await addManyMerchants(pool, { count, day })
  for (const table of [
    'merchants',
    'payout_plans',
    'merchant_bank_accounts',
    'accounts',
    'payouts',
    'transfers',
  ])
    await pool.query(`vacuum analyze ${table}`)
}

/** What it comes to, as few statements as can be. */
async function bare(pool: Pool): Promise<void> {
  const runId = crypto.randomUUID()
  await pool.transaction(async (transaction) => {
    await transaction.query(
      `insert into payout_runs (run_id, bank_name, currency, day, part, created_at) values ($1, 'main', 'EUR', current_date, 1, 0)`,
      [runId],
    )
    await transaction.query(
      `insert into payouts (merchant_id, payout_id, run_id, plan_day, status, currency, amount_minor, account, requested_at)
       select p.merchant_id, 'T01K73ZQ800' || p.merchant_id, $1, p.next_day, 'requested', p.currency,
              a.credits_posted - a.debits_posted - a.debits_pending - p.reserve_minor,
              jsonb_build_object('holder', b.holder, 'iban', b.iban), 0
         from payout_plans p
         join accounts a on a.account_id = 'merchant:' || p.merchant_id || ':' || p.currency
         join merchant_bank_accounts b on b.merchant_id = p.merchant_id and b.currency = p.currency`,
      [runId],
    )
    await transaction.query(
      `insert into transfers (merchant_id, transfer_id, kind, phase, debit_account, credit_account, currency, amount_minor, made_at)
       select merchant_id, payout_id, 'payout', 'hold', 'merchant:' || merchant_id || ':' || currency,
              'bank:main:' || currency, currency, amount_minor, 0 from payouts`,
    )
    await transaction.query(
      `update accounts a set debits_pending = a.debits_pending + p.amount_minor from payouts p
        where a.account_id = 'merchant:' || p.merchant_id || ':' || p.currency`,
    )
    await transaction.query(
      `update accounts set credits_pending = credits_pending + (select sum(amount_minor) from payouts)
        where account_id = 'bank:main:EUR'`,
    )
    await transaction.query(
      `update payout_plans set next_day = next_day + 1, last_day = next_day, last_outcome = 'paid_out'`,
    )
  })
}
