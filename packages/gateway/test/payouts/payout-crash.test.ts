// A run from plan to bank, killed or cut off at every single statement: after a restart each merchant is paid once, what
// came back is there once, and the books are proved.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Payout } from '../../src/finance/payouts/rules/payout.ts'
import { utcDay } from '../../src/platform/runtime/utc.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { faultyPool } from '../support/faulty-pool.ts'
import { heldClock, type Money, openMoney } from '../support/money.ts'
import { addPaidMerchant, availableOf, planFor, workOff } from '../support/payouts.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
const good = openMoney(pool, { clock })
const booking = { reference: 'B-1', valueDate: '2026-11-18' }

/** As far as it comes; what is there already is gone on with. */
async function payOut(of: Money): Promise<void> {
  const { payouts, payoutRuns } = actingAs(of.operations, 'test')
  await workOff(of)
  const made: Payout[] = []
  for (const merchantId of merchantIds)
    made.push(...(await payouts.listPayouts({ merchantId }, { limit: 9 })))
  const [first] = made
  assert.ok(first)
  const { run } = await payoutRuns.showRun(first.runId)
  if (run.sentAtMs === undefined) await payoutRuns.sendRun(run.runId, 'test')
  if ((await payouts.findPayout(first)).status === 'sent')
    await payouts.endPayout(first, { status: 'returned', outside: booking, message: 'closed' }, 'test')
  if (run.ending === undefined)
    await payoutRuns.endRun(run.runId, { ending: 'paid', ...booking, message: undefined }, 'test')
  await workOff(of)
}

const merchantIds: string[] = []
for (let index = 0; index < 2; index++)
  merchantIds.push((await addPaidMerchant(good, { minor: 1_000_000n })).merchantId)

/** True: the scenario has no such point. */
async function survives(atPoint: number, dies: 'process' | 'connection'): Promise<boolean> {
  const { payouts, payoutPlans } = actingAs(good.operations, 'test')
  const before: bigint[] = []
  for (const merchantId of merchantIds) {
    const available = await availableOf(good, merchantId)
    before.push(available)
    const reserve = { fixedMinor: available - 1_000n, shareBasisPoints: 0, shareDays: 0 }
    await payoutPlans.setPlan(planFor(merchantId, { schedule: 'hand', reserve }), 'test')
  }
  clock.advance(86_400_000)
  await payoutPlans.startRun('main', 'USD', 'test')
  const { pool: broken, hasFailed } = faultyPool(pool, { atPoint, dies })
  await payOut(openMoney(broken, { clock })).catch(() => {})
  const where = `${dies} at ${atPoint}`
  if (hasFailed()) await payOut(openMoney(pool, { clock }))
  for (const [index, merchantId] of merchantIds.entries()) {
    const made = (await payouts.listPayouts({ merchantId }, { limit: 9 })).filter(isOfToday)
    assert.deepEqual(
      made.map(({ status, amountMinor }) => [status, amountMinor]),
      [[index === 0 ? 'returned' : 'paid', 1_000n]],
      where,
    )
    const taken = (before[index] ?? 0n) - (await availableOf(good, merchantId))
    assert.equal(taken, index === 0 ? 0n : 1_000n, where)
  }
  return !hasFailed()
}

function isOfToday({ planDay }: Payout): boolean {
  return planDay === utcDay(clock.now())
}

for (const dies of ['process', 'connection'] as const)
  test(`whatever statement the ${dies} dies at, each is paid once and what came back is there once`, async () => {
    let points = 0
    while (!(await survives(points + 1, dies))) points += 1
    assert(points > 40, `${points} points`)
    assert.deepEqual(await good.verify(), [])
  })
