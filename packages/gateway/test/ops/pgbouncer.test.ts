// Behind PgBouncer in transaction mode, where every transaction may get another connection: the whole life of orders
// over two gateways that share fewer connections than they ask for.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { until } from '../support/callbacks.ts'
import {
  databaseUser,
  endDebianPostgres,
  freePort,
  startDebianPostgres,
  workFolder,
  workshop,
} from '../support/debian-postgres.ts'
import { type DemoMerchant, demoMerchant } from '../support/demo-merchant.ts'
import { createBody } from '../support/order.ts'
import { commandScript, run, startProcess, temporaryFolder } from '../support/process.ts'

const serverConnections = 4

after(endDebianPostgres)

const database = await startDebianPostgres()
const bouncer = await startPgBouncer()
const MASTER_KEY = randomBytes(32).toString('base64')
/** Past the pooler: where a process hears of what others did. */
const directUrl = `postgresql://${databaseUser}@${database.address}/${databaseUser}`
const DATABASE_URL = `postgresql://${databaseUser}@127.0.0.1:${bouncer.port}/${databaseUser}`

const events: string[] = []
const shop = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    events.push(request.url ?? '')
    response.end('{"code":20000,"msg":""}')
  })
}).listen(0, '127.0.0.1')
await once(shop, 'listening')
after(() => shop.close().closeAllConnections())
const callbackUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`

async function startPgBouncer(): Promise<{ port: number; log(): string }> {
  const port = await freePort()
  const folder = workFolder('pgbouncer')
  const config = join(folder, 'pgbouncer.ini')
  writeFileSync(join(folder, 'users.txt'), `"${databaseUser}" ""\n`)
  writeFileSync(
    config,
    `[databases]
${databaseUser} = host=127.0.0.1 port=${database.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
admin_users = ${databaseUser}
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = 200
`,
  )
  const child = spawn('/usr/sbin/pgbouncer', [config], {
    ...workshop.account,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  after(() => child.kill('SIGKILL'))
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  await until(() => log.includes('process up') || child.exitCode !== null)
  assert.equal(child.exitCode, null, log)
  return { port, log: () => log }
}

async function wholeLife(merchant: DemoMerchant, url: string): Promise<void> {
  const call = async (method: string, body: object) => {
    const { code, msg, data } = await merchant.call(method, body, url)
    assert.equal(code, 20000, `${method}: ${code} ${msg}`)
    return data
  }
  const statusOf = async (paymentId: string) =>
    (await call('service.trade.query', { paymentId })).paymentStatus
  const create = (path: string) =>
    call('service.trade.create', {
      ...createBody({ now: Date.now(), orderNo: randomBytes(8).toString('hex') }),
      callbackUrl: callbackUrl + path,
    })
  const [paid, expired, cancelled] = await Promise.all([
    create('/paid'),
    create('/expired'),
    create('/cancelled'),
  ])

  await call('service.sandbox.pay', { paymentId: paid.paymentId, outcome: 'success' })
  await until(async () => (await statusOf(paid.paymentId)) === 'success')
  const refundNo = randomBytes(8).toString('hex')
  await call('service.trade.refund', {
    paymentId: paid.paymentId,
    referRefundNo: refundNo,
    refundAmount: '2.50',
  })
  await call('service.sandbox.advance', { paymentId: expired.paymentId, milliseconds: 60 * 60_000 })
  await call('service.trade.cancel', { paymentId: cancelled.paymentId })
  await until(async () => (await statusOf(expired.paymentId)) === 'timeout')
  assert.equal(await statusOf(cancelled.paymentId), 'cancelled')
  await until(async () => {
    const { refunds } = await call('service.trade.query', { paymentId: paid.paymentId })
    return refunds[0]?.status === 'refund_success'
  })
}

for (const { DATABASE_PREPARED, title } of [
  {
    DATABASE_PREPARED: 'off',
    title: 'with DATABASE_PREPARED=off orders live their whole life, and no request fails',
  },
  {
    DATABASE_PREPARED: 'on',
    title: 'without it, a PgBouncer that keeps no statements is noticed, told, and served all the same',
  },
]) {
  test(title, async () => {
    events.length = 0
    const environment = {
      DATABASE_URL,
      MASTER_KEY,
      DATABASE_PREPARED,
      ...(DATABASE_PREPARED === 'off' && { DATABASE_LISTEN_URL: directUrl }),
      MERCHANT_REQUESTS_PER_SECOND: '100000',
    }
    const dataDir = temporaryFolder()
    const gateways = [
      await startProcess({ ...environment, DATA_DIR: dataDir }),
      await startProcess({ ...environment, DATA_DIR: dataDir }),
    ]
    const merchant = demoMerchant(dataDir, gateways[0]?.publicUrl ?? '')
    if (DATABASE_PREPARED === 'on') {
      // Until it is noticed a transaction may be refused with 50300, which says that it may be sent again.
      const [told] = gateways
      await until(async () => {
        const body = createBody({ now: Date.now(), orderNo: randomBytes(8).toString('hex') })
        const answers = await Promise.all(
          gateways.flatMap(({ publicUrl }) =>
            Array.from({ length: 8 }, () => merchant.call('service.trade.create', body, publicUrl)),
          ),
        )
        for (const { code, msg } of answers) assert.ok(code === 20000 || code === 50300, `${code} ${msg}`)
        return gateways.every((gateway) => gateway.output().includes('DATABASE_PREPARED=off'))
      })
      assert.ok(told)
    }
    await Promise.all(
      gateways.flatMap(({ publicUrl }) => Array.from({ length: 6 }, () => wholeLife(merchant, publicUrl))),
    )
    // Confirming and success of the paid, the refund's end, the timeout.
    await until(() => events.filter((path) => path === '/paid').length >= 36)
    await until(() => events.filter((path) => path === '/expired').length >= 12)
    assert.ok(!events.includes('/cancelled'))
    for (const gateway of gateways) {
      assert.equal((await fetch(`${gateway.publicUrl}/readyz`)).status, 200)
      if (DATABASE_PREPARED === 'off')
        assert.doesNotMatch(gateway.output(), /"level":(40|50)|"level":"(warn|error)"/)
      gateway.child.kill('SIGTERM')
      assert.equal((await gateway.exited()).code, 0)
    }
    if (DATABASE_PREPARED === 'off') assert.doesNotMatch(database.log(), /prepared statement/)
  })
}

test('the two gateways shared fewer connections than they asked for, and no lock of a session is held', async () => {
  const admin = new pg.Client({
    host: '127.0.0.1',
    port: bouncer.port,
    user: databaseUser,
    database: 'pgbouncer',
  })
  await admin.connect()
  const { rows } = await admin.query('show servers')
  await admin.end()
  assert.ok(rows.length <= serverConnections, `${rows.length} connections`)
  assert.deepEqual(await database.query(`select from pg_locks where locktype = 'advisory'`), [])
})

test('backup, restore into another database, and the ledger’s proof work through it too', async () => {
  const folder = temporaryFolder()
  const tillgate = async (environment: Record<string, string>, ...args: string[]) => {
    const done = run(
      { DATA_DIR: folder, MASTER_KEY, DATABASE_URL, ...environment },
      { script: commandScript, args },
    )
    assert.equal((await done.exited()).code, 0, done.output())
    return done.output()
  }
  const file = join(folder, 'backup.gz')
  await tillgate({}, 'db', 'backup', file)
  await database.query('create database restored', 'postgres')
  const to = { DATABASE_URL: `postgresql://${databaseUser}@${database.address}/restored` }
  assert.match(await tillgate(to, 'db', 'restore', file), /The ledger is clean/)
  const count = 'select count(*)::integer as count from orders'
  assert.deepEqual(await database.query(count, 'restored'), await database.query(count))
})
