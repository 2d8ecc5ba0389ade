// Many orders that expire at once: how long the stored status takes to follow, beside the bare UPDATE and INSERTs of the
// same rows in one statement each.
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { testOperations } from '../../packages/gateway/test/support/operations.ts'
import { inTurn, median, timed } from '../figures.ts'
import { atMost, type Scenario } from '../scenario.ts'

export const expiry: Scenario = {
  name: 'expiry of 100,000 orders at once',
  yardstick: 'bare UPDATE and INSERTs of the same rows',
  goal: atMost(2),
  async run(world, size) {
    const pool = world.openPool(await world.freshDatabase(), 4)
    const count = size.of(100_000, 15_000)
    const { stores, operations } = testOperations(pool)
    const lookupMs: number[] = []
    const times = await inTurn(3, {
      ours: async () => {
        await fill(pool, count)
        return timed(async () => {
          let more = true
          const looking = lookUp(() => more)
          while (more) more = (await operations.expireOrders()).more
          await looking
        })
      },
      bare: async () => {
        await fill(pool, count)
        return timed(() => bare(pool))
      },
    })
    const [ours, plain] = [median(times.ours), median(times.bare)]
    return [
      {
        ratio: ours / plain,
        ours: `${(ours / 1_000).toFixed(1)} s`,
        yardstick: `${(plain / 1_000).toFixed(1)} s`,
        note: `${count} orders; a lookup meanwhile took ${median(lookupMs).toFixed(1)} ms, the longest ${Math.max(...lookupMs).toFixed(0)}`,
      },
    ]

    /** What the API does meanwhile: one lookup after another. */
    async function lookUp(isGoingOn: () => boolean): Promise<void> {
      while (isGoingOn())
        lookupMs.push(await timed(() => stores.orders.findOrder({ merchantId, paymentId: 'P1' })))
    }
  },
}

const merchantId = '100000000000000001'

async function fill(pool: Pool, count: number): Promise<void> {
  await pool.query('truncate orders, order_history, callbacks, callback_queue, merchants cascade')
  await pool.query("insert into merchants values ('100000000000000001', 'Bench', 'active', null, null, 0)")
  await pool.query(
    `
insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency, payment_time,
                    expires_at, callback_url, content, created_at)
select '100000000000000001', 'P' || n, 'o' || n, 'pending', 'WEB', 100, 'USD', $2::bigint - 400000, $2::bigint - 100000,
       'http://127.0.0.1:9/', '{}', $2::bigint
  from generate_series(1, $1::int) as n`,
    [count, Date.now()],
  )
  await pool.query('vacuum analyze orders')
}

async function bare(pool: Pool): Promise<void> {
  await pool.transaction(async (transaction) => {
    await transaction.query(
      "update orders set status = 'timeout', completed_at = expires_at, message = 'The order was not paid in time.'",
    )
    await transaction.query(
      `insert into order_history (merchant_id, payment_id, to_status, from_status, changed_at, actor)
       select merchant_id, payment_id, 'timeout', 'pending', expires_at, 'gateway' from orders`,
    )
    await transaction.query(
      `insert into callbacks (merchant_id, callback_id, payment_id, event_name, callback_url, host, body, created_at,
                              next_attempt_at)
       select merchant_id, gen_random_uuid(), payment_id, 'payment.order.timeout', callback_url,
              '127.0.0.1:9', repeat('x', 330), expires_at, expires_at from orders`,
    )
    await transaction.query(
      `insert into callback_queue (callback_id, merchant_id, host, due_at)
       select callback_id, merchant_id, '127.0.0.1:9', created_at from callbacks_with_progress`,
    )
  })
}
