// What an order costs on the disk, in tables and indexes, with its history, its ledger rows and its two callbacks
// delivered at the first attempt; and how large a backup of it is, and how long backup and restore take:
// `node bench/order-size.ts`.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makePaymentId } from '@tillgate/protocol'
import { makeCallbackHistory } from '../packages/gateway/src/callbacks/store/callback-history.ts'
import { makeTidyCallbacks } from '../packages/gateway/src/callbacks/tidy-callbacks.ts'
import { writeBackup } from '../packages/gateway/src/database/backup/backup.ts'
import { readBackupFile, writeBackupFile } from '../packages/gateway/src/database/backup/backup-file.ts'
import { restoreBackup } from '../packages/gateway/src/database/backup/restore.ts'
import { startEmbedded } from '../packages/gateway/src/database/embedded/embedded.ts'
import { migrate } from '../packages/gateway/src/database/migrate.ts'
import { makePartitions } from '../packages/gateway/src/database/partitions.ts'
import { openPool, type Pool } from '../packages/gateway/src/database/pool.ts'
import { makeOrder } from '../packages/gateway/src/orders/rules/order.ts'
import { systemClock } from '../packages/gateway/src/platform/clock.ts'
import { openMoney } from '../packages/gateway/test/support/money.ts'

const count = Number(process.env['COUNT'] ?? 5_000)
const batch = 50
const migrationsFolder = join(import.meta.dirname, '../packages/gateway/migrations')
const folder = mkdtempSync(join(tmpdir(), 'tillgate-size-bench-'))
const embedded = await startEmbedded({ dataDir: join(folder, 'data') })
const pool = openPool(embedded.connection, { max: 8, statementTimeoutMs: 120_000 })
try {
  await migrate(pool, migrationsFolder)
  const wal = await walOf(fill)
  await pool.query('vacuum analyze')
  const sizes = await readSizes(pool)
  console.log(`bytes an order, ${count} paid orders, each with two goods and two delivered callbacks:`)
  for (const { name, table, indexes, rows } of sizes)
    console.log(
      `  ${name.padEnd(20)} ${per(table)} in the table, ${per(indexes)} in indexes, ${(rows / count).toFixed(1)} rows`,
    )
  const [tables, indexes] = [sum(sizes.map(({ table }) => table)), sum(sizes.map((each) => each.indexes))]
  console.log(`  in all ${per(tables + indexes)}: ${per(tables)} in tables, ${per(indexes)} in indexes`)
  console.log(`  ${per(wal)} of WAL, full pages after a checkpoint apart`)

  const file = join(folder, 'backup.gz')
  const wrote = await timed(() =>
    writeBackupFile(file, (write) => writeBackup(pool, { madeAtMs: Date.now(), madeBy: 'bench', write })),
  )
  console.log(`backup: ${per(statSync(file).size)} bytes an order, ${rate(wrote)} orders a second`)
  await pool.query('create database restored')
  const other = openPool({ ...embedded.connection, database: 'restored' } as typeof embedded.connection)
  const restored = await timed(() =>
    restoreBackup(other, {
      lines: readBackupFile(file),
      migrationsFolder,
      nowMs: Date.now(),
      checkHeader: () => {},
    }),
  )
  await other.close()
  console.log(`restore: ${rate(restored)} orders a second`)

  // All partitions of today's attempts are past by then.
  const later = { ...systemClock, now: () => Date.now() + 160 * 86_400_000 }
  const tidy = makeTidyCallbacks({ history: makeCallbackHistory(pool), historyDays: 90, clock: later })
  let pruned = 0
  const took = await timed(async () => {
    for (let more = true; more; ) {
      const tidied = await tidy()
      pruned += tidied.pruned
      more = tidied.more
    }
    const nowMs = later.now()
    await makePartitions(pool).keep('callback_attempts', { nowMs, keptSinceMs: nowMs - 90 * 86_400_000 })
  })
  await pool.query('vacuum full')
  const left = await readSizes(pool)
  console.log(
    `prune: ${Math.round((pruned / took) * 1000)} callbacks a second without breaths; ${per(sum(left.map(({ table, indexes }) => table + indexes)))} bytes an order stay`,
  )
} finally {
  await pool.close()
  await embedded.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** What the work writes to the log, full pages left out: how many of them there are depends on the checkpoints. */
async function walOf(work: () => Promise<unknown>): Promise<number> {
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

async function fill(): Promise<void> {
  const money = openMoney(pool, { clock: systemClock })
  const merchants = await Promise.all(Array.from({ length: 10 }, () => money.addMerchant()))
  const walletId = await money.addWallet(BigInt(count) * 2_000n)
  for (let done = 0; done < count; done += batch) {
    const orders = Array.from({ length: batch }, (_, at) => {
      const nowMs = Date.now()
      const { merchantId } = merchants[at % merchants.length] ?? { merchantId: '' }
      return makeOrder(
        {
          order: {
            orderNo: `2026-11-${String(done + at).padStart(8, '0')}`,
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
        {
          merchantId,
          paymentId: makePaymentId(nowMs, randomBytes),
          nowMs,
        },
      )
    })
    await Promise.all(orders.map((order) => money.orders.insertOrder(order)))
    await Promise.all(orders.map((order) => money.submitPayment({ ...order, walletId })))
    while ((await money.settle()) > 0);
    await deliverAll()
  }
}

/** As a worker leaves it when the merchant answered at once. */
async function deliverAll(): Promise<void> {
  await pool.query(`
insert into callback_attempts (merchant_id, callback_id, attempt, started_at, duration_ms, outcome, http_status, answer, is_resend)
select c.merchant_id, c.callback_id, 1, c.created_at, 42, 'acknowledged', 200, '{"code":20000,"msg":""}', false
  from callbacks c join callback_queue q using (merchant_id, callback_id)`)
  await pool.query('delete from callback_queue')
}

async function readSizes(
  database: Pool,
): Promise<{ name: string; table: number; indexes: number; rows: number }[]> {
  const { rows } = await database.query<Record<'name' | 'table' | 'indexes' | 'rows', string>>(`
select relname as name, pg_table_size(oid) as table, pg_indexes_size(oid) as indexes, reltuples::bigint as rows
  from pg_class
 where relnamespace = 'public'::regnamespace and relkind = 'r' and reltuples >= ${count}
 order by pg_total_relation_size(oid) desc`)
  return rows.map((row) => ({
    name: row.name,
    table: Number(row.table),
    indexes: Number(row.indexes),
    rows: Number(row.rows),
  }))
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function per(bytes: number): string {
  return String(Math.round(bytes / count)).padStart(5)
}

function rate(tookMs: number): number {
  return Math.round((count / tookMs) * 1000)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
