// How long the console's pages take with a million orders: a gateway on a private PostgreSQL, filled straight into
// the tables, and each page loaded over HTTP as a browser does. `node bench/console-lists.ts [orders] [merchants]`
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCallbackId, makePaymentId } from '@tillgate/protocol'
import { pino } from 'pino'
import { systemClock } from '../packages/gateway/src/clock.ts'
import { readConfig } from '../packages/gateway/src/config.ts'
import { openDatabase } from '../packages/gateway/src/database/open-database.ts'
import type { Pool } from '../packages/gateway/src/database/pool.ts'
import { startGateway } from '../packages/gateway/src/gateway.ts'

const orders = Number(process.argv[2] ?? 1_000_000)
const merchants = Number(process.argv[3] ?? 1_000)
const atOnce = 10_000
const loads = 20
const dayMs = 86_400_000
const password = 'a password for measuring'

const folder = await mkdtemp(join(tmpdir(), 'tillgate-bench-'))
const silent = { tell: () => {}, signal: new AbortController().signal }
const database = await openDatabase({
  dataDir: folder,
  databaseUrl: process.env['DATABASE_URL'],
  poolMax: 4,
  migrationsFolder: join(import.meta.dirname, '../packages/gateway/migrations'),
  ...silent,
})
const config = readConfig({
  PORT: '0',
  ADMIN_PORT: '0',
  DATA_DIR: folder,
  DATABASE_URL: process.env['DATABASE_URL'],
  OPERATOR_PASSWORD: password,
})
const gateway = await startGateway(config, { log: pino({ level: 'silent' }), clock: systemClock, ...silent })
try {
  const sample = await fill(database.pool)
  await measure(gateway.adminUrl, sample)
} finally {
  await gateway.stop()
  await database.close()
  await rm(folder, { recursive: true, force: true })
}

interface Sample {
  readonly merchantId: string
  readonly paymentId: string
}

/** Spread over 90 days; one order in fifty failed, one in ten thousand pending; a callback for every tenth. */
async function fill(pool: Pool): Promise<Sample> {
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
  let sample: Sample | undefined
  for (let done = 0; done < orders; done += atOnce) {
    const rows = Array.from({ length: Math.min(atOnce, orders - done) }, (_, index) => {
      const number = done + index
      const createdAtMs = Math.floor(nowMs - 90 * dayMs * (1 - number / orders))
      return {
        merchantId: ids[(number * 7919) % merchants] ?? '',
        paymentId: makePaymentId(createdAtMs, randomBytes),
        status: number % 10_000 === 0 ? 'pending' : number % 50 === 0 ? 'cancelled' : 'timeout',
        createdAtMs,
        callbackId: number % 10 === 0 ? makeCallbackId(createdAtMs, randomBytes) : null,
      }
    })
    sample ??= rows[atOnce / 2]
    const column = <K extends keyof (typeof rows)[number]>(name: K) => rows.map((row) => row[name])
    await pool.query(
      `insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                           payment_time, expires_at, content, checkout_token, created_at)
       select m, p, 'order-' || p, s, 'WEB', 1250, 'USD', t + 86400000, t + 2 * 86400000, $5, 'token', t
         from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as o (m, p, s, t)`,
      [
        column('merchantId'),
        column('paymentId'),
        column('status'),
        column('createdAtMs'),
        JSON.stringify({
          orderNo: 'x',
          orderAmountMinor: '1250',
          goods: [{ goodsName: 'Tea', goodsQuantity: 1 }],
        }),
      ],
    )
    const told = rows.filter(({ callbackId }) => callbackId !== null)
    await pool.query(
      `insert into callbacks (merchant_id, callback_id, payment_id, event_name, callback_url, host, body, created_at,
                              attempts_made, delivered_at, exhausted_at)
       select m, c, p, 'payment.order.timeout', 'https://shop.example/c', 'shop.example', '{}', t, 1,
              case when n % 100 <> 0 then t end, case when n % 100 = 0 then t end
         from unnest($1::text[], $2::uuid[], $3::text[], $4::bigint[]) with ordinality as o (m, c, p, t, n)`,
      [
        told.map(({ merchantId }) => merchantId),
        told.map(({ callbackId }) => callbackId),
        told.map(({ paymentId }) => paymentId),
        told.map(({ createdAtMs }) => createdAtMs),
      ],
    )
  }
  await pool.transaction((transaction) => transaction.query('analyze'), { statementTimeoutMs: 0 })
  if (!sample) throw new Error('no orders were made')
  console.log(
    `${orders} orders of ${merchants} merchants made in ${Math.round(performance.now() - startedMs)} ms`,
  )
  return sample
}

async function measure(url: string, { merchantId, paymentId }: Sample): Promise<void> {
  const cookie = await signIn(url)
  const day = new Date(Date.now() - 45 * dayMs).toISOString().slice(0, 10)
  const pages = [
    '/orders',
    '/orders?status=pending',
    '/orders?status=success',
    '/orders?status=cancelled',
    `/orders?merchant=${merchantId}`,
    `/orders?merchant=${merchantId}&status=cancelled`,
    `/orders?from=${day}&to=${day}`,
    `/orders?before=${paymentId}`,
    `/orders?q=${paymentId}`,
    `/orders?q=order-${paymentId}`,
    '/orders?q=nothing-is-called-so',
    `/orders/${merchantId}/${paymentId}`,
    '/callbacks',
    '/callbacks?state=exhausted',
    `/callbacks?merchant=${merchantId}`,
    '/callbacks?state=waiting',
    '/callbacks?host=unknown.example',
    '/merchants',
    `/merchants/${merchantId}`,
    '/wallets',
    '/ledger',
    '/audit',
    '/system',
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

async function signIn(url: string): Promise<string> {
  const page = await fetch(`${url}/sign-in`)
  const [, token = ''] = /name="token" value="([^"]+)"/.exec(await page.text()) ?? []
  const signedIn = await fetch(`${url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookieOf(page), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token, login: 'admin', password }).toString(),
  })
  return cookieOf(signedIn)
}

function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}
