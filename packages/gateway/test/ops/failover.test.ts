// The primary loses its power under load and the standby is promoted: nothing that was acknowledged is lost, whoever
// asks meanwhile hears 50300, and the gateway goes on by itself on the server that takes writes.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/callbacks.ts'
import { databaseUser, endDebianPostgres, startDebianPostgres } from '../support/debian-postgres.ts'
import { demoMerchant } from '../support/demo-merchant.ts'
import { createBody } from '../support/order.ts'
import { commandScript, run, startProcess, temporaryFolder } from '../support/process.ts'

const buyers = 8

after(endDebianPostgres)

test('a standby is promoted under load: no acknowledged order is lost, and the gateway finds it by itself', async (t) => {
  const primary = await startDebianPostgres()
  const standby = await primary.addSynchronousStandby()
  const environment = {
    DATA_DIR: temporaryFolder(),
    DATABASE_URL: `postgresql://${databaseUser}@${primary.address},${standby.address}/${databaseUser}?target_session_attrs=read-write`,
    MERCHANT_REQUESTS_PER_SECOND: '100000',
  }
  const gateway = await startProcess(environment)
  const merchant = demoMerchant(environment.DATA_DIR, gateway.publicUrl)

  // Every buyer insists on its order: the same orderNo again until it is acknowledged, then the next.
  const journal = new Map<string, string>()
  const refusals = new Map<number, number>()
  let running = true
  let failing = false
  let lastRefusalAtMs = 0
  const buyer = async (name: number) => {
    for (let count = 0; running; count++) {
      const body = createBody({ now: Date.now(), orderNo: `buyer-${name}-${count}` })
      for (;;) {
        const { code, msg, data } = await merchant.call('service.trade.create', body)
        if (code === 20000) {
          journal.set(body.order.orderNo, data.paymentId)
          if (count % 4 === 0)
            await merchant.call('service.sandbox.pay', { paymentId: data.paymentId, outcome: 'success' })
          break
        }
        assert.ok(failing, `refused while all was well: ${code} ${msg}`)
        refusals.set(code, (refusals.get(code) ?? 0) + 1)
        lastRefusalAtMs = performance.now()
        if (!running) return
        await pause(20)
      }
    }
  }
  const load = Promise.all(Array.from({ length: buyers }, (_, name) => buyer(name)))
  await until(() => journal.size > 100)

  failing = true
  const killedAtMs = performance.now()
  await primary.kill()
  const acknowledgedBefore = journal.size
  await until(() => refusals.size > 0)
  await standby.promote()
  await until(() => journal.size > acknowledgedBefore + 100)
  const goodAgainMs = lastRefusalAtMs - killedAtMs
  failing = false
  await until(() => journal.size > acknowledgedBefore + 200)
  running = false
  await load

  assert.deepEqual([...refusals.keys()], [50300], 'nothing but "not available now"')
  const rows = await standby.query<{ order_no: string; payment_id: string }>(
    `select order_no, payment_id from orders where order_no like 'buyer-%'`,
  )
  const stored = new Map(rows.map((row) => [row.order_no, row.payment_id]))
  const lost = [...journal].filter(([orderNo, paymentId]) => stored.get(orderNo) !== paymentId)
  assert.deepEqual(lost, [], 'every acknowledged order is there, under the id that was answered')

  const ready = await fetch(`${gateway.publicUrl}/readyz`)
  assert.equal(ready.status, 200)
  // The workers settle what was paid on either side of the switch.
  await until(async () => (await standby.query('select from authorizations')).length === 0)
  const verify = run(environment, { script: commandScript, args: ['ledger', 'verify'] })
  assert.equal((await verify.exited()).code, 0, verify.output())
  t.diagnostic(
    `${journal.size} orders acknowledged, ${refusals.get(50300)} answers of 50300, the last ${Math.round(goodAgainMs)} ms after the kill`,
  )
  gateway.child.kill('SIGTERM')
  assert.equal((await gateway.exited()).code, 0)
})
