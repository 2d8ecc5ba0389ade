// Several gateways on one DATA_DIR: one server for all, stopped by the last that leaves, back when it dies.
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { type EmbeddedEvent, startEmbedded } from '../../src/platform/database/embedded/embedded.ts'
import { openPool } from '../../src/platform/database/pool.ts'
import { isTransient } from '../../src/platform/database/transient.ts'
import { isThere, killAndWait, makeDataDir, serverPid, usedDataDir } from '../support/data-dir.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'

const made = await makeDataDir({ after })
const settings = { fsync: 'off' }

suite('gateways on one folder', { concurrency: 2 }, () => {
  test('the first to leave leaves the server running, the last stops it', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const [one, two] = [startGatewayProcess(dataDir), startGatewayProcess(dataDir)]
    const { pid } = await one.event('ready')
    await two.event('ready')
    await one.stop()
    assert.equal(one.events.at(-1)?.kind, 'left_running')
    assert.ok(isThere(pid))
    await two.stop()
    assert.equal(two.events.at(-1)?.kind, 'stopped')
    assert.equal(isThere(pid), false)
  })

  test('two that leave at once stop the server once, time after time', async (t) => {
    const dataDir = await usedDataDir(t, made)
    for (let round = 0; round < 10; round++) {
      const ends: string[] = []
      const report = ({ kind }: EmbeddedEvent) => {
        if (kind === 'stopped' || kind === 'left_running') ends.push(kind)
      }
      const both = await Promise.all([1, 2].map(() => startEmbedded({ dataDir, settings, report })))
      const pid = await serverPid(dataDir)
      await Promise.all(both.map((embedded) => embedded.stop()))
      assert.ok(pid !== undefined && !isThere(pid), `round ${round}: the server was left running`)
      // The other one may find the server gone before it could ask.
      assert.ok(ends.length === 2 && ends.includes('stopped'), ends.join())
    }
  })

  test('two that leave at once do not stop the server under a third', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const lost: string[] = []
    const report = ({ kind }: EmbeddedEvent) => {
      if (kind === 'lost') lost.push(kind)
    }
    const third = await startEmbedded({ dataDir, settings, report })
    for (let round = 0; round < 5; round++) {
      const both = await Promise.all([1, 2].map(() => startEmbedded({ dataDir, settings })))
      await Promise.all(both.map((embedded) => embedded.stop()))
    }
    const pool = openPool(third.connection, { max: 1 })
    assert.equal((await pool.query('select 1')).rowCount, 1)
    await pool.close()
    assert.deepEqual(lost, [])
    await third.stop()
    assert.equal(await serverPid(dataDir), undefined)
  })

  test('one that arrives while the last leaves gets a running server', async (t) => {
    const dataDir = await usedDataDir(t, made)
    for (let round = 0; round < 10; round++) {
      const leaving = await startEmbedded({ dataDir, settings })
      const [arrived] = await Promise.all([startEmbedded({ dataDir, settings }), leaving.stop()])
      const pool = openPool(arrived.connection, { max: 1 })
      assert.equal((await pool.query('select 1')).rowCount, 1)
      await pool.close()
      await arrived.stop()
    }
    assert.equal(await serverPid(dataDir), undefined)
  })

  test('a server killed with -9 comes back for all of them, and their pools go on', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const back = Promise.withResolvers<void>()
    const kinds: string[] = []
    const here = await startEmbedded({
      dataDir,
      settings,
      report: ({ kind }) => {
        kinds.push(kind)
        if (kind === 'recovered') back.resolve()
      },
    })
    const there = startGatewayProcess(dataDir)
    await there.event('ready')
    const pool = openPool(here.connection)
    await pool.query('create table kept as select 42 as answer')
    const before = await here.postmasterPid()
    assert.ok(before !== undefined)
    // Connections of every kind at that moment: idle, inside a statement, and inside a transaction.
    const running = pool.query('select pg_sleep(60)')
    const inTransaction = Promise.withResolvers<void>()
    const transaction = pool.transaction(async (client) => {
      await client.query('select 1')
      inTransaction.resolve()
      await back.promise
      await client.query('select 1')
    })
    await inTransaction.promise
    const outcomes = Promise.allSettled([running, transaction])
    await killAndWait(before)
    for (const outcome of await outcomes) {
      assert.ok(outcome.status === 'rejected' && isTransient(outcome.reason), String(outcome))
    }
    await there.event('recovered')
    const { rows } = await pool.query<{ answer: number }>('select answer from kept')
    assert.equal(rows[0]?.answer, 42)
    assert.notEqual(await here.postmasterPid(), before)
    assert.ok(kinds.indexOf('lost') < kinds.indexOf('recovered'))
    await pool.close()
    await there.stop()
    await here.stop()
    assert.equal(await serverPid(dataDir), undefined)
  })

  test('a stop while the server is being brought back does not hang and leaves none running', async (t) => {
    const dataDir = await usedDataDir(t, made)
    for (const moment of ['lost', 'starting', 'recovered']) {
      const reached = Promise.withResolvers<void>()
      let isKilled = false
      const embedded = await startEmbedded({
        dataDir,
        settings,
        report: ({ kind }) => {
          if (isKilled && kind === moment) reached.resolve()
        },
      })
      const pid = await embedded.postmasterPid()
      assert.ok(pid !== undefined)
      isKilled = true
      process.kill(pid, 'SIGKILL')
      await reached.promise
      await embedded.stop()
      const left = await serverPid(dataDir)
      assert.ok(left === undefined || !isThere(left), `stopped at "${moment}", a server was left running`)
    }
  })

  test('a stop asked for twice is one stop', async (t) => {
    const embedded = await startEmbedded({ dataDir: await usedDataDir(t, made), settings })
    await Promise.all([embedded.stop(), embedded.stop()])
    await embedded.stop()
  })
})
