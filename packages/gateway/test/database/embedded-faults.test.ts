// Starts that cannot succeed: each ends in one clear message with PostgreSQL's own reason, and leaves nothing.
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, suite, test } from 'node:test'
import { startEmbedded } from '../../src/platform/database/embedded/embedded.ts'
import { exitCodes, StartFailure } from '../../src/platform/runtime/start-failure.ts'
import { emptyDataDir, isThere, makeDataDir, serverPid, usedDataDir } from '../support/data-dir.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'

const made = await makeDataDir({ after })
const quick = { fsync: 'off' }

async function failureOf(dataDir: string, settings: Record<string, string> = {}): Promise<StartFailure> {
  try {
    const embedded = await startEmbedded({ dataDir, settings: { ...quick, ...settings } })
    await embedded.stop()
  } catch (error) {
    assert.ok(error instanceof StartFailure, String(error))
    const pid = await serverPid(dataDir)
    assert.ok(pid === undefined || !isThere(pid), 'a server was left running')
    return error
  }
  throw new Error('it started')
}

suite('a start that cannot succeed', { concurrency: 2 }, () => {
  test('shows the reason that PostgreSQL gave', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const { message, exitCode } = await failureOf(dataDir, { shared_buffers: 'plenty' })
    assert.match(message, /^PostgreSQL did not start \(exit code 1\):\n.*"shared_buffers": "plenty"/)
    assert.equal(exitCode, exitCodes.unavailable)
    // What was wrong is gone, and so the next start works.
    const embedded = await startEmbedded({ dataDir, settings: quick })
    await embedded.stop()
  })

  test('shows the reason of a damaged data folder', async (t) => {
    const dataDir = await usedDataDir(t, made)
    await truncate(path.join(dataDir, 'postgres/global/pg_control'), 100)
    const { message } = await failureOf(dataDir)
    assert.match(message, /pg_control/)
    assert.match(message, /(FATAL|PANIC)/)
  })

  test('says that the folder was made by another version, and how to go on', async (t) => {
    const dataDir = await usedDataDir(t, made)
    await writeFile(path.join(dataDir, 'postgres/PG_VERSION'), '16\n')
    const { message, exitCode } = await failureOf(dataDir)
    assert.match(message, /was made by PostgreSQL 16; this Tillgate brings PostgreSQL \d+\.\n.*DATABASE_URL/)
    assert.equal(exitCode, exitCodes.settings)
  })

  test('says that PG_VERSION is damaged', async (t) => {
    const dataDir = await usedDataDir(t, made)
    await writeFile(path.join(dataDir, 'postgres/PG_VERSION'), '\u0000\u0001garbage')
    assert.match((await failureOf(dataDir)).message, /PG_VERSION is damaged/)
  })

  test('touches no folder that holds something else', async (t) => {
    const dataDir = await emptyDataDir(t)
    await mkdir(path.join(dataDir, 'postgres'), { recursive: true })
    await writeFile(path.join(dataDir, 'postgres/thesis.txt'), 'ten years of work')
    assert.match((await failureOf(dataDir)).message, /holds something, but no PostgreSQL data/)
    assert.deepEqual(await readdir(dataDir), ['postgres'])
    assert.equal(await readFile(path.join(dataDir, 'postgres/thesis.txt'), 'utf8'), 'ten years of work')
  })

  test('says that DATA_DIR is a file', async (t) => {
    const dataDir = await emptyDataDir(t)
    await writeFile(dataDir, '')
    const { message, exitCode } = await failureOf(dataDir)
    assert.match(message, /^The data folder .* cannot be used: it is(, or lies under,)? a file/)
    assert.equal(exitCode, exitCodes.cannotCreate)
    const below = await failureOf(path.join(dataDir, 'data'))
    assert.match(below.message, /cannot be used: it is, or lies under, a file/)
    await rm(dataDir)
  })

  test('leaves nothing of a first start that the disk refused', async (t) => {
    const dataDir = await emptyDataDir(t)
    // Files of two megabytes at most, where PostgreSQL wants sixteen: refused by the kernel as a full disk is.
    const limited = path.join(path.dirname(dataDir), 'node')
    await writeFile(limited, `#!/bin/sh\nulimit -f 4096\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 })
    const gateway = startGatewayProcess(dataDir, { node: limited })
    const { name, message } = await gateway.event('failed')
    await gateway.stop()
    assert.equal(name, 'StartFailure')
    assert.match(message, /^PostgreSQL could not make its data folder:\n.*(FATAL|PANIC|File too large)/)
    assert.deepEqual(await readdir(dataDir), [])
    const embedded = await startEmbedded({ dataDir, settings: quick })
    await embedded.stop()
  })

  test('refuses a short socket folder that others may enter', async (t) => {
    const home = await emptyDataDir(t)
    const dataDir = path.join(home, 'deep-'.repeat(20), 'deep-'.repeat(20))
    const embedded = await startEmbedded({ dataDir, settings: quick })
    assert.ok('host' in embedded.connection)
    const { host } = embedded.connection
    t.after(() => rm(host, { recursive: true, force: true }))
    await embedded.stop()
    await rm(host, { recursive: true })
    await mkdir(host, { mode: 0o755 })
    assert.match((await failureOf(dataDir)).message, /is not a private folder of user/)
  })

  test('is given up when it is told to', async (t) => {
    const dataDir = await emptyDataDir(t)
    const giveUp = new AbortController()
    const report = ({ kind }: { kind: string }) => {
      if (kind === 'starting') giveUp.abort()
    }
    await assert.rejects(startEmbedded({ dataDir, settings: quick, report, signal: giveUp.signal }), {
      name: 'AbortError',
    })
    assert.equal(await serverPid(dataDir), undefined, 'a server was left running')
    const embedded = await startEmbedded({ dataDir, settings: quick })
    await embedded.stop()
  })

  test('a log that grew past its bound is put aside at the next start', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const log = path.join(dataDir, 'postgres.log')
    await writeFile(log, 'x'.repeat(10 * 1024 * 1024 + 1))
    const embedded = await startEmbedded({ dataDir, settings: quick })
    await embedded.stop()
    assert.ok((await stat(log)).size < 10_000)
    assert.equal((await stat(`${log}.1`)).size, 10 * 1024 * 1024 + 1)
  })
})
