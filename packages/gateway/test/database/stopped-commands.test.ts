// Ctrl-C and SIGTERM at commands that take long: they end soon, leave nothing half done, and say so.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Pool } from '../../src/platform/database/pool.ts'
import { untilBlocked } from '../support/blocked.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { freshDatabase } from '../support/database.ts'
import { startTestGateway } from '../support/gateway.ts'
import { commandScript, lineWith, run, temporaryFolder } from '../support/process.ts'
import { urlOf } from '../support/server.ts'

const gateway = await startTestGateway()
await gateway.addMerchant()
await gateway.stop()
const settings = databaseOf(gateway)
const folder = temporaryFolder()
const file = join(folder, 'backup.jsonl.gz')

/** The command as it ends when the signal comes while a statement of it waits for the lock. */
async function stopped(
  args: string[],
  held: {
    environment: Record<string, string>
    pool: Pool
    lock: string
    waiting: string
    signal: NodeJS.Signals
  },
) {
  const environment = { DATA_DIR: join(folder, 'data'), ...held.environment }
  const [started] = await held.pool.transaction(async (client) => {
    await client.query(held.lock)
    const child = run(environment, { script: commandScript, args })
    await untilBlocked(held.pool, 1, held.waiting)
    child.child.kill(held.signal)
    // As npm passes a Ctrl-C on that the terminal has told already.
    child.child.kill(held.signal)
    return [child]
  })
  return { ...(await started.exited()), output: started.output() }
}

test('a backup that is stopped leaves no file behind', async () => {
  const ended = await stopped(['db', 'backup', file], {
    environment: settings,
    pool: gateway.pool,
    lock: 'lock table merchants in access exclusive mode',
    waiting: '%backup_rows%from merchants t',
    signal: 'SIGINT',
  })
  assert.equal(ended.code, 130, ended.output)
  assert.equal(ended.output, 'Stopped by SIGINT. No backup was made; the incomplete file was removed.\n')
  assert.deepEqual(readdirSync(folder), [])
})

test('a restore that is stopped leaves the database empty, and is run again', async () => {
  assert.equal((await runCommand(settings, ['db', 'backup', file])).code, 0)
  const target = await freshDatabase()
  const environment = { ...settings, DATABASE_URL: urlOf(target.connection) }
  const ended = await stopped(['db', 'restore', file], {
    environment,
    pool: target.pool,
    lock: 'lock table merchants in share mode',
    waiting: 'delete from merchants',
    signal: 'SIGTERM',
  })
  assert.equal(ended.code, 143, ended.output)
  assert.match(ended.output, /^Stopped by SIGTERM\. Nothing was restored/)
  assert.equal((await target.pool.query('select from merchants')).rowCount, 0)
  const again = await runCommand(environment, ['db', 'restore', file])
  assert.equal(again.code, 0, again.err)
})

test('a rotation of the master key that is stopped says how far it came, and is run again', async () => {
  const environment = {
    ...settings,
    MASTER_KEY: `${randomBytes(32).toString('base64')},${settings['MASTER_KEY']}`,
  }
  const rotate = ['master-key', 'rotate', '--reason', 'yearly']
  const ended = await stopped(rotate, {
    environment,
    pool: gateway.pool,
    lock: 'lock table merchant_keys in share mode',
    waiting: '%update merchant_keys%',
    signal: 'SIGINT',
  })
  assert.equal(ended.code, 130, ended.output)
  assert.match(
    ended.output,
    /^Stopped by SIGINT\. [1-9]\d* secrets were re-encrypted, others .*Run the command again/s,
  )
  const again = await runCommand(environment, rotate)
  assert.match(again.out, /^[1-9]\d* secrets were re-encrypted under the new key/)
  assert.match((await runCommand(environment, rotate)).out, /^No secret needed re-encryption/)
})

test('a command that waits for a database that is away says so, and ends by one signal', async () => {
  const away = run(
    { DATABASE_URL: 'postgresql://tillgate@127.0.0.1:9/away', MASTER_KEY: settings['MASTER_KEY'] ?? '' },
    { script: commandScript, args: ['merchant', 'list'] },
  )
  await lineWith(away, 'Retrying', 20_000)
  away.child.kill('SIGTERM')
  assert.deepEqual(await away.exited(), { code: 143, signal: null })
  assert.match(
    away.output(),
    /^The database at .* does not respond \(.*\)\. Retrying; press Ctrl-C to stop\.\nStopped by SIGTERM/,
  )
})
