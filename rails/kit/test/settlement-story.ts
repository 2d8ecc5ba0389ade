// Days with a provider in the books: the provider collects, refunds, and settles less its fees; the gateway reads its
// report and the bank statement. Every day closes with nothing unexplained.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { signWebhook } from '@tillgate/protocol'
import { noExtras } from '../../../packages/gateway/src/actions/rails/rail-actions.ts'
import { settlementColumns } from '../../../packages/gateway/src/finance/reconciliation/fetch-settlements.ts'
import { actingAs } from '../../../packages/gateway/test/support/acting.ts'
import { freshDatabase } from '../../../packages/gateway/test/support/database.ts'
import { heldClock } from '../../../packages/gateway/test/support/money.ts'
import { testIban } from '../../../packages/gateway/test/support/payouts.ts'
import { openRails } from '../../../packages/gateway/test/support/rails.ts'
import { fileOf } from '../../../reliability/reconciliation/planted-month.ts'
import { camt053 } from '../../../reliability/reconciliation/statement-files.ts'
import { makeLog } from '../src/log.ts'
import type { Provider } from '../src/provider.ts'
import { openRail } from '../src/run-rail.ts'
import { changed } from './stories.ts'
import { type RailUnderTest, railDatabaseUrl } from './world.ts'

const hour = 3_600_000
const monday = '2026-11-16'
const tuesday = '2026-11-17'
const wednesday = '2026-11-18'

export async function testSettlements(given: RailUnderTest): Promise<void> {
  const { currency } = given
  const railId = 'provider'

  async function openDays(plant: (provider: Provider) => Provider = (provider) => provider) {
    const { pool } = await freshDatabase()
    const clock = heldClock(Date.parse(`${monday}T09:00:00Z`))
    const testClock = {
      get nowMs() {
        return clock.now()
      },
    }
    const fake = await given.openFake(testClock)
    const gateway = await openRails(pool, { clock })
    const { operations, money } = gateway
    const { banks, rails, reconciliation, disputes } = actingAs(operations, 'test')
    await banks.changeBank(
      'main',
      { holder: 'Shop', iban: testIban, lines: undefined, bic: undefined },
      'test',
    )
    const log: string[] = []
    const settings = { ...noExtras, name: 'Provider', currencies: [currency] }
    const { secret } = await rails.addRail(railId, { ...settings, url: 'http://127.0.0.1:1/' }, 'test')
    const rail = await openRail({
      schema: `settlements_${given.name}_${process.pid}`,
      provider: plant(given.makeProvider(fake, clock.now)),
      databaseUrl: await railDatabaseUrl(),
      secrets: [secret],
      host: '127.0.0.1',
      port: 0,
      now: clock.now,
      log: makeLog({ write: (line) => log.push(line), now: clock.now, secrets: [] }),
      everyMs: 0,
    })
    after(async () => {
      await rail.close()
      await fake.close()
    })
    fake.webhookUrl = `${rail.url}/webhooks`
    await rails.changeRail(railId, { url: `${rail.url}/messages` }, 'test')
    operations.railDirectory.forget()
    await reconciliation.mappings.saveMapping(
      { mappingName: railId, account: `rail:${railId}`, settlesTo: 'main', columns: settlementColumns },
      'test',
    )
    const merchant = await money.addMerchant()

    async function turnsUntil(isSo: () => Promise<boolean>): Promise<void> {
      for (let turns = 0; turns < 100; turns++) {
        if (await isSo()) return
        clock.advance(60_000)
        await gateway.turn()
      }
      assert.fail(log.join(''))
    }

    const balanceOf = async (ownerKind: 'rail' | 'rail_fees' | 'bank' | 'disputes', ownerId: string) => {
      const [account] = (await money.treasury.listAccounts({ ownerKind, ownerId })).filter(
        (each) => each.currency === currency,
      )
      return (account?.creditsPostedMinor ?? 0n) - (account?.debitsPostedMinor ?? 0n)
    }

    /** The merchant's evidence reaches the provider, where the rail passes it on. */
    async function answer(reference: string): Promise<void> {
      if (!given.disputes?.accepts.includes('evidence')) return
      const { rows } = await pool.query<{ dispute_id: string }>(
        'select dispute_id from disputes where reference = $1',
        [reference],
      )
      const key = { merchantId: merchant.merchantId, disputeId: rows[0]?.dispute_id ?? '' }
      const evidence = { text: 'It was delivered.', file: Buffer.from('%PDF-1.7 receipt') }
      await disputes.sendEvidence(key, evidence)
      await turnsUntil(async () => fake.disputes?.evidence(reference).length === 1)
      assert.deepEqual(fake.disputes?.evidence(reference), ['It was delivered. · %PDF-1.7 receipt'])
    }

    return {
      ...{ clock, fake, log, operations, reconciliation, balanceOf, verify: () => money.verify() },

      async pay(amountMinor: bigint): Promise<string> {
        const order = await money.addOrder(merchant, { amountMinor, currency, lifeMs: 12 * hour })
        const begun = await operations.payByRail.start({ ...order, railId, locale: 'en' })
        assert(begun.kind === 'started', begun.kind)
        const { transactionId, nextAction } = begun.attempt
        if (nextAction?.kind === 'redirect') await fake.open?.(nextAction.url)
        await fake.consumer(transactionId, 'pays')
        await turnsUntil(async () => (await money.orders.findOrder(order))?.status === 'success')
        return order.paymentId
      },

      async refund(paymentId: string, refundAmount: string): Promise<void> {
        const body = { paymentId, referRefundNo: `R-${paymentId}`, refundAmount }
        const { refundId } = await money.refundOrder(merchant, JSON.stringify(body))
        await turnsUntil(async () => {
          const { rows } = await pool.query('select status from refunds where refund_id = $1', [refundId])
          return rows[0]?.['status'] === 'refund_success'
        })
      },

      /** The bank takes back a part of the last payment, and the gateway learns how it ended. */
      async dispute(amountMinor: bigint, result: 'won' | 'lost'): Promise<void> {
        const { transactionId } = fake.payments().at(-1) ?? {}
        assert(fake.disputes && transactionId !== undefined)
        const disputeId = await fake.disputes.open(transactionId, Number(amountMinor))
        for (const next of [given.disputes?.begin, result]) {
          if (next !== given.disputes?.begin) await fake.disputes.decide(disputeId, result)
          await rail.work()
          const type = `dispute.${next === 'open' ? 'opened' : next}`
          const body: string = JSON.stringify({ type, version: 1, disputeId, transactionId })
          const headers = signWebhook(
            { id: `${disputeId} ${type}`, body },
            { secrets: [secret], nowMs: clock.now() },
          )
          assert.equal(await operations.handleRailNotification({ railId, headers, body }), 'heard')
          await turnsUntil(async () => {
            const { rows } = await pool.query('select status from disputes where reference = $1', [disputeId])
            return rows[0]?.['status'] === next
          })
          if (next === 'open' && result === 'won') await answer(disputeId)
        }
      },

      /** Wednesday morning: the provider's report, and Tuesday's bank statement. */
      async reconcile(payout: { readonly batch: string; readonly netMinor: bigint }): Promise<void> {
        clock.advance(Date.parse(`${wednesday}T06:00:00Z`) - clock.now())
        operations.railDirectory.forget()
        assert.equal(await operations.fetchSettlements(), 1, log.join(''))
        const line = { reference: 'B1', day: tuesday, amountMinor: payout.netMinor, text: payout.batch }
        const days = { from: tuesday, through: tuesday, openingMinor: 0n, lines: [line] }
        const text = camt053({ iban: testIban, currency, version: 8, ...days })
        await reconciliation.importStatement({ file: fileOf('bank', text), reason: 'test' })
      },
    }
  }

  const openBreaks = async ({ reconciliation }: Awaited<ReturnType<typeof openDays>>) =>
    (await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })).map(
      ({ kind, account, amountMinor }) => [kind, account, amountMinor],
    )

  async function assertExplained(days: Awaited<ReturnType<typeof openDays>>): Promise<void> {
    assert.deepEqual(await openBreaks(days), [])
    const { reconciliation } = days
    for (const [account, day] of [
      [`rail:${railId}`, monday],
      ['bank:main', tuesday],
    ] as const)
      for (const closed of await reconciliation.days.closeDay({ account, currency }, day, 'test'))
        assert.deepEqual([closed.day, closed.unexplainedMinor, closed.breaks], [day, 0n, 0], account)
  }

  test(`${given.name}: its report and the bank's statement explain every cent, and its fees are booked`, async () => {
    const days = await openDays()
    const { fake, operations, balanceOf, clock } = days
    await days.pay(10_000n)
    const paymentId = await days.pay(2_550n)
    await days.pay(700n)
    await days.refund(paymentId, '5.50')
    clock.advance(Date.parse(`${tuesday}T05:00:00Z`) - clock.now())
    const payout = await fake.payOut?.()
    assert(payout && payout.feeMinor > 0n)
    assert.equal(payout.netMinor + payout.feeMinor, 12_700n)
    await days.reconcile(payout)
    assert.deepEqual(
      [
        await balanceOf('rail', railId),
        await balanceOf('rail_fees', railId),
        await balanceOf('bank', 'main'),
      ],
      [0n, -payout.feeMinor, -payout.netMinor],
    )
    await assertExplained(days)
    clock.advance(24 * hour)
    assert.equal(await operations.fetchSettlements(), 0, 'the same report again')
    assert.deepEqual(await openBreaks(days), [])
    assert.deepEqual(await days.verify(), [])
  })

  if (given.disputes)
    test(`${given.name}: a chargeback and a reversal in its report are explained as well`, async () => {
      const days = await openDays()
      const { fake, balanceOf, clock } = days
      await days.pay(10_000n)
      await days.dispute(4_000n, 'lost')
      await days.pay(2_550n)
      if (!given.disputes?.hidesReversals) await days.dispute(2_550n, 'won')
      clock.advance(Date.parse(`${tuesday}T05:00:00Z`) - clock.now())
      const payout = await fake.payOut?.()
      assert(payout)
      assert.equal(payout.netMinor + payout.feeMinor, 8_550n)
      await days.reconcile(payout)
      await assertExplained(days)
      assert.deepEqual(
        [
          await balanceOf('rail', railId),
          await balanceOf('disputes', railId),
          await balanceOf('rail_fees', railId),
          await balanceOf('bank', 'main'),
        ],
        [0n, 0n, -payout.feeMinor, -payout.netMinor],
      )
      assert.deepEqual(await days.verify(), [])
    })

  test(`${given.name}: a report that leaves out what the provider keeps does not explain the bank's line`, async () => {
    const days = await openDays((provider) =>
      changed(provider, {
        async readSettlements(wanted) {
          const page = await provider.readSettlements?.(wanted)
          const lines = (page?.lines ?? []).map((line) => ({ ...line, feeMinor: 0n }))
          return { ...page, lines }
        },
      }),
    )
    await days.pay(10_000n)
    days.clock.advance(Date.parse(`${tuesday}T05:00:00Z`) - days.clock.now())
    const payout = await days.fake.payOut?.()
    assert(payout)
    await days.reconcile(payout)
    assert.notDeepEqual(await openBreaks(days), [])
    assert.equal(await days.balanceOf('rail_fees', railId), 0n)
    assert.deepEqual(await days.verify(), [])
  })
}
