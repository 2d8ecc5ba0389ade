// A database belongs to the mode of its first start. Whatever opens it with the other MODE is refused, and a test
// wallet in a live database neither signs in nor pays.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { settings } from '../../src/app/settings/settings.ts'
import { placeOfPin } from '../../src/core/wallets/rules/wallet.ts'
import { bindMode, readMode } from '../../src/platform/database/mode.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { sealHash } from '../../src/platform/runtime/secrets/secret-hash.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import { ensureTestWallets, testWalletPin } from '../../src/sandbox/test-wallets.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { openMoney } from '../support/money.ts'
import { testOperations } from '../support/operations.ts'
import { temporaryFolder } from '../support/process.ts'
import { urlOf } from '../support/server.ts'
import { testEnvironment } from '../support/started.ts'

const live = { MODE: 'live', PUBLIC_URL: 'https://pay.example.com' }
const unset = { mode: 'sandbox', isModeGiven: false } as const
const sandbox = { mode: 'sandbox', isModeGiven: true } as const
const real = { mode: 'live', isModeGiven: true } as const

function tillgate(
  gateway: Pick<TestGateway, 'config'>,
  environment: Record<string, string>,
  ...args: string[]
) {
  const DATA_DIR = temporaryFolder()
  return runCommand({ DATA_DIR, ...databaseOf(gateway), TRUSTED_PROXIES: 'none', ...environment }, args)
}

/** As a version before this one left it. */
async function forgetMode(pool: Pool): Promise<void> {
  await pool.query('delete from database_mode')
}

test('a live gateway, an API and a worker alike, refuses the database of a sandbox', async () => {
  const share = await startTestGateway()
  assert.equal(await readMode(share.pool), 'sandbox')
  for (const ROLES of ['api,worker', 'worker']) {
    await assert.rejects(startTestGateway({ share, environment: { ...live, ROLES } }), {
      exitCode: 78,
      message:
        /^This database belongs to sandbox, and MODE is live\.\nSet MODE=sandbox, or give the live gateway/,
    })
  }
})

test('a gateway without MODE refuses a live database, and leaves it without test wallets', async () => {
  const share = await startTestGateway({ environment: live })
  assert.equal(await readMode(share.pool), 'live')
  await assert.rejects(startTestGateway({ share }), {
    exitCode: 78,
    message: /^This database belongs to live, and MODE is not set, which means sandbox\.\nSet MODE=live/,
  })
  const { rows } = await share.pool.query('select from wallets')
  assert.equal(rows.length, 0)
})

test('commands refuse the other mode, those that do not migrate too', async () => {
  const gateway = await startTestGateway({ environment: live })
  const file = join(temporaryFolder(), 'backup.jsonl.gz')
  for (const args of [
    ['merchant', 'list'],
    ['wallet', 'list'],
    ['ledger', 'verify'],
    ['db', 'prune'],
    ['db', 'backup', file],
    ['db', 'distribute'],
  ]) {
    const { code, err } = await tillgate(gateway, {}, ...args)
    assert.deepEqual([code, /belongs to live/.test(err)], [78, true], `${args}: ${err}`)
  }
  assert.equal(existsSync(file), false)
  assert.equal((await tillgate(gateway, live, 'merchant', 'list')).code, 0)
})

test('a backup carries the mode, and is not restored under another one', async () => {
  const gateway = await startTestGateway({ environment: live })
  const file = join(temporaryFolder(), 'backup.jsonl.gz')
  assert.equal((await tillgate(gateway, live, 'db', 'backup', file)).code, 0)
  const { pool, connection } = await emptyDatabase()
  const DATABASE_URL = urlOf(connection)
  const refused = await tillgate(gateway, { DATABASE_URL }, 'db', 'restore', file)
  assert.deepEqual([refused.code, /^This backup belongs to live/.test(refused.err)], [78, true], refused.err)
  const { rows } = await pool.query(`select from pg_tables where schemaname = 'public'`)
  assert.equal(rows.length, 0)
  assert.equal((await tillgate(gateway, { ...live, DATABASE_URL }, 'db', 'restore', file)).code, 0)
  assert.equal(await readMode(pool), 'live')
})

test('a database from before is a sandbox where it holds test wallets', async () => {
  const { pool } = await startTestGateway()
  await forgetMode(pool)
  await assert.rejects(bindMode(pool, real), { exitCode: 78, message: /holds the test wallets of a sandbox/ })
  assert.equal(await readMode(pool), undefined)
  await bindMode(pool, unset)
  assert.equal(await readMode(pool), 'sandbox')
})

test('a database from before is live where it holds orders and no test wallets', async () => {
  const { pool } = await freshDatabase()
  const money = openMoney(pool, { clock: systemClock })
  await money.addOrder(await money.addMerchant())
  for (const given of [unset, sandbox]) {
    await assert.rejects(bindMode(pool, given), { exitCode: 78, message: /belongs to live/ })
  }
  await bindMode(pool, real)
  assert.equal(await readMode(pool), 'live')
})

test('a database from before that holds neither asks for MODE once', async () => {
  const { pool } = await startTestGateway({ environment: live })
  await forgetMode(pool)
  await assert.rejects(bindMode(pool, unset), { exitCode: 78, message: /Set MODE=sandbox or MODE=live/ })
  await bindMode(pool, sandbox)
  await bindMode(pool, unset)
  assert.equal(await readMode(pool), 'sandbox')
})

test('of many first starts at once one writes the mode, and all of the other mode are refused', async () => {
  const { pool } = await freshDatabase()
  const given = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? unset : real))
  const ended = await Promise.allSettled(given.map((each) => bindMode(pool, each)))
  const bound = await readMode(pool)
  for (const [index, { status }] of ended.entries()) {
    assert.equal(status, given[index]?.mode === bound ? 'fulfilled' : 'rejected')
  }
})

test('gateways that start together on a new database all serve', async () => {
  const share = await freshDatabase()
  const first = { pool: share.pool, config: { databaseUrl: urlOf(share.connection) } } as TestGateway
  await Promise.all(Array.from({ length: 4 }, () => startTestGateway({ share: first })))
  assert.equal(await readMode(share.pool), 'sandbox')
})

test('in a live database test wallets are not made, and one that is there neither signs in nor pays', async () => {
  const { pool } = await freshDatabase()
  await bindMode(pool, real)
  const vault = makeVault(randomBytes(32))
  const { stores, operations } = testOperations(pool, { vault })
  await ensureTestWallets({ ...stores, vault, clock: systemClock, random: randomBytes })
  assert.deepEqual(await stores.wallets.listTestWallets(), [])

  await pool.query({
    text: `insert into wallets (wallet_id, login, name, sealed_pin, status, behaviour, created_at)
           values ('ada', 'ada@test.example', 'Ada', $1, 'active', 'approves', 1)`,
    values: [
      await sealHash({ secret: testWalletPin, place: placeOfPin('ada') }, { vault, random: randomBytes }),
    ],
  })
  const given = { login: 'ada@test.example', pin: testWalletPin, address: '127.0.0.1' }
  assert.deepEqual(await operations.authenticateWallet(given), { kind: 'locked', untilMs: undefined })

  const money = openMoney(pool, { clock: systemClock })
  const order = await money.addOrder(await money.addMerchant())
  const paid = await money.submitPayment({ ...order, walletId: 'ada' })
  assert.deepEqual(paid, { kind: 'wallet_locked' })
})

test('live refuses the master key of .env.example in a file too', async () => {
  const MASTER_KEY_FILE = join(temporaryFolder(), 'master.key')
  writeFileSync(MASTER_KEY_FILE, `${testEnvironment.MASTER_KEY}\n${settings.MASTER_KEY.example}\n`)
  await assert.rejects(
    startTestGateway({ environment: { ...live, MASTER_KEY: '', MASTER_KEY_FILE } }),
    /MASTER_KEY_FILE [^\n]*a published example/,
  )
})
