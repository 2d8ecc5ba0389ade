// How long the portal's pages take for a merchant with a million orders beside ten thousand others: a gateway on a private
// PostgreSQL, filled straight into the tables, each page loaded over HTTP. `node bench/portal-pages.ts [orders] [merchants]`
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { bindMode } from '../packages/gateway/src/database/mode.ts'
import { openDatabase } from '../packages/gateway/src/database/open-database.ts'
import type { Pool } from '../packages/gateway/src/database/pool.ts'
import { openTestGateway, type TestGateway } from '../packages/gateway/test/support/gateway.ts'
import { insertPastOrders, type PastOrder } from '../packages/gateway/test/support/past-orders.ts'
import { memberOf, type PortalClient } from '../packages/gateway/test/support/portal.ts'

const orders = Number(process.argv[2] ?? 1_000_000)
const merchants = Number(process.argv[3] ?? 10_000)
const atOnce = 10_000
const loads = 20
const days = 90
const dayMs = 86_400_000
const merchantId = '300000000000000000'

/** Given, it is kept, and a later run measures without filling it again. */
const keptFolder = process.env['BENCH_FOLDER']
const folder = keptFolder ?? (await mkdtemp(join(tmpdir(), 'tillgate-bench-')))
const database = await openDatabase({
  dataDir: folder,
  databaseUrl: process.env['DATABASE_URL'],
  poolMax: 4,
  migrationsFolder: join(import.meta.dirname, '../packages/gateway/migrations'),
  tell: () => {},
  signal: new AbortController().signal,
})
try {
  await bindMode(database.pool, { mode: 'sandbox', isModeGiven: true })
  if (!(await findSample(database.pool))) await fill(database.pool)
  const gateway = await openTestGateway({
    pool: database.pool,
    place: { DATA_DIR: folder, DATABASE_URL: process.env['DATABASE_URL'] ?? '' },
    log: pino({ level: 'silent' }),
  })
  try {
    await measure(gateway)
  } finally {
    await gateway.stop()
  }
} finally {
  await database.close()
  if (keptFolder === undefined) await rm(folder, { recursive: true, force: true })
}

async function findSample(pool: Pool) {
  const { rows } = await pool.query<{ payment_id: string; callback_id: string }>(
    'select payment_id, callback_id from callbacks where merchant_id = $1 order by callback_id limit 1',
    [merchantId],
  )
  return rows[0]
}

/** All orders are the one merchant's, but for one of each other; a callback for every tenth. */
async function fill(pool: Pool): Promise<void> {
  const startedMs = performance.now()
  const ids = Array.from({ length: merchants }, (_, index) => String(BigInt(merchantId) + BigInt(index)))
  await pool.query(
    `insert into merchants (merchant_id, name, status, created_at)
     select id, 'Merchant ' || id, 'active', 1 from unnest($1::text[]) as m (id)`,
    [ids],
  )
  const nowMs = Date.now()
  for (let done = 0; done < orders; done += atOnce) {
    const made = Array.from({ length: Math.min(atOnce, orders - done) }, (_, index): PastOrder => {
      const number = done + index
      return {
        merchantId: ids[number < merchants ? number : 0] ?? merchantId,
        createdAtMs: Math.floor(nowMs - days * dayMs * (1 - number / orders)),
        status: number % 10_000 === 0 ? 'cancelled' : number % 4 === 0 ? 'timeout' : 'success',
        ...(number % 10 === 0 && {
          callback: number % 1_000 === 0 ? { isExhausted: true } : { deliveredAfterMs: 40 },
        }),
      }
    })
    await insertPastOrders(pool, made)
  }
  await pool.transaction((transaction) => transaction.query('analyze'), { statementTimeoutMs: 0 })
  console.log(
    `${orders} orders of ${merchants} merchants made in ${Math.round(performance.now() - startedMs)} ms`,
  )
}

async function measure(gateway: TestGateway): Promise<void> {
  const sample = await findSample(gateway.pool)
  if (!sample) throw new Error('no orders were made')
  const { client } = await memberOf(gateway, merchantId, 'owner')
  const pages = [
    '',
    '/orders',
    '/orders?status=success',
    '/orders?status=cancelled',
    '/orders?status=confirming',
    `/orders?before=${sample.payment_id}`,
    `/orders?q=${sample.payment_id}`,
    `/orders?q=order-${sample.payment_id}`,
    '/orders?q=nothing-is-called-so',
    `/orders/${sample.payment_id}`,
    `/orders/${sample.payment_id}/refund`,
    '/money',
    '/keys',
    '/keys/rsa',
    '/callbacks',
    '/callbacks?state=exhausted',
    '/callbacks?state=waiting',
    '/callbacks?state=delivered',
    `/callbacks/${sample.callback_id}`,
    '/requests',
    '/settings',
    '/members',
    '/account',
  ]
  console.log('\n   median      worst  page')
  for (const page of pages) console.log(`${await timesOf(client, `/merchant${page}`)}  /merchant${page}`)
}

async function timesOf(client: PortalClient, path: string): Promise<string> {
  const times: number[] = []
  for (let load = 0; load < loads; load++) {
    const startedMs = performance.now()
    const { status } = await client.get(path)
    times.push(performance.now() - startedMs)
    if (status !== 200) throw new Error(`${path} answered ${status}`)
  }
  times.sort((a, b) => a - b)
  return [times[loads / 2], times.at(-1)].map((ms = 0) => `${ms.toFixed(1).padStart(6)} ms`).join('  ')
}
