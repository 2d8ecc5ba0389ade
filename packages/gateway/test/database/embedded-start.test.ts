// How the embedded PostgreSQL comes up, on whatever it finds in DATA_DIR and as whoever starts it.
import assert from 'node:assert/strict'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, suite, test } from 'node:test'
import pg from 'pg'
import type { ConnectionOptions } from '../../src/platform/database/connection.ts'
import { type EmbeddedEvent, startEmbedded } from '../../src/platform/database/embedded/embedded.ts'
import { connectDatabase } from '../../src/platform/database/open-database.ts'
import {
  copyFolder,
  emptyDataDir,
  isThere,
  killAndWait,
  makeDataDir,
  usedDataDir,
} from '../support/data-dir.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'

const settings = { fsync: 'off' }
const made = await makeDataDir({ after })

async function ask<Value>(connection: ConnectionOptions, sql: string): Promise<Value> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows[0]?.[0] as Value
  } finally {
    await client.end()
  }
}

suite('the embedded PostgreSQL starts', { concurrency: 2 }, () => {
  test('with room for the connections of all processes, and never for fewer than is usual', async (t) => {
    const options = { databaseUrl: undefined, report: () => {}, signal: new AbortController().signal }
    for (const [processes, poolMax, wanted] of [
      [1, 10, '100'],
      [16, 10, '224'],
    ] as const) {
      const dataDir = await usedDataDir(t, made)
      const { connection, close } = await connectDatabase({ ...options, dataDir, poolMax, processes })
      assert.equal(await ask(connection, 'show max_connections'), wanted)
      await close()
    }
  })

  test('on an empty folder, reachable by its socket alone, durable by default, and stops', async (t) => {
    const dataDir = await emptyDataDir(t)
    const events: EmbeddedEvent[] = []
    const embedded = await startEmbedded({ dataDir, report: (event) => events.push(event) })
    const { connection } = embedded
    assert.equal(await ask(connection, 'show listen_addresses'), '')
    assert.equal(await ask(connection, 'show fsync'), 'on')
    assert.equal(await ask(connection, 'show synchronous_commit'), 'on')
    assert.equal(await ask(connection, 'show data_checksums'), 'on')
    assert.equal(await ask(connection, 'show server_encoding'), 'UTF8')
    assert.equal(await ask(connection, 'show timezone'), 'UTC')
    const folder = path.join(dataDir, 'postgres')
    assert.equal((await stat(folder)).mode & 0o777, 0o700)
    assert.equal((await stat(path.join(folder, '.s.PGSQL.5432'))).mode & 0o077, 0)
    const pid = await embedded.postmasterPid()
    assert.ok(pid !== undefined && isThere(pid))
    await embedded.stop()
    assert.equal(isThere(pid), false)
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['creating', 'starting', 'running', 'stopped'],
    )
    assert.deepEqual(await readdir(dataDir), ['postgres', 'postgres.log'])
  })

  test('a second time on the same data, within half a second', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const first = await startEmbedded({ dataDir, settings })
    await ask(first.connection, 'create table kept as select 42 as answer')
    await first.stop()
    const times: number[] = []
    // Again where other suites had the machine meanwhile: once is enough to show that nothing in it takes longer.
    while (times.length < 10 && !times.some((ms) => ms < 500)) {
      const began = performance.now()
      const again = await startEmbedded({ dataDir, settings })
      assert.equal(await ask(again.connection, 'select answer from kept'), 42)
      times.push(performance.now() - began)
      await again.stop()
    }
    assert.ok(Math.min(...times) < 500, `took ${times} ms`)
  })

  test('by adopting the server that a gateway killed with -9 left running', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const killed = startGatewayProcess(dataDir)
    const { pid } = await killed.event('ready')
    await killed.kill()
    assert.ok(isThere(pid))
    const events: EmbeddedEvent[] = []
    const embedded = await startEmbedded({ dataDir, settings, report: (event) => events.push(event) })
    assert.equal(await embedded.postmasterPid(), pid)
    assert.deepEqual(
      events.map((event) => event.kind === 'running' && event.startedByUs),
      [false],
    )
    await embedded.stop()
    assert.equal(isThere(pid), false)
  })

  test('after the server itself was killed with -9 while nobody watched', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const killed = startGatewayProcess(dataDir)
    const { pid } = await killed.event('ready')
    await killed.kill()
    await killAndWait(pid)
    const embedded = await startEmbedded({ dataDir, settings })
    assert.notEqual(await embedded.postmasterPid(), pid)
    await embedded.stop()
  })

  test('although postmaster.pid names a living process that is no PostgreSQL', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const folder = path.join(dataDir, 'postgres')
    // What a power cut leaves in a container, where the numbers of processes come round again. Not our own
    // number and not our parent's: PostgreSQL sees through those by itself.
    const bystander = startGatewayProcess(await usedDataDir(t, made))
    const { pid } = await bystander.event('ready')
    const lines = [pid, folder, 1_700_000_000, 5432, folder, '', '  1234567         9', 'ready   ', '']
    await writeFile(path.join(folder, 'postmaster.pid'), lines.join('\n'))
    await writeFile(path.join(folder, '.s.PGSQL.5432.lock'), lines.slice(0, 5).join('\n'))
    const embedded = await startEmbedded({ dataDir, settings })
    assert.notEqual(await embedded.postmasterPid(), pid)
    await embedded.stop()
    await bystander.stop()
  })

  test('although a full disk or a power cut left empty lock files', async (t) => {
    const dataDir = await usedDataDir(t, made)
    await writeFile(path.join(dataDir, 'postgres/postmaster.pid'), '')
    await writeFile(path.join(dataDir, 'postgres/.s.PGSQL.5432.lock'), '')
    const embedded = await startEmbedded({ dataDir, settings })
    assert.equal(await ask(embedded.connection, 'select 1'), 1)
    await embedded.stop()
  })

  test('one server for several gateways that begin at once on an empty folder', async (t) => {
    const dataDir = await emptyDataDir(t)
    const gateways = [1, 2, 3].map(() => startGatewayProcess(dataDir))
    const ready = await Promise.all(gateways.map((gateway) => gateway.event('ready')))
    assert.equal(new Set(ready.map(({ pid }) => pid)).size, 1)
    assert.deepEqual(await readdir(dataDir), ['postgres', 'postgres.log'])
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    assert.equal(isThere(ready[0]?.pid ?? 0), false)
  })

  test('and clears away what an initdb that was killed left behind', async (t) => {
    const dataDir = await emptyDataDir(t)
    // No process has this number: it is past what Linux and macOS give out.
    const leftover = path.join(dataDir, 'postgres.new-99999999-x')
    await mkdir(leftover, { recursive: true })
    await writeFile(path.join(leftover, 'half'), 'made')
    const embedded = await startEmbedded({ dataDir, settings })
    await embedded.stop()
    assert.deepEqual(await readdir(dataDir), ['postgres', 'postgres.log'])
  })

  test('under a path too long for a unix socket, by way of a private folder', async (t) => {
    const home = await emptyDataDir(t)
    const dataDir = path.join(home, 'deep-'.repeat(20), 'deep-'.repeat(20))
    await copyFolder(made, dataDir)
    const embedded = await startEmbedded({ dataDir, settings })
    assert.ok('host' in embedded.connection)
    const { host } = embedded.connection
    t.after(() => rm(host, { recursive: true, force: true }))
    assert.ok(!host.startsWith(home))
    assert.equal((await stat(host)).mode & 0o777, 0o700)
    // Another gateway finds it there.
    const other = startGatewayProcess(dataDir)
    const { pid } = await other.event('ready')
    assert.equal(pid, await embedded.postmasterPid())
    await other.stop()
    await embedded.stop()
    assert.equal(isThere(pid), false)
  })

  test('under a path with spaces, commas, quotes and letters beyond ASCII', async (t) => {
    const dataDir = path.join(await emptyDataDir(t), `a b,"c'é`)
    await copyFolder(made, dataDir)
    const embedded = await startEmbedded({ dataDir, settings })
    assert.equal(await ask(embedded.connection, 'select 1'), 1)
    await embedded.stop()
  })
})
