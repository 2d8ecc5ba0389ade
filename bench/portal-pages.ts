// How long the portal's pages take for a merchant with a million orders beside ten thousand others: a gateway on a private
// PostgreSQL, filled straight into the tables; every page and file of the portal's route table loaded over HTTP, and the
// lists once more with their filters. `node bench/portal-pages.ts [orders] [merchants]`
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { catalog } from '../packages/gateway/src/actions/catalog.ts'
import { pathTo } from '../packages/gateway/src/adapters/portal/portal.ts'
import { portalRoutes } from '../packages/gateway/src/adapters/portal/route-table.ts'
import { bindMode } from '../packages/gateway/src/platform/database/mode.ts'
import { openDatabase } from '../packages/gateway/src/platform/database/open-database.ts'
import type { Pool } from '../packages/gateway/src/platform/database/pool.ts'
import { openTestGateway, type TestGateway } from '../packages/gateway/test/support/gateway.ts'
import { insertPastOrders, type PastOrder } from '../packages/gateway/test/support/past-orders.ts'
import { memberOf } from '../packages/gateway/test/support/portal.ts'
import { insertPastGateway, insertPastShop } from './past-rows.ts'

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
  report: () => {},
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

/** Of each parameter of the routes one that the merchant has; where it has many, one with many rows behind it. */
async function findSample(pool: Pool): Promise<Readonly<Record<string, string>> | undefined> {
  const { rows } = await pool.query<Record<string, string>>(
    `select c.callback_id as "callbackId", c.payment_id as "paymentId",
            (select max(link_id) from payment_links where merchant_id = $1) as "paymentLink",
            (select key_id from merchant_keys where merchant_id = $1 and revoked_at is null limit 1) as "keyId",
            (select min(login) from members where merchant_id = $1) as "login",
            (select endpoint_id from callback_endpoints
              where merchant_id = $1 and removed_at is null order by slot limit 1) as "endpointId",
            (select link_id::text from member_links where merchant_id = $1 and used_at is null limit 1) as "linkId",
            (select bank_account_id::text from merchant_bank_accounts where merchant_id = $1 limit 1) as "bankAccountId",
            (select payout_id from payouts where merchant_id = $1 order by payout_id offset 500 limit 1) as "payoutId",
            (select max(day)::text from bills where merchant_id = $1) as "day"
       from callbacks c join orders o on o.merchant_id = $1 and o.payment_id = c.payment_id
      where c.merchant_id = $1 and c.exhausted_at is not null and o.status = 'success'
      limit 1`,
    [merchantId],
  )
  return rows[0]
}

/** All orders are the one merchant's, but for one of each other; a callback for every one. */
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
        callback: number % 1_000 === 1 ? { isExhausted: true } : { deliveredAfterMs: 40 },
      }
    })
    await insertPastOrders(pool, made)
  }
  await insertPastShop(pool, { merchantId, nowMs, days })
  await insertPastGateway(pool, nowMs)
  await pool.transaction((transaction) => transaction.query('analyze'), { statementTimeoutMs: 0 })
  console.log(
    `${orders} orders of ${merchants} merchants made in ${Math.round(performance.now() - startedMs)} ms`,
  )
}

async function measure(gateway: TestGateway): Promise<void> {
  const sample = await findSample(gateway.pool)
  if (!sample) throw new Error('no orders were made')
  // Of an earlier run on the same folder.
  await gateway.pool.query("delete from member_accounts where login like 'owner-%'")
  const { client, email } = await memberOf(gateway, merchantId, 'owner')
  const credentialId = await addPasskey(gateway.pool, email)
  const pages = [
    ...tablePages({ ...sample, credentialId }),
    '/orders?status=success',
    '/orders?status=cancelled',
    '/orders?status=confirming',
    `/orders?before=${sample['paymentId']}`,
    `/orders?q=${sample['paymentId']}`,
    `/orders?q=order-${sample['paymentId']}`,
    '/orders?q=nothing-is-called-so',
    '/callbacks?state=exhausted',
    '/callbacks?state=waiting',
    '/callbacks?state=delivered',
    `/callbacks?before=${sample['callbackId']}`,
    '/requests?q=nothing-is-called-so',
    `/requests?before=${Date.now() - dayMs}.0`,
    `/payouts?before=${sample['payoutId']}`,
    '/bills?before=2026-06-01',
    `/links?before=${sample['paymentLink']}`,
  ]
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  console.log('\n   median      worst  page')
  const slow: string[] = []
  for (const page of pages) {
    const path = page.startsWith('/merchant') ? page : `/merchant${page}`
    const { median, worst } = await timesOf({ url: gateway.url, cookie }, path)
    console.log(`${[median, worst].map((ms) => `${ms.toFixed(1).padStart(6)} ms`).join('  ')}  ${path}`)
    if (median > 50 || worst > 200) slow.push(path)
  }
  console.log(
    slow.length === 0
      ? `\nall ${pages.length} within 50 ms in the median and 200 ms at worst`
      : `\nslower: ${slow.join(' ')}`,
  )
}

/** From the table that the portal is served from, so that no page is forgotten. */
function tablePages(sample: Readonly<Record<string, string>>): string[] {
  return portalRoutes(catalog).flatMap((route) => {
    if ('act' in route) return []
    const values = { ...sample, ...(route.path.startsWith('/links/') && { linkId: sample['paymentLink'] }) }
    for (const [, name = ''] of route.path.matchAll(/:(\w+)/g))
      if (!values[name as keyof typeof values])
        throw new Error(`${route.path}: there is no sample of ${name}`)
    const day = 'download' in route ? `?from=${sample['day']}&to=${sample['day']}` : ''
    return pathTo(route.path, values) + day
  })
}

async function addPasskey(pool: Pool, login: string): Promise<string> {
  const credentialId = randomBytes(16)
  await pool.query(
    `insert into passkeys (credential_id, account_kind, account, name, public_key, sign_count, last_challenge_at, created_at)
     values ($1, 'member', $2, 'Laptop', 'key', 0, 0, 0)`,
    [credentialId, login],
  )
  return credentialId.toString('base64url')
}

/** Of a page all of it, of a file its first bytes. */
async function timesOf(
  { url, cookie }: { url: string; cookie: string },
  path: string,
): Promise<{ median: number; worst: number }> {
  const times: number[] = []
  for (let load = 0; load < loads; load++) {
    const startedMs = performance.now()
    const response = await fetch(url + path, { headers: { cookie }, redirect: 'manual' })
    const reader = response.headers.has('content-disposition') ? response.body?.getReader() : undefined
    await (reader ? reader.read() : response.text())
    times.push(performance.now() - startedMs)
    await reader?.cancel()
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
  }
  times.sort((a, b) => a - b)
  return { median: times[loads / 2] ?? 0, worst: times.at(-1) ?? 0 }
}
