import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { commit, version } from '../../src/platform/runtime/version.ts'
import { until } from '../support/callbacks.ts'
import {
  copyOfFolder,
  lineWith,
  makeUsedFolder,
  run,
  startProcess,
  temporaryFolder,
} from '../support/process.ts'

const used = await makeUsedFolder()

/** What people see of trouble: plain lines, no stack, no JSON. */
function assertPlain(output: string): void {
  assert.doesNotMatch(output, /^\s+at .*:\d+/m, output)
  assert.ok(output.trim().split('\n').length <= 4, output)
}

async function status(url: string): Promise<number> {
  return (await fetch(url)).status
}

test('both listeners answer health and readiness, and a clean stop leaves nothing behind', async () => {
  const dataDir = await copyOfFolder(used)
  const gateway = await startProcess({ DATA_DIR: dataDir })
  for (const url of [gateway.publicUrl, gateway.adminUrl]) {
    const health = await fetch(`${url}/healthz`)
    assert.deepEqual([health.status, await health.json()], [200, { status: 'alive' }])
    assert.ok(health.headers.get('x-request-id'))
    const ready = await fetch(`${url}/readyz`)
    const about = url === gateway.adminUrl ? { version, commit } : {}
    assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready', ...about }])
  }
  const pid = Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
  gateway.child.kill('SIGTERM')
  assert.deepEqual(await gateway.exited(), { code: 0, signal: null })
  assert.throws(() => process.kill(pid, 0), 'PostgreSQL is still there')
})

test('killed with -9, the next start is ready again on the same data, with no hand', async () => {
  const environment = { DATA_DIR: await copyOfFolder(used) }
  const first = await startProcess(environment)
  const made = run(environment, {
    script: tillgate,
    args: ['merchant', 'add', '--name', 'Tea House', '--json'],
  })
  assert.equal((await made.exited()).code, 0, made.output())
  first.child.kill('SIGKILL')
  await first.exited()
  const second = await startProcess(environment)
  assert.match(second.output(), /PostgreSQL is already running/)
  assert.equal(await status(`${second.publicUrl}/readyz`), 200)
  const list = run(environment, { script: tillgate, args: ['merchant', 'list'] })
  await list.exited()
  assert.match(list.output(), /Tea House/)
  second.child.kill('SIGINT')
  assert.equal((await second.exited()).code, 0)
})

const tillgate = join(import.meta.dirname, '../../tillgate.js')

test('SIGUSR2 does not end the only process; one Ctrl-C that arrives twice, as under npm, is one', async () => {
  const alone = await startProcess({ DATA_DIR: await copyOfFolder(used) })
  alone.child.kill('SIGUSR2')
  await lineWith(alone, 'it is replaced by a restart')
  assert.equal(await status(`${alone.publicUrl}/readyz`), 200)
  alone.child.kill('SIGINT')
  alone.child.kill('SIGINT')
  assert.equal((await alone.exited()).code, 0)
})

test('a port that is taken is one clear line that names the setting', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  after(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as AddressInfo
  for (const [setting, other] of [
    ['PORT', 'ADMIN_PORT'],
    ['ADMIN_PORT', 'PORT'],
  ] as const) {
    const folder = temporaryFolder()
    const started = run({ DATA_DIR: folder, [setting]: String(port), [other]: '0' })
    assert.equal((await started.exited()).code, 69)
    assert.ok(!existsSync(join(folder, 'postgres')), 'no database was created')
    assert.match(started.output(), new RegExp(`Port ${port} is taken.*set ${setting} `))
    assertPlain(started.output())
  }
})

test('all problems of the configuration are told at once', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.env'), 'DATABSE_URL=postgres://localhost/x\n')
  const started = run({ DATA_DIR: folder, PORT: 'x', MODE: 'live' }, { cwd: folder })
  assert.equal((await started.exited()).code, 78)
  for (const name of ['DATABSE_URL', 'PORT', 'PUBLIC_URL', 'MASTER_KEY', 'OPERATOR_PASSWORD'])
    assert.match(started.output(), new RegExp(`  ${name} `))
  assert.doesNotMatch(started.output(), /^\s+at /m)
})

test('a setting that does not exist is a warning at the start, with the nearest name', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.env'), 'COMPOSE_PROJECT_NAME=shop\n')
  const DATABASE_URL = 'postgres://tillgate@127.0.0.1:1/tillgate'
  const started = run({ DATA_DIR: folder, DATABASE_URL, PORT: '0', SMTP_HOST: 'mail' }, { cwd: folder })
  const line = JSON.parse(await lineWith(started, 'SMTP_HOST in the environment is not a setting'))
  assert.equal(line.level, 'warn')
  assert.match(line.msg, /the nearest setting is SMTP_URL$/)
  await lineWith(started, 'COMPOSE_PROJECT_NAME in .env is not a setting')
  await lineWith(started, 'waiting for the database')
  started.child.kill('SIGTERM')
  assert.equal((await started.exited()).code, 0)
})

test('a folder that cannot be written is one clear line', async () => {
  const folder = temporaryFolder()
  // Root may write anywhere but below a file.
  writeFileSync(join(folder, 'file'), '')
  const started = run({ DATA_DIR: join(folder, 'file/data') })
  assert.equal((await started.exited()).code, 73)
  assert.match(started.output(), /DATA_DIR/)
  assertPlain(started.output())
})

test('a wrong DATABASE_URL is told without its password', async () => {
  const started = run({ DATA_DIR: temporaryFolder(), DATABASE_URL: 'mysql://root:hunter2@localhost/x' })
  assert.equal((await started.exited()).code, 78)
  assert.match(started.output(), /DATABASE_URL/)
  assert.doesNotMatch(started.output(), /hunter2/)
})

test('a database that is away is waited for, told of, and not ready; the wait can be stopped', async () => {
  const started = run({
    DATA_DIR: temporaryFolder(),
    DATABASE_URL: 'postgres://tillgate:secret@127.0.0.1:1/tillgate',
    PORT: '0',
  })
  const line = JSON.parse(await lineWith(started, 'waiting for the database'))
  assert.match(line.reason, /./)
  assert.doesNotMatch(started.output(), /secret/)
  started.child.kill('SIGTERM')
  assert.equal((await started.exited()).code, 0)
})

test('while the database is unavailable at the start, the gateway is alive, not ready, and answers 50300', async () => {
  const ports = await freePorts(2)
  const started = run({
    DATA_DIR: temporaryFolder(),
    DATABASE_URL: 'postgres://tillgate@127.0.0.1:1/tillgate',
    PORT: String(ports[0]),
    ADMIN_PORT: String(ports[1]),
  })
  await lineWith(started, 'waiting for the database')
  const url = `http://127.0.0.1:${ports[0]}`
  assert.equal(await status(`${url}/healthz`), 200)
  const ready = await fetch(`${url}/readyz`)
  assert.equal(ready.status, 503)
  assert.match(await ready.text(), /starting/)
  const envelope = {
    merchantId: '1'.repeat(18),
    method: 'service.trade.query',
    sign: 'AAAA',
    timestamp: Date.now(),
    body: 'AAAA',
  }
  const answer = await fetch(`${url}/api/v1/gateway`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(envelope),
  })
  assert.equal(answer.status, 503)
  assert.match(await answer.text(), /"code":50300/)
  assert.equal(answer.headers.get('retry-after'), '1')
  started.child.kill('SIGTERM')
  assert.equal((await started.exited()).code, 0)
})

test('PostgreSQL killed under a running gateway comes back by itself, and readiness tells the truth meanwhile', async () => {
  const dataDir = await copyOfFolder(used)
  const gateway = await startProcess({ DATA_DIR: dataDir })
  const pid = Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
  process.kill(pid, 'SIGKILL')
  await lineWith(gateway, 'the database is unavailable')
  await lineWith(gateway, 'the database is available again')
  await until(async () => (await status(`${gateway.publicUrl}/readyz`)) === 200)
  gateway.child.kill('SIGTERM')
  assert.equal((await gateway.exited()).code, 0)
})

test('a request under way is finished before a stop, and a second signal does not wait', async () => {
  const gateway = await startProcess({ DATA_DIR: await copyOfFolder(used) })
  // A request whose body never comes holds the stop up.
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{')),
  })
  const held = fetch(`${gateway.publicUrl}/api/v1/gateway`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    duplex: 'half',
  } as RequestInit).catch(() => {})
  await pause(100)
  gateway.child.kill('SIGTERM')
  await lineWith(gateway, '"stopping"')
  await pause(600)
  assert.equal(gateway.child.exitCode, null)
  gateway.child.kill('SIGINT')
  assert.equal((await gateway.exited()).code, 130)
  await held
})

test('a stop that comes late in the start stops what was started', async () => {
  const dataDir = temporaryFolder()
  const starting = run({ DATA_DIR: dataDir })
  await lineWith(starting, 'the database schema was updated')
  starting.child.kill('SIGTERM')
  assert.deepEqual(await starting.exited(), { code: 0, signal: null })
  assert.ok(!existsSync(join(dataDir, 'postgres/postmaster.pid')), 'PostgreSQL is still there')
})

test('two gateways on one DATA_DIR share one PostgreSQL, which lives until the last one stops', async () => {
  const dataDir = temporaryFolder()
  const [first, second] = await Promise.all([
    startProcess({ DATA_DIR: dataDir }),
    startProcess({ DATA_DIR: dataDir }),
  ])
  first.child.kill('SIGTERM')
  assert.equal((await first.exited()).code, 0)
  assert.equal(await status(`${second.publicUrl}/readyz`), 200)
  second.child.kill('SIGTERM')
  assert.equal((await second.exited()).code, 0)
})

test('another master key than the one that sealed the secrets is refused at the start', async () => {
  const started = run({
    DATA_DIR: await copyOfFolder(used),
    MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
  })
  assert.equal((await started.exited()).code, 78)
  assert.match(started.output(), /another master key/)
  assertPlain(started.output())
})

test('what an ordinary user lacks the right to write is said to that user', {
  skip: process.getuid?.() === 0 ? undefined : 'only root can become another user',
}, async () => {
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, 'closed'), { mode: 0o700 })
  const output = execFileSync(
    process.execPath,
    [
      '-e',
      `
      const { loadMasterKeys } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/platform/runtime/secrets/master-keys.ts'))})
      process.setuid(65534)
      try { loadMasterKeys({ mode: 'sandbox', dataDir: ${JSON.stringify(join(folder, 'closed/data'))} }) } catch (error) { console.log(error.exitCode, error.message) }
    `,
    ],
    { encoding: 'utf8' },
  )
  assert.match(output, /^73 The folder DATA_DIR cannot be written/)
})

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
