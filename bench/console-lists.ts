// How long the console's pages take with a million orders: a gateway on a private PostgreSQL, filled straight into
// the tables, and each page loaded over HTTP as a browser does. `node bench/console-lists.ts [orders] [merchants] [days]`
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OrderStatus } from '@tillgate/protocol'
import { pino } from 'pino'
import { catalog } from '../packages/gateway/src/actions/catalog.ts'
import { consoleRoutes } from '../packages/gateway/src/adapters/console/routes.ts'
import { startGateway } from '../packages/gateway/src/app/gateway.ts'
import { readConfig } from '../packages/gateway/src/app/settings/config.ts'
import { countDueHour } from '../packages/gateway/src/finance/overview/count-due-hour.ts'
import { makeOverviewHours } from '../packages/gateway/src/finance/overview/store/overview-hours.ts'
import { bindMode } from '../packages/gateway/src/platform/database/mode.ts'
import { openDatabase } from '../packages/gateway/src/platform/database/open-database.ts'
import type { Pool } from '../packages/gateway/src/platform/database/pool.ts'
import { systemClock } from '../packages/gateway/src/platform/runtime/clock.ts'
import {
  insertPastOrders,
  type PastCallback,
  type PastOrder,
} from '../packages/gateway/test/support/past-orders.ts'
import { operatorPassword, testEnvironment } from '../packages/gateway/test/support/started.ts'
import { insertPastGateway, insertPastShop } from './past-rows.ts'

const orders = Number(process.argv[2] ?? 1_000_000)
const merchants = Number(process.argv[3] ?? 1_000)
const atOnce = 10_000
const loads = 20
const days = Number(process.argv[4] ?? 90)
const dayMs = 86_400_000

/** Given, it is kept, and a later run measures without filling it again. */
const keptFolder = process.env['BENCH_FOLDER']
const folder = keptFolder ?? (await mkdtemp(join(tmpdir(), 'tillgate-bench-')))
const silent = { report: () => {}, signal: new AbortController().signal }
const database = await openDatabase({
  dataDir: folder,
  databaseUrl: process.env['DATABASE_URL'],
  poolMax: 4,
  migrationsFolder: join(import.meta.dirname, '../packages/gateway/migrations'),
  ...silent,
})
const config = readConfig({
  ...testEnvironment,
  DATA_DIR: folder,
  DATABASE_URL: process.env['DATABASE_URL'],
})
try {
  await bindMode(database.pool, { mode: 'sandbox', isModeGiven: true })
  // Before a gateway is there, whose worker would find the hours empty.
  if (!(await findSample(database.pool))) await fill(database.pool)
  const sample = await findSample(database.pool)
  if (!sample) throw new Error('no orders were made')
  const gateway = await startGateway(config, {
    log: pino({ level: 'silent' }),
    clock: systemClock,
    ...silent,
  })
  try {
    await countHours(database.pool)
    await measure(gateway.adminUrl, sample)
  } finally {
    await gateway.stop()
  }
} finally {
  await database.close()
  if (keptFolder === undefined) await rm(folder, { recursive: true, force: true })
}

interface Sample {
  readonly merchantId: string
  readonly paymentId: string
  readonly callbackId: string
}

async function findSample(pool: Pool): Promise<Sample | undefined> {
  const { rows } = await pool.query<{ merchant_id: string; payment_id: string; callback_id: string }>(
    'select merchant_id, payment_id, callback_id from callbacks_with_progress where body is not null order by callback_id limit 1',
  )
  const [row] = rows
  return row && { merchantId: row.merchant_id, paymentId: row.payment_id, callbackId: row.callback_id }
}

/** Three in four paid, one in ten thousand pending, one in a hundred in JPY; a callback for every tenth. */
async function fill(pool: Pool): Promise<void> {
  const startedMs = performance.now()
  const ids = Array.from({ length: merchants }, (_, index) =>
    String(200_000_000_000_000_000n + BigInt(index)),
  )
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
        merchantId: ids[(number * 7919) % merchants] ?? '',
        createdAtMs: Math.floor(nowMs - days * dayMs * (1 - number / orders)),
        status: statusOf(number),
        currency: number % 100 === 3 ? 'JPY' : number % 3 === 0 ? 'EUR' : 'USD',
        tookMs: 5_000 + (number % 997) * 100,
        ...(number % 10 === 0 && {
          callback: callbackOf(number),
        }),
      }
    })
    await insertPastOrders(pool, made)
  }
  await queueWaiting(pool)
  await insertPastShop(pool, { merchantId: ids[0] ?? '', nowMs, days })
  await insertPastGateway(pool, nowMs)
  await pool.transaction((transaction) => transaction.query('analyze'), { statementTimeoutMs: 0 })
  console.log(
    `${orders} orders of ${merchants} merchants in ${days} days made in ${Math.round(performance.now() - startedMs)} ms`,
  )
}

/** Half of them wait behind a host that is down, one in a hundred was given up. */
function callbackOf(number: number): PastCallback {
  if (number % 1_000 === 0) return { isExhausted: true }
  return number % 20 === 0 ? { deliveredAfterMs: 40 + (number % 511) } : { host: 'down.example' }
}

/** Due tomorrow, so that nobody sends them while we measure. */
async function queueWaiting(pool: Pool): Promise<void> {
  await pool.query(
    `insert into callback_queue (callback_id, merchant_id, host, due_at)
     select callback_id, merchant_id, host, $1 from callbacks_with_progress where delivered_at is null and exhausted_at is null`,
    [Date.now() + dayMs],
  )
  await pool.query(
    `insert into callback_hosts (host, failures, failing_since, reason, pauses, paused_at, paused_until)
     values ('down.example', 9, $1, 'timeout', 1, $1, $2)`,
    [Date.now(), Date.now() + dayMs],
  )
}

function statusOf(number: number): OrderStatus {
  if (number % 10_000 === 0) return 'pending'
  if (number % 50 === 0) return 'cancelled'
  return number % 4 === 0 ? 'timeout' : 'success'
}

/** As the worker does it, without the rest that it takes in between. */
async function countHours(pool: Pool): Promise<void> {
  const hours = makeOverviewHours(pool)
  const startedMs = performance.now()
  for (let waitMs = 0; waitMs < 60_000; ) waitMs = await countDueHour(hours, Date.now())
  console.log(`the hours of 15 days counted in ${Math.round(performance.now() - startedMs)} ms`)
}

async function measure(url: string, { merchantId, paymentId, callbackId }: Sample): Promise<void> {
  const cookie = await signIn(url)
  const day = new Date(Date.now() - 45 * dayMs).toISOString().slice(0, 10)
  const pages = [
    ...tablePages({ merchantId, paymentId, callbackId }),
    '/overview?last=hour',
    '/overview?last=week',
    `/find?q=${paymentId}`,
    '/find?q=Merchant',
    '/orders?status=pending',
    '/orders?status=success',
    '/orders?status=cancelled',
    `/orders?merchant=${merchantId}`,
    `/orders?merchant=${merchantId}&status=cancelled`,
    '/orders?currency=JPY',
    '/orders?currency=XAF',
    `/orders?merchant=${merchantId}&currency=XAF`,
    `/orders?from=${day}&to=${day}`,
    `/orders?before=${paymentId}`,
    `/orders?q=${paymentId}`,
    `/orders?q=order-${paymentId}`,
    '/orders?q=nothing-is-called-so',
    '/callbacks?state=exhausted',
    '/callbacks?state=delivered&event=payment.refund.failed',
    `/callbacks?merchant=${merchantId}`,
    '/callbacks?state=waiting',
    '/callbacks?host=unknown.example',
    '/callbacks?host=down.example',
    '/merchants?q=Merchant',
    '/wallets?q=person-77',
    `/merchants/${merchantId}/payouts?status=requested`,
    '/emails?state=refused',
    '/reconciliation?status=settled',
    '/reconciliation?kind=twice',
    `/links?merchant=${merchantId}`,
    `/audit?merchant=${merchantId}`,
    `/requests?merchant=${merchantId}`,
  ]
  console.log('\n   median      worst  page')
  for (const path of pages) {
    const times: number[] = []
    for (let load = 0; load < loads; load++) {
      const startedMs = performance.now()
      const response = await fetch(url + path, { headers: { cookie }, redirect: 'manual' })
      await response.text()
      times.push(performance.now() - startedMs)
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
    }
    times.sort((a, b) => a - b)
    const shown = [times[loads / 2], times.at(-1)].map((ms = 0) => `${ms.toFixed(1).padStart(6)} ms`)
    console.log(`${shown.join('  ')}  ${path}`)
  }
  const startedMs = performance.now()
  const response = await fetch(`${url}/orders.csv`, { headers: { cookie } })
  let bytes = 0
  for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length
  const rss = Math.round(process.memoryUsage.rss() / 1024 / 1024)
  console.log(
    `\nCSV of all: ${bytes} bytes in ${Math.round(performance.now() - startedMs)} ms; memory ${rss} MiB`,
  )
}

/** From the table that the console is served from, so that no list is forgotten. */
function tablePages(sample: Readonly<Record<string, string>>): string[] {
  return consoleRoutes(catalog).flatMap((route) => {
    if (!('show' in route)) return []
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    if (names.some((name) => !(name in sample))) return []
    return route.path.replace(/:(\w+)/g, (_, name: string) => sample[name] ?? '')
  })
}

async function signIn(url: string): Promise<string> {
  const page = await fetch(`${url}/sign-in`)
  const [, token = ''] = /name="token" value="([^"]+)"/.exec(await page.text()) ?? []
  const signedIn = await fetch(`${url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookieOf(page), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token, login: 'admin', password: operatorPassword }).toString(),
  })
  return cookieOf(signedIn)
}

function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}
