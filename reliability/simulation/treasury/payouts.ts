// Operators and payouts in a run: they pay merchants out by hand, send runs to the bank and say what the bank did; plans
// go on by themselves until the last day. A bank sends one payout in some back.

import type { PlanGiven } from '../../../packages/gateway/src/finance/payouts/manage-plans.ts'
import type { Payout } from '../../../packages/gateway/src/finance/payouts/rules/payout.ts'
import { untilAnswered, type World } from '../people.ts'

const booking = { reference: 'B', valueDate: '2027-01-31' } as const

export function planOf(merchantId: string, schedule: PlanGiven['schedule']): PlanGiven {
  const reserve = { fixedMinor: 700n, shareBasisPoints: 0, shareDays: 0 }
  return {
    merchantId,
    currency: 'USD',
    bankName: 'main',
    schedule,
    onDay: undefined,
    leastMinor: 1_000n,
    reserve,
  }
}

/** An operator pays a merchant out, so that some refunds find too little money. */
export async function payOut(world: World, idempotencyKey: string): Promise<void> {
  const seeded = world.seeded.stream(idempotencyKey)
  const { merchant } = seeded.pick(world.merchants)
  const amountMinor = BigInt(seeded.whole(100, 3_000))
  const payout = { merchantId: merchant.merchantId, currency: 'USD', amountMinor, bankName: 'main' }
  const answer = await untilAnswered({ world, seeded }, () =>
    world.call((gateway) => gateway.payouts.requestPayout(payout, { reason: 'simulation', idempotencyKey })),
  )
  if (answer.kind === 'answered') world.journal.payouts.push({ idempotencyKey, amountMinor })
}

/** Whatever is closed is sent, and whatever was sent before is paid, but for what comes back. */
export async function dealWithRuns(world: World, name: string): Promise<void> {
  const seeded = world.seeded.stream(name)
  const ask = <Result>(question: Parameters<typeof world.call<Result>>[0]) =>
    untilAnswered({ world, seeded }, () => world.call(question))
  const runs = await ask((gateway) => gateway.payoutRuns.listRuns({ limit: 200 }))
  if (runs.kind !== 'answered') return
  for (const { runId, closedAtMs, sentAtMs, ending } of runs.value.toReversed()) {
    if (closedAtMs === undefined || ending !== undefined) continue
    if (sentAtMs === undefined) {
      await ask((gateway) => gateway.payoutRuns.sendRun(runId, 'simulation'))
      continue
    }
    const payouts = await ask((gateway) =>
      gateway.payouts.listPayouts({ runId, status: 'sent' }, { limit: 50 }),
    )
    const back: Payout | undefined = payouts.kind === 'answered' ? payouts.value[0] : undefined
    if (back && seeded.isLucky(0.3))
      await ask((gateway) =>
        gateway.payouts.endPayout(
          back,
          { status: 'returned', outside: booking, message: 'closed' },
          'simulation',
        ),
      )
    await ask((gateway) =>
      gateway.payoutRuns.endRun(runId, { ending: 'paid', ...booking, message: undefined }, 'simulation'),
    )
  }
}

/** For good: until it is known to have happened. */
export async function endPlans(world: World): Promise<void> {
  for (const { merchant } of world.merchants)
    for (;;) {
      const seeded = world.seeded.stream('end of plans')
      const answer = await untilAnswered({ world, seeded }, () =>
        world.call((gateway) =>
          gateway.payoutPlans.setPlan(planOf(merchant.merchantId, 'hand'), 'simulation'),
        ),
      )
      if (answer.kind === 'answered') break
    }
}
