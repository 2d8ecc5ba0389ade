// The embedded PostgreSQL that starts while the program is being loaded: taken later, or left.
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startEmbeddedEarly } from '../../src/platform/database/embedded/early-embedded.ts'
import type { EmbeddedEvent } from '../../src/platform/database/embedded/embedded.ts'
import { readPostmasterFile } from '../../src/platform/database/embedded/postmaster-file.ts'
import { emptyDataDir, makeDataDir, usedDataDir } from '../support/data-dir.ts'

const settings = { fsync: 'off' }
const made = await makeDataDir({ after })
const never = new AbortController().signal

suite('a PostgreSQL that was started early', { concurrency: 2 }, () => {
  test('is begun when its process runs, and tells who takes it all that happened', async (t) => {
    const early = startEmbeddedEarly({ dataDir: await emptyDataDir(t), settings })
    await early.begun
    await pause(20)
    const events: EmbeddedEvent[] = []
    const embedded = await early.take({ report: (event) => events.push(event), signal: never })
    await early.leave()
    assert.ok(await embedded.postmasterPid(), 'what was taken is not stopped')
    await embedded.stop()
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['creating', 'starting', 'running', 'stopped'],
    )
  })

  test('is stopped if it is left', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const early = startEmbeddedEarly({ dataDir, settings })
    await early.begun
    while (!(await readPostmasterFile(`${dataDir}/postgres`))) await pause(10)
    await early.leave()
    assert.equal(await readPostmasterFile(`${dataDir}/postgres`), undefined)
  })

  test('is stopped if the gateway stops before it is taken', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const early = startEmbeddedEarly({ dataDir, settings })
    const stopping = new AbortController()
    stopping.abort(new Error('stopped'))
    await assert.rejects(early.take({ report: () => {}, signal: stopping.signal }), /stopped/)
    assert.equal(await readPostmasterFile(`${dataDir}/postgres`), undefined)
  })

  test('fails where it is taken', async (t) => {
    const dataDir = await usedDataDir(t, made)
    const early = startEmbeddedEarly({ dataDir, settings: { nothing_like_this: '1' } })
    await early.begun
    await pause(200)
    await assert.rejects(early.take({ report: () => {}, signal: never }), /nothing_like_this/)
    await early.leave()
  })
})
