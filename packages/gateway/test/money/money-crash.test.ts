// Walks every point of paying and refunding at which a process or its connection can die, one after the other. After a
// restart there is one final status, one set of transfers and one callback of each kind, whatever the point was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Merchant } from '../../src/core/merchants/rules/merchant.ts'
import type { RailAnswer } from '../../src/core/orders/payments/rules/rail.ts'
import { leaseMs } from '../../src/core/orders/payments/settle.ts'
import type { Order } from '../../src/core/orders/rules/order.ts'
import { freshDatabase } from '../support/database.ts'
import { faultyPool } from '../support/faulty-pool.ts'
import { callbacksOf, heldClock, type Money, openMoney } from '../support/money.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const merchant = await openMoney(pool, { clock }).addMerchant()

interface Scene {
  readonly merchant: Merchant
  readonly order: Order
  readonly walletId: string
}

/** Every step is what a consumer, a merchant or a worker does, and does again when it got no answer. */
const steps: ((money: Money, scene: Scene) => Promise<unknown>)[] = [
  (money, { order, walletId }) => money.submitPayment({ ...order, walletId }),
  (money) => money.settle(),
  (money, { order, merchant }) => money.refundOrder(merchant, refundBody(order)),
  (money) => money.settle(),
]

function refundBody({ paymentId }: Order): string {
  return JSON.stringify({ paymentId, referRefundNo: `refund of ${paymentId}`, refundAmount: '4.00' })
}

for (const [ending, answer] of Object.entries({
  approves: { kind: 'approved' },
  declines: { kind: 'declined', reason: 'No.' },
} as const satisfies Record<string, RailAnswer>)) {
  for (const dies of ['process', 'connection'] as const) {
    test(`the ${dies} dies at every point while the rail ${ending}: all ends well, and once`, async () => {
      let points = 0
      for (let atPoint = 1; ; atPoint++) {
        const reached = await walk(atPoint)
        if (!reached) break
        points = atPoint
      }
      // Fewer would mean that the walk does not see the statements any more.
      assert.ok(points > 30, `${points} points`)
      assert.deepEqual(await openMoney(pool, { clock }).verify(), [])

      async function walk(atPoint: number): Promise<boolean> {
        const rail = { authorise: async () => answer, refund: async () => answer }
        const sound = openMoney(pool, { clock, rail })
        const walletId = await sound.addWallet(1_000n)
        const scene = { merchant, order: await sound.addOrder(merchant, { amountMinor: 1_000n }), walletId }
        const faulty = faultyPool(pool, { atPoint, dies })
        let money = openMoney(faulty.pool, { clock, rail })
        for (const step of steps) {
          const failedBefore = faulty.hasFailed()
          await step(money, scene).catch(() => {})
          if (failedBefore || !faulty.hasFailed()) continue
          // The restart, after which whoever got no answer asks again.
          if (dies === 'process') money = sound
          clock.advance(leaseMs)
          await step(money, scene).catch((error: Error) => assert.equal(error.name, 'Failure'))
        }
        // Claims of the dead end with their lease.
        clock.advance(leaseMs)
        await sound.settle()
        await checkEnd(sound, scene)
        return faulty.hasFailed()
      }
    })

    async function checkEnd(money: Money, { order, walletId }: Scene): Promise<void> {
      const isApproved = ending === 'approves'
      const { paymentId } = order
      const answer = await money.queryOrder(merchant, JSON.stringify({ paymentId }))
      assert.equal(answer.paymentStatus, isApproved ? 'success' : 'failed')
      const callbacks = await callbacksOf(pool, order)
      const { rows: transfers } = await pool.query<{ what: string }>(
        `select kind || ' ' || phase as what from transfers where payment_id = $1 order by made_at, kind, phase`,
        [paymentId],
      )
      assert.deepEqual(
        transfers.map(({ what }) => what).toSorted(),
        isApproved
          ? ['payment hold', 'payment post', 'refund hold', 'refund post']
          : ['payment hold', 'payment void'],
      )
      assert.deepEqual(
        callbacks.map(({ eventName }) => eventName).toSorted(),
        isApproved
          ? ['payment.order.confirming', 'payment.order.success', 'payment.refund.success']
          : ['payment.order.confirming', 'payment.order.failed'],
      )
      assert.equal(answer.status, isApproved ? 'refund_success' : 'failed')
      assert.equal(await money.balanceOf(walletId), isApproved ? 400n : 1_000n)
    }
  }
}
