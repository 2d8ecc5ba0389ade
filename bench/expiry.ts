// 100,000 orders that expire at once: how long the stored status takes to follow, beside the bare UPDATE and
// INSERTs of the same rows in one statement each: `node bench/expiry.ts`.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../packages/gateway/src/clock.ts'
import { startEmbedded } from '../packages/gateway/src/database/embedded.ts'
import { migrate } from '../packages/gateway/src/database/migrate.ts'
import { openPool, type Pool } from '../packages/gateway/src/database/pool.ts'
import { makeExpireOrders } from '../packages/gateway/src/operations/expire-orders.ts'
import { makeOrderStore } from '../packages/gateway/src/store/orders.ts'
import { median } from './load.ts'

const count = Number(process.env['COUNT'] ?? 100_000)
const rounds = 3
const dataDir = mkdtempSync(join(tmpdir(), 'tillgate-expiry-bench-'))
const embedded = await startEmbedded({ dataDir })
const pool = openPool(embedded.connection, { max: 4, statementTimeoutMs: 120_000 })
try {
  await migrate(pool, join(import.meta.dirname, '../packages/gateway/migrations'))
  const orders = makeOrderStore(pool)
  const expire = makeExpireOrders({ orders, clock: systemClock, random: randomBytes })
  const took: { ours: number[]; bare: number[]; turn: number[]; lookup: number[] } = {
    ours: [],
    bare: [],
    turn: [],
    lookup: [],
  }
  for (let round = 0; round < rounds; round++) {
    await fill(pool)
    took.ours.push(
      await timed(async () => {
        const looking = lookups()
        for (let more = true; more; ) {
          const began = performance.now()
          more = (await expire()).more
          took.turn.push(performance.now() - began)
        }
        await looking.stop()
      }),
    )
    await fill(pool)
    took.bare.push(await timed(() => bare(pool)))
  }
  const [ours, plain] = [median(took.ours), median(took.bare)]
  console.log(
    `${count} orders: ${(ours / 1000).toFixed(1)} s, bare ${(plain / 1000).toFixed(1)} s, ratio ${(ours / plain).toFixed(2)}; ` +
      `a batch ${median(took.turn).toFixed(0)} ms (longest ${Math.max(...took.turn).toFixed(0)}), ` +
      `a lookup meanwhile ${median(took.lookup).toFixed(1)} ms (longest ${Math.max(...took.lookup).toFixed(0)})`,
  )

  /** What the API does meanwhile: one lookup after another. */
  function lookups() {
    let stopped = false
    const looking = (async () => {
      while (!stopped) {
        took.lookup.push(
          await timed(() => orders.findOrder({ merchantId: '100000000000000001', paymentId: 'P1' })),
        )
      }
    })()
    return {
      stop: () => {
        stopped = true
        return looking
      },
    }
  }
} finally {
  await pool.close()
  await embedded.stop()
  rmSync(dataDir, { recursive: true })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function fill(pool: Pool): Promise<void> {
  await pool.query('truncate orders, order_history, callbacks, callback_queue, merchants cascade')
  await pool.query("insert into merchants values ('100000000000000001', 'Bench', 'active', null, null, 0)")
  await pool.query(
    `
insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency, payment_time,
                    expires_at, callback_url, content, checkout_token, created_at)
select '100000000000000001', 'P' || n, 'o' || n, 'pending', 'WEB', 100, 'USD', $2::bigint - 400000, $2::bigint - 100000,
       'http://127.0.0.1:9/', '{}', 't', $2::bigint
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
       select callback_id, merchant_id, '127.0.0.1:9', created_at from callbacks`,
    )
  })
}
