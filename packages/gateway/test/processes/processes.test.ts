// Two gateways of two processes each over one PostgreSQL, as on two machines, under the load of an independent client:
// restarted with SIGTERM, replaced with SIGUSR2, killed with -9, parent and child. The tests follow one another.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/callbacks.ts'
import { freshDatabase } from '../support/database.ts'
import { readExposition } from '../support/exposition.ts'
import { makeFailoverClient } from '../support/failover-client.ts'
import { createBody } from '../support/order.ts'
import { lineWith, type RunningGateway, run, startProcess, temporaryFolder } from '../support/process.ts'
import { urlOf } from '../support/server.ts'

const dataDir = temporaryFolder()
const { pool, connection } = await freshDatabase()
const environment = {
  DATA_DIR: dataDir,
  DATABASE_URL: urlOf(connection),
  DATABASE_POOL: '4',
  MASTER_KEY: randomBytes(32).toString('base64'),
  PROCESSES: '2',
}
// One after the other: the first one writes the credentials that the client reads.
const steady = await startProcess(environment)
let restarted = await startProcess(environment)
const client = makeFailoverClient(dataDir, [steady.publicUrl, restarted.publicUrl])
after(() => client.close())

const acknowledged = new Map<string, string>()
const paid = new Set<string>()
let isLoading = true
const load = Promise.all(Array.from({ length: 4 }, (_, loop) => keepOrdering(loop)))

async function keepOrdering(loop: number): Promise<void> {
  for (let i = 0; isLoading; i++) {
    const orderNo = `load-${loop}-${i}`
    const { data } = await client.call('service.trade.create', createBody({ now: Date.now(), orderNo }))
    const { paymentId = '' } = data
    acknowledged.set(orderNo, paymentId)
    // Requests all the time, but some of the machine is left for what they are to survive.
    await pause(20)
    if (i % 4 !== 0) continue
    await client.call('service.sandbox.pay', { paymentId, outcome: 'success' })
    paid.add(paymentId)
  }
}

/** While the load goes on: so many more orders. */
async function moreOrders(count: number): Promise<void> {
  const enough = acknowledged.size + count
  await until(() => acknowledged.size >= enough)
}

async function metricsOf({ adminUrl }: RunningGateway) {
  return readExposition(await (await fetch(`${adminUrl}/metrics`)).text())
}

function pidsOf({ output }: RunningGateway): number[] {
  return output()
    .split('\n')
    .filter((line) => line.includes('a process is ready'))
    .map((line) => JSON.parse(line).pid)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a gateway restarted with SIGTERM under load fails no request', async () => {
  await moreOrders(20)
  const { port } = new URL(restarted.publicUrl)
  restarted.child.kill('SIGTERM')
  assert.deepEqual(await restarted.exited(), { code: 0, signal: null })
  client.use([steady.publicUrl])
  restarted = await startProcess({ ...environment, PORT: port })
  client.use([steady.publicUrl, restarted.publicUrl])
  await moreOrders(20)
  assert.deepEqual(client.failures, [])
  const { sum } = await metricsOf(restarted)
  assert.ok(sum('tillgate_api_requests_total') > 0, 'the new one serves on the same port')
})

test('processes that are replaced one by one on SIGUSR2 fail no request', async () => {
  const before = new Set(pidsOf(steady))
  // All of them get it, as from `systemctl kill --signal=USR2`: it ends none by itself.
  for (const pid of before) process.kill(pid, 'SIGUSR2')
  steady.child.kill('SIGUSR2')
  await lineWith(steady, 'all processes were replaced')
  assert.doesNotMatch(steady.output(), /a process ended/)
  await moreOrders(10)
  assert.deepEqual(client.failures, [])
  for (const pid of before) assert.ok(!isAlive(pid))
  assert.equal(pidsOf(steady).length, 4)
})

test('a process killed with -9 is replaced, and no counter falls', async () => {
  const before = (await metricsOf(steady)).sum('tillgate_api_requests_total', { code: '20000' })
  const [victim = 0] = pidsOf(steady).slice(-2)
  process.kill(victim, 'SIGKILL')
  await until(async () => {
    const { value, sum } = await metricsOf(steady)
    assert.ok(sum('tillgate_api_requests_total', { code: '20000' }) >= before)
    return value('tillgate_processes') === 2 && value('tillgate_process_restarts_total') === 1
  })
  await moreOrders(10)
  // Only what the killed one had in its hands.
  for (const failure of client.failures)
    assert.match(failure, /^(ECONNRESET|socket hang up|no answer in time)$/)
})

test('nothing that was acknowledged is lost, and nothing is there twice', async () => {
  isLoading = false
  await load
  const { rows } = await pool.query<{ order_no: string; payment_id: string; status: string; told: string }>(
    `select o.order_no, o.payment_id, o.status,
            (select count(*) from callbacks c
              where c.merchant_id = o.merchant_id and c.payment_id = o.payment_id) as told
       from orders o where o.order_no like 'load-%'`,
  )
  assert.deepEqual(new Map(rows.map((row) => [row.order_no, row.payment_id])), acknowledged)
  assert.equal(rows.length, acknowledged.size)
  for (const { payment_id, status, told } of rows) {
    if (!paid.has(payment_id)) continue
    assert.match(status, /^(confirming|success)$/)
    assert.equal(Number(told), status === 'success' ? 2 : 1)
  }
})

test('when the parent is killed with -9 its processes end, and nobody keeps the port', async () => {
  const pids = pidsOf(steady)
  steady.child.kill('SIGKILL')
  await until(() => pids.every((pid) => !isAlive(pid)))
  await assert.rejects(fetch(`${steady.publicUrl}/healthz`))
  restarted.child.kill('SIGTERM')
  assert.equal((await restarted.exited()).code, 0)
})

test('what is wrong at the start is said once and ends the whole with its code', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  after(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const started = run({ ...environment, PORT: String(port) })
  assert.deepEqual(await started.exited(), { code: 69, signal: null })
  assert.equal(started.output().match(/is taken by another program/g)?.length, 1)
})
