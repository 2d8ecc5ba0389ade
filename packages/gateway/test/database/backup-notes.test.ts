// The age of the last backup, as metrics tell it: after `db backup`, and after what another tool took.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { backupWithinMs, noteBackup } from '../../src/platform/database/backup/backup-notes.ts'
import { refreshEveryMs } from '../../src/platform/observability/metrics/database-metrics.ts'
import { TestClock } from '../support/clock.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { ConsoleClient } from '../support/console.ts'
import { readExposition } from '../support/exposition.ts'
import { startTestGateway } from '../support/gateway.ts'
import { temporaryFolder } from '../support/process.ts'

const clock = new TestClock(Date.now())
const gateway = await startTestGateway({ clock })
const tillgate = (...args: string[]) => runCommand(databaseOf(gateway), args)

async function lastBackupSeconds(): Promise<number> {
  clock.advance(refreshEveryMs)
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text()
  return readExposition(text).value('tillgate_last_backup_timestamp_seconds') ?? Number.NaN
}

test('a gateway of which no backup was taken says 0', async () => {
  assert.equal(await lastBackupSeconds(), 0)
})

test('a backup notes its time, and so does the command for other tools', async () => {
  const before = Date.now() / 1000
  const { code, out } = await tillgate('db', 'backup', join(temporaryFolder(), 'one.gz'), '--json')
  assert.equal(code, 0)
  assert.equal(JSON.parse(out).noted, true)
  const own = await lastBackupSeconds()
  assert(own >= before && own <= Date.now() / 1000)
  assert.equal((await tillgate('db', 'note-backup', 'pgbackrest')).code, 0)
  assert((await lastBackupSeconds()) > own)
})

test('a name that is none of a tool is refused', async () => {
  const { code, err } = await tillgate('db', 'note-backup', 'PG dump')
  assert.notEqual(code, 0)
  assert.match(err, /not a valid name for a tool/)
})

test('a live gateway whose last backup is older than two days, or that has none, needs attention', async () => {
  const live = await startTestGateway({
    clock,
    environment: { MODE: 'live', PUBLIC_URL: 'https://pay.example.com' },
  })
  const admin = new ConsoleClient(live)
  await admin.signIn()
  const overview = async () => (await admin.get('/overview')).text
  assert.match(await overview(), /No backup has been recorded/)
  assert.match((await admin.get('/system')).text, /Last backup<.*None recorded/s)
  await noteBackup(live.pool, { tool: 'pgbackrest', takenAtMs: clock.now() - backupWithinMs })
  assert.match(await overview(), /Nothing needs attention/)
  await live.pool.query('update backups set taken_at = taken_at - 1')
  assert.match(await overview(), /The last backup is 2 d old/)
  assert.doesNotMatch((await admin.get('/system')).text, /None recorded/)
})
