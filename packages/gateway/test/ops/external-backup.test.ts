// The drill for a PostgreSQL of one's own: pg_dump and pg_basebackup taken while orders are made, brought up again as
// docs/operating.md says, books proved, callbacks delivered.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { until } from '../support/callbacks.ts'
import {
  databaseUser,
  endDebianPostgres,
  restoreBaseBackup,
  startDebianPostgres,
  workshop,
} from '../support/debian-postgres.ts'
import { demoMerchant } from '../support/demo-merchant.ts'
import { createBody } from '../support/order.ts'
import { commandScript, run, startProcess, temporaryFolder } from '../support/process.ts'

const MASTER_KEY = randomBytes(32).toString('base64')
const DATA_DIR = temporaryFolder()

after(endDebianPostgres)

test('a dump and a base backup, both taken under load, come up with clean books and go on delivering', async () => {
  const server = await startDebianPostgres()
  const environment = {
    DATA_DIR,
    MASTER_KEY,
    DATABASE_URL: `postgresql://${databaseUser}@${server.address}/${databaseUser}`,
  }
  const gateway = await startProcess(environment)
  const merchant = demoMerchant(DATA_DIR, gateway.publicUrl)
  // The shop is away at first, so callbacks wait in the backup.
  const shop = createServer((request, response) => {
    request.resume()
    response.end('{"code":20000,"msg":""}')
  })
  shop.listen(0, '127.0.0.1')
  await once(shop, 'listening')
  const { port } = shop.address() as AddressInfo
  shop.close()
  const pay = async () => {
    const body = {
      ...createBody({ now: Date.now(), orderNo: randomBytes(8).toString('hex') }),
      callbackUrl: `http://127.0.0.1:${port}/`,
    }
    const { data } = await merchant.call('service.trade.create', body)
    await merchant.call('service.sandbox.pay', { paymentId: data.paymentId, outcome: 'success' })
  }
  for (let count = 0; count < 10; count++) await pay()
  let making = true
  const load = (async () => {
    while (making) await pay()
  })()
  const dump = join(workshop.folder, 'tillgate.dump')
  workshop.tool('pg_dump', '--format=custom', '--file', dump, '--dbname', environment.DATABASE_URL)
  const restored = await restoreBaseBackup(server)
  making = false
  await load
  gateway.child.kill('SIGTERM')
  await gateway.exited()

  await restored.query('create database from_dump', 'postgres')
  const dumpUrl = `postgresql://${databaseUser}@${restored.address}/from_dump`
  workshop.tool('pg_restore', '--dbname', dumpUrl, '--exit-on-error', '--no-owner', dump)
  const baseUrl = `postgresql://${databaseUser}@${restored.address}/${databaseUser}`
  shop.listen(port, '127.0.0.1')
  await once(shop, 'listening')
  after(() => shop.close().closeAllConnections())
  for (const [DATABASE_URL, name] of [
    [dumpUrl, 'from_dump'],
    [baseUrl, databaseUser],
  ] as const) {
    const verify = run(
      { ...environment, DATABASE_URL },
      { script: commandScript, args: ['ledger', 'verify'] },
    )
    assert.equal((await verify.exited()).code, 0, verify.output())
    const [{ count = 0 } = {}] = await restored.query<{ count: number }>(
      'select count(*)::integer as count from callback_queue',
      name,
    )
    assert.ok(count >= 20, `${count} callbacks wait`)
    // Their next try is minutes away; the drill does not wait for it.
    await restored.query(
      'update callback_queue set due_at = 0, claimed_until = null; delete from callback_hosts',
      name,
    )
    const again = await startProcess({ ...environment, DATABASE_URL })
    await until(async () => (await restored.query('select from callback_queue', name)).length === 0)
    again.child.kill('SIGTERM')
    assert.equal((await again.exited()).code, 0)
  }
})
