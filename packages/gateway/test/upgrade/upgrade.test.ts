// From the database that the release before left behind to today's gateway: everything that was there is there, is
// answered as it was, and goes on.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { sandboxFilePath } from '../../src/app/sandbox/sandbox-file.ts'
import { verifyLedger } from '../../src/finance/overview/store/verify-ledger.ts'
import { MigrationFailure, migrate } from '../../src/platform/database/migrate.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { ApiClient } from '../support/admin-api.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { runCommand } from '../support/command.ts'
import { ConsoleClient } from '../support/console.ts'
import { emptyDatabase } from '../support/database.ts'
import { openTestGateway, type TestGateway } from '../support/gateway.ts'
import { placeOfRelease, restoreRelease } from '../support/kept-release.ts'
import { MerchantClient } from '../support/merchant-client.ts'
import { temporaryFolder } from '../support/process.ts'
import { migrationsFolder, urlOf } from '../support/server.ts'

const release = '1.0.0'
const gateways: TestGateway[] = []
after(async () => {
  for (const gateway of gateways) await gateway.stop()
})
const { pool, connection } = await emptyDatabase()
const namesOfMigrations = readdirSync(migrationsFolder).sort()
const { known, madeAtMs } = await restoreRelease(pool, release)
const made = Number((await pool.query('select count(*) as made from migrations')).rows[0]?.['made'])
const clock = new TestClock(madeAtMs + 1_000)
const DATA_DIR = temporaryFolder()
writeFileSync(sandboxFilePath(DATA_DIR), JSON.stringify(known.demoMerchant), { mode: 0o600 })
const environment = { DATA_DIR, DATABASE_URL: urlOf(connection), MASTER_KEY: known.masterKey }

async function start(changes: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await openTestGateway({
    pool,
    clock,
    place: environment,
    environment: { ...environment, ...changes },
  })
  gateways.push(gateway)
  return gateway
}

const clientsOf = ({ url }: TestGateway) =>
  new Map(known.merchants.map((keys) => [keys.merchantId, new MerchantClient(url, keys, () => clock.now())]))

test('the migrations move no money', async () => {
  const before = await books(pool)
  const { applied } = await migrate(pool, migrationsFolder)
  assert.deepEqual(applied, namesOfMigrations.slice(made))
  assert.ok(before.accounts.length > 0)
  assert.deepEqual(await books(pool), before)
  assert.deepEqual((await verifyLedger(pool)).findings, [])
})

test('orders, checkout links, callbacks, keys, tokens, passwords and PINs of then are good today', async () => {
  // Without workers, so that nothing goes on before it was looked at.
  const gateway = await start({ ROLES: 'api' })
  const clients = clientsOf(gateway)
  for (const { merchantId, paymentId, answer } of known.orders) {
    const now = await clients.get(merchantId)?.data('service.trade.query', { paymentId })
    assert.deepEqual({ ...now, ...answer }, now, 'nothing is told otherwise; more may be told')
  }
  const statuses = new Set(known.orders.map(({ answer }) => answer['paymentStatus']))
  assert.equal(statuses.size, 6, 'one of every status was there')

  const page = await fetch(gateway.url + known.checkout)
  assert.equal(page.status, 200)
  assert.match(await page.text(), /12[.,]50/)

  const api = new ApiClient(gateway, known.token)
  const { callbacks } = await api.data('callback.list', { query: { limit: '200' } })
  const states = (all: readonly { callbackId: string; state: string; attemptsMade: number }[]) =>
    all.map(({ callbackId, state, attemptsMade }) => `${callbackId} ${state} ${attemptsMade}`).sort()
  assert.deepEqual(states(callbacks), states(known.callbacks))
  assert.deepEqual([...new Set(known.callbacks.map(({ state }) => state))].sort(), [
    'delivered',
    'exhausted',
    'waiting',
  ])
  const { approvals } = await api.data('approval.list')
  assert.deepEqual(approvals.map(({ status }: { status: string }) => status).sort(), [
    'approved',
    'rejected',
    'waiting',
  ])

  for (const { login, password } of known.operators) {
    const browser = new ConsoleClient(gateway)
    assert.equal((await browser.signIn(login, password)).status, 303)
    assert.equal((await browser.get('/orders')).status, 200)
  }
  const { login, pin } = known.wallet
  const { authenticateWallet } = gateway.operations
  assert.equal((await authenticateWallet({ login, pin, address: '192.0.2.1' })).kind, 'signed_in')
  await gateway.stop()
})

test('what was under way goes on: payments settle, refunds end, callbacks arrive, old orders are refunded', async () => {
  const arrived: string[] = []
  const shop = createServer((request, response) => {
    arrived.push(request.url ?? '')
    response.end('{"code":20000,"msg":""}')
  }).listen(0, '127.0.0.1')
  after(() => shop.close().closeAllConnections())
  await once(shop, 'listening')
  const host = `127.0.0.1:${(shop.address() as AddressInfo).port}`
  // The shop came back elsewhere.
  await pool.query(`update orders set callback_url = 'http://${host}/'`)
  await pool.query(`update callbacks set callback_url = 'http://${host}/' || callback_id, host = '${host}'`)
  await pool.query(`update callback_queue set host = '${host}', due_at = 0`)
  await pool.query('delete from callback_hosts')

  const gateway = await start()
  const clients = clientsOf(gateway)
  const told = (orderNo: string) => known.orders.filter(({ answer }) => answer['orderNo'] === orderNo)
  const query = ({ merchantId, paymentId }: { merchantId: string; paymentId: string }) =>
    clients.get(merchantId)?.data('service.trade.query', { paymentId })
  for (const order of told('just-paid'))
    await until(async () => (await query(order))?.['paymentStatus'] === 'success')
  for (const order of told('paid')) {
    await until(async () => (await query(order))?.['status'] === 'refund_success')
    const more = { paymentId: order.paymentId, referRefundNo: 'after-the-upgrade', refundAmount: '9.50' }
    await clients.get(order.merchantId)?.data('service.trade.refund', more)
    await until(async () => (await query(order))?.['referOrderNo'] === 'after-the-upgrade')
    await until(async () => (await query(order))?.['status'] === 'refund_success')
  }
  for (const { merchantId, paymentId } of told('pending')) {
    await clients.get(merchantId)?.data('service.sandbox.pay', { paymentId, outcome: 'success' })
    await until(async () => (await query({ merchantId, paymentId }))?.['paymentStatus'] === 'success')
  }
  const waited = known.callbacks.filter(({ state }) => state === 'waiting')
  await until(() => waited.every(({ callbackId }) => arrived.includes(`/${callbackId}`)))
  await until(async () => (await pool.query('select 1 from callback_queue')).rowCount === 0)

  const proof = await runCommand(environment, ['ledger', 'verify'])
  assert.equal(proof.code, 0, proof.out)
  await gateway.stop()
})

test('a gateway refuses a database that a newer one has migrated, and says what to do', async () => {
  const { rows } = await pool.query<{ next: number }>('select max(number) + 1 as next from migrations')
  const next = rows[0]?.next ?? 0
  await pool.query('insert into migrations values ($1, $2, $3, 0)', [next, 'of-tomorrow', 'a checksum'])
  await assert.rejects(start(), (error) => {
    assert(error instanceof MigrationFailure)
    assert.equal(error.exitCode, 78)
    assert.match(
      error.message,
      /^The database is newer than this program: .*of-tomorrow\.sql, .*\nStart the newer/,
    )
    return true
  })
})

test('a backup of then is restored by the command line of today', async () => {
  const target = await emptyDatabase()
  const to = { ...environment, DATABASE_URL: urlOf(target.connection) }
  const restored = await runCommand(to, ['db', 'restore', `${placeOfRelease(release)}.jsonl.gz`])
  assert.equal(restored.code, 0, restored.err)
  if (made < namesOfMigrations.length) assert.match(restored.out, /brought up to date/)
  assert.match(restored.out, /Revoked: 2 API tokens/)
  assert.match(restored.out, /The ledger is clean/)
})

/** Every account with its sums, and what moved of each kind. */
async function books(database: Pool): Promise<{ readonly accounts: unknown[]; readonly moved: unknown[] }> {
  const { rows: accounts } = await database.query(
    `select account_id as account, currency, debits_posted, credits_posted,
            debits_pending, credits_pending
       from accounts order by 1`,
  )
  const { rows: moved } = await database.query(
    `select kind, phase, currency, count(*) as transfers, sum(amount_minor) as minor
       from transfers group by 1, 2, 3 order by 1, 2, 3`,
  )
  return { accounts, moved }
}
