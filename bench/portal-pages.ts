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
const linkId = `L${'1'.padStart(26, '0')}`

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
  await fillMoney(pool, nowMs)
  await pool.transaction((transaction) => transaction.query('analyze'), { statementTimeoutMs: 0 })
  console.log(
    `${orders} orders of ${merchants} merchants made in ${Math.round(performance.now() - startedMs)} ms`,
  )
}

/** A bill for every day, thousands of payouts and links, and one link by which every hundredth order came. */
async function fillMoney(pool: Pool, nowMs: number): Promise<void> {
  const values = [merchantId, nowMs]
  for (const statement of [
    `insert into accounts (account_id, owner_kind, owner_id, currency, credits_posted)
     values ('merchant:' || $1 || ':USD', 'merchant', $1, 'USD', $2)`,
    `insert into bills (merchant_id, day, made_at, lines, bytes, sha256)
     select $1, current_date - n, $2, 1, 1, sha256('1') from generate_series(1, 1000) as n`,
    `insert into bill_totals
     select $1, current_date - n, 'USD', 0, 0, 100, 0, -1, 0, 0, 99 from generate_series(1, 1000) as n where $2::bigint > 0`,
    `insert into payout_runs (run_id, bank_name, currency, day, created_at)
     values ('00000000-0000-7000-8000-000000000001', 'main', 'USD', current_date, $2)`,
    `insert into payouts (merchant_id, payout_id, run_id, status, currency, amount_minor, account, requested_at)
     select $1, 'T' || lpad(n::text, 25, '0'), '00000000-0000-7000-8000-000000000001', 'requested', 'USD', 100,
            '{"holder": "Shop GmbH", "iban": "DE89370400440532013000"}', $2
       from generate_series(1, 10000) as n`,
    `insert into merchant_bank_accounts (merchant_id, bank_account_id, currency, holder, iban, set_at, valid_from)
     values ($1, '00000000-0000-7000-8000-000000000002', 'USD', 'Shop GmbH', 'DE89370400440532013000', 0, $2)`,
    `insert into payment_links (merchant_id, link_id, link_no, status, uses, title, currency, amount_minor, goods,
                                payment_minutes, created_at)
     select $1, 'L' || lpad(n::text, 26, '0'), 'link-' || n, 'active', 'many', 'Tea', 'USD', 100, '[]', 30, $2
       from generate_series(1, 10000) as n`,
    `update orders set link_id = '${linkId}', link_uses = 'many'
      where merchant_id = $1 and created_at % 100 = 0 and created_at < $2`,
  ])
    await pool.query(statement, values)
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
    '/bills',
    '/payouts',
    `/payouts/T${'1'.padStart(25, '0')}`,
    '/bank',
    '/bank/change',
    '/fees',
    '/links',
    `/links/${linkId}`,
    '/links/new',
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
