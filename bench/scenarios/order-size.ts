// What an order costs on the disk, in tables and indexes, with its history, its ledger rows and its two callbacks
// delivered at the first attempt; how much of the log is written for it; how large a backup of it is, and how long
// backup, restore and pruning take.
import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makePaymentId } from '@tillgate/protocol'
import { makePurgeCallbacks } from '../../packages/gateway/src/core/callbacks/purge-callbacks.ts'
import { makeCallbackHistory } from '../../packages/gateway/src/core/callbacks/store/callback-history.ts'
import { makeOrder } from '../../packages/gateway/src/core/orders/rules/order.ts'
import { writeBackup } from '../../packages/gateway/src/platform/database/backup/backup.ts'
import {
  readBackupFile,
  writeBackupFile,
} from '../../packages/gateway/src/platform/database/backup/backup-file.ts'
import { restoreBackup } from '../../packages/gateway/src/platform/database/backup/restore.ts'
import { makePartitions } from '../../packages/gateway/src/platform/database/partitions.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { systemClock } from '../../packages/gateway/src/platform/runtime/clock.ts'
import { openMoney } from '../../packages/gateway/test/support/money.ts'
import { timed } from '../figures.ts'
import { atMost, figure, type Scenario } from '../scenario.ts'
import { migrations } from '../world.ts'

const batch = 50
const goalBytes = { disk: 4_500, wal: 4_800 }
const historyDays = 90
const dayMs = 86_400_000

export const orderSize: Scenario = {
  name: 'a paid order with two callbacks',
  yardstick: '',
  async run(world, size) {
    const count = size.of(5_000, 1_000)
    const pool = world.openPool(await world.freshDatabase(), 8)
    const walBytes = await walOf(pool, () => fill(pool, count))
    await pool.query('vacuum analyze')
    const tables = await readSizes(pool, count)
    const each = (bytes: number) => Math.round(bytes / count)
    const bytes = each(sum(tables.map((table) => table.table + table.indexes)))

    const file = join(world.dataDir, 'backup.gz')
    const backupMs = await timed(() =>
      writeBackupFile(file, (write) => writeBackup(pool, { madeAtMs: Date.now(), madeBy: 'bench', write })),
    )
    const restored = world.openPool(await world.emptyDatabase())
    const restoreMs = await timed(() =>
      restoreBackup(restored, {
        lines: readBackupFile(file),
        migrationsFolder: migrations,
        nowMs: Date.now(),
        checkHeader: () => {},
      }),
    )
    const fileBytes = statSync(file).size
    rmSync(file)
    const pruneMs = await timed(() => prune(pool))
    await pool.query('vacuum full')
    const left = sum((await readSizes(pool, count)).map((table) => table.table + table.indexes))
    const rate = (tookMs: number) => `${Math.round((count / tookMs) * 1_000)} orders/s`
    return [
      {
        part: 'bytes on the disk',
        goal: atMost(1),
        ratio: bytes / goalBytes.disk,
        ours: `${bytes} bytes`,
        yardstick: `${goalBytes.disk} bytes`,
        note: tables
          .map((table) => `${table.name} ${each(table.table)} + ${each(table.indexes)} in indexes`)
          .join(', '),
      },
      {
        part: 'bytes of WAL, full pages after a checkpoint apart',
        goal: atMost(1),
        ratio: each(walBytes) / goalBytes.wal,
        ours: `${each(walBytes)} bytes`,
        yardstick: `${goalBytes.wal} bytes`,
      },
      figure(`backup, ${each(fileBytes)} bytes an order`, rate(backupMs)),
      figure('restore', rate(restoreMs)),
      figure(`pruning without breaths, ${each(left)} bytes an order stay`, rate(pruneMs)),
    ]
  },
}

/** What the work writes to the log, full pages left out: how many of them there are depends on the checkpoints. */
async function walOf(pool: Pool, work: () => Promise<unknown>): Promise<number> {
  await pool.query('checkpoint')
  await pool.query("select pg_stat_reset_shared('wal')")
  await pool.query('alter system set full_page_writes = off')
  await pool.query('select pg_reload_conf()')
  await work()
  await pool.query('select pg_stat_force_next_flush()')
  const { rows } = await pool.query<{ bytes: string }>('select wal_bytes as bytes from pg_stat_wal')
  await pool.query('alter system reset full_page_writes')
  await pool.query('select pg_reload_conf()')
  return Number(rows[0]?.bytes)
}

/** All orders of a batch are paid at the same moment. */
async function fill(pool: Pool, count: number): Promise<void> {
  const money = openMoney(pool, { clock: systemClock })
  const merchants = await Promise.all(Array.from({ length: 10 }, () => money.addMerchant()))
  const walletId = await money.addWallet(BigInt(count) * 2_000n)
  for (let done = 0; done < count; done += batch) {
    const orders = Array.from({ length: batch }, (_, at) =>
      orderOf(merchants[at % merchants.length]?.merchantId ?? '', done + at),
    )
    await Promise.all(orders.map((order) => money.orders.insertOrder(order)))
    await Promise.all(orders.map((order) => money.submitPayment({ ...order, walletId })))
    while ((await money.settle()) > 0);
    await deliverAll(pool)
  }
}

function orderOf(merchantId: string, number: number) {
  const nowMs = Date.now()
  return makeOrder(
    {
      order: {
        orderNo: `2026-11-${String(number).padStart(8, '0')}`,
        orderAmountMinor: 1_250n,
        orderDescription: 'Two things from the shop',
        goods: [
          {
            referenceGoodsId: 'SKU-20391',
            goodsName: 'Green tea, 250 g',
            goodsAmountMinor: 500n,
            goodsQuantity: 2,
          },
          {
            referenceGoodsId: 'SKU-11873',
            goodsName: 'Cup, white',
            goodsAmountMinor: 250n,
            goodsQuantity: 1,
          },
        ],
      },
      channel: 'WEB',
      paymentAmountMinor: 1_250n,
      currency: 'USD',
      paymentTimeMs: nowMs,
      paymentExpiryTimeMs: nowMs + 1_800_000,
      callbackUrl: 'https://shop.example.com/payments/callback',
      redirectUrl: 'https://shop.example.com/orders/thanks',
    },
    { merchantId, paymentId: makePaymentId(nowMs, randomBytes), nowMs },
  )
}

/** As a worker leaves it when the merchant answered at once. */
async function deliverAll(pool: Pool): Promise<void> {
  await pool.query(`
insert into callback_attempts (merchant_id, callback_id, attempt, started_at, duration_ms, outcome, http_status, answer, is_resend)
select c.merchant_id, c.callback_id, 1, c.created_at, 42, 'acknowledged', 200, '{"code":20000,"msg":""}', false
  from callbacks c join callback_queue q using (merchant_id, callback_id)`)
  await pool.query('delete from callback_queue')
}

/** When all partitions of today's attempts are past. */
async function prune(pool: Pool): Promise<void> {
  const nowMs = Date.now() + 160 * dayMs
  const tidy = makePurgeCallbacks({
    history: makeCallbackHistory(pool),
    makeEmails: () => [],
    historyDays,
    clock: { ...systemClock, now: () => nowMs },
  })
  while ((await tidy()).more);
  await makePartitions(pool).keep('callback_attempts', { nowMs, keptSinceMs: nowMs - historyDays * dayMs })
}

/** Of the tables that have a row for each order. */
async function readSizes(
  pool: Pool,
  count: number,
): Promise<{ name: string; table: number; indexes: number }[]> {
  const { rows } = await pool.query<Record<'name' | 'table' | 'indexes', string>>(`
select relname as name, pg_table_size(oid) as table, pg_indexes_size(oid) as indexes
  from pg_class
 where relnamespace = 'public'::regnamespace and relkind = 'r' and reltuples >= ${count}
 order by pg_total_relation_size(oid) desc`)
  return rows.map((row) => ({ name: row.name, table: Number(row.table), indexes: Number(row.indexes) }))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
