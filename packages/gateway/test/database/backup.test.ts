// The restore drill: a busy database is backed up while it is written to, restored into an empty one, and compared;
// its books are proved, its callbacks go on, and what is damaged or does not belong is refused with nothing changed.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import filePromises from 'node:fs/promises'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { verifyLedger } from '../../src/finance/overview/store/verify-ledger.ts'
import { writeBackup } from '../../src/platform/database/backup/backup.ts'
import type { BackupDecryption } from '../../src/platform/database/backup/backup-encryption.ts'
import { readBackupFile, writeBackupFile } from '../../src/platform/database/backup/backup-file.ts'
import { restoreBackup } from '../../src/platform/database/backup/restore.ts'
import { readCatalog } from '../../src/platform/database/catalog.ts'
import { migrate } from '../../src/platform/database/migrate.ts'
import { bindMode } from '../../src/platform/database/mode.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { tablePlans } from '../../src/platform/database/tables.ts'
import { StartFailure } from '../../src/platform/runtime/start-failure.ts'
import { until } from '../support/callbacks.ts'
import { runCommand } from '../support/command.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'
import { startTestGateway } from '../support/gateway.ts'
import { temporaryFolder } from '../support/process.ts'
import { migrationsFolder, urlOf } from '../support/server.ts'

const gateway = await startTestGateway()
const merchant = await gateway.addMerchant({ name: 'Tea “House” of \\ many signs 茶' })
const MASTER_KEY = gateway.config.masterKey?.toString('base64') ?? ''
const folder = temporaryFolder()

const tillgate = (environment: Record<string, string>, ...args: string[]) =>
  runCommand({ DATA_DIR: join(folder, 'data'), ...environment }, args)

/** Every table by its rows, whatever their order. */
async function digests(pool: Pool): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { name } of (await readCatalog(pool)).tables) {
    const { rows } = await pool.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as digest
         from ${name} t`,
    )
    if (name !== 'migrations' && name !== 'backups') found[name] = rows[0]?.digest ?? ''
  }
  return found
}

async function paidOrders(count: number, callbackUrl: string): Promise<void> {
  for (let at = 0; at < count; at++) await merchant.paidOrder({ callbackUrl })
}

const file = join(folder, 'backup.jsonl.gz')

test('a backup is of one moment, although orders are made and paid meanwhile', async () => {
  // Nobody listens there: the callbacks wait.
  await paidOrders(3, 'http://127.0.0.1:9/callbacks')
  let making = true
  const load = (async () => {
    while (making) await paidOrders(1, 'http://127.0.0.1:9/callbacks')
  })()
  const made = await tillgate(
    { DATABASE_URL: gateway.config.databaseUrl ?? '', MASTER_KEY },
    'db',
    'backup',
    file,
  )
  making = false
  await load
  assert.equal(made.code, 0, made.err)
  assert.match(made.out, /orders +\d+\n/)
  assert.match(made.out, /is not encrypted\. It contains names/)
  assert.match(made.out, /does not contain the master key/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('backup')),
    ['backup.jsonl.gz'],
  )
  const text = gunzipSync(readFileSync(file)).toString()
  assert.ok(!text.includes(MASTER_KEY))
  await assert.rejects(
    writeBackupFile(file, async () => {}),
    /is there already/,
  )
})

test('of two backups to one name the first is kept, on a file system without hard links too', async (t) => {
  const noLinks = Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })
  t.mock.method(filePromises, 'link', () => Promise.reject(noLinks))
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  const shared = join(folder, 'shared.gz')
  const first = Promise.withResolvers<void>()
  const write = (text: string, until: Promise<void>) =>
    writeBackupFile(shared, async (writeText) => {
      await writeText(text)
      await until
    })
  const late = write('second', first.promise)
  await write('first', Promise.resolve())
  first.resolve()
  await assert.rejects(late, /is there already/)
  assert.equal(gunzipSync(readFileSync(shared)).toString(), 'first')
  assert.equal(statSync(shared).mode & 0o777, 0o600)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('shared')),
    ['shared.gz'],
  )
})

test('restored, every table equals the original, the books are proved, and callbacks go on', async () => {
  await gateway.stop()
  const still = join(folder, 'still.jsonl.gz')
  const from = { DATABASE_URL: gateway.config.databaseUrl ?? '', MASTER_KEY }
  assert.equal((await tillgate(from, 'db', 'backup', still)).code, 0)
  const original = await digests(gateway.pool)

  const target = await emptyDatabase()
  const to = { DATABASE_URL: urlOf(target.connection) }
  const wrong = await tillgate(
    { ...to, MASTER_KEY: randomBytes(32).toString('base64') },
    'db',
    'restore',
    still,
  )
  assert.equal(wrong.code, 78)
  assert.match(wrong.err, /not configured here/)
  assert.deepEqual((await readCatalog(target.pool)).tables, [], 'nothing was changed')

  const restored = await tillgate({ ...to, MASTER_KEY }, 'db', 'restore', still)
  assert.equal(restored.code, 0, restored.err)
  assert.match(restored.out, /The ledger is clean/)
  assert.deepEqual(await digests(target.pool), original)
  assert.deepEqual((await verifyLedger(target.pool)).findings, [])
  const again = { lines: readBackupFile(still), migrationsFolder, nowMs: 7, checkHeader: () => {} }
  await assert.rejects(restoreBackup(target.pool, again), /not empty: table .* has rows/)

  const { rows } = await target.pool.query<{ count: string }>('select count(*) from callback_queue')
  const waiting = Number(rows[0]?.count)
  assert.ok(waiting >= 6)
  let received = 0
  const server = createServer((_request, response) => {
    received++
    response.end('{"code":20000,"msg":""}')
  }).listen(0, '127.0.0.1')
  after(() => server.close().closeAllConnections())
  await until(() => server.listening)
  const origin = `127.0.0.1:${(server.address() as AddressInfo).port}`
  // The shop came back elsewhere, and the hour has passed.
  await target.pool.query(`update callbacks set callback_url = 'http://${origin}/', host = '${origin}'`)
  await target.pool.query(`update callback_queue set host = '${origin}', due_at = 0, claimed_until = null`)
  await target.pool.query('delete from callback_hosts')
  await startTestGateway({ environment: { DATABASE_URL: to.DATABASE_URL, MASTER_KEY } })
  await until(() => received >= waiting)
  await until(async () => (await target.pool.query('select from callback_queue')).rowCount === 0)
})

test('a backup that is cut, changed, or no backup at all is refused, and nothing is restored', async () => {
  const { pool } = await emptyDatabase()
  const restore = (path: string) =>
    restoreBackup(pool, { lines: readBackupFile(path), migrationsFolder, nowMs: 7, checkHeader: () => {} })
  const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n')
  const at = lines.findIndex((line) => line.startsWith('{') && line.includes('"order_no"'))
  const header = JSON.parse(lines[0] ?? '')
  const newer = [...header[1].migrations, { number: 9_999, name: 'later', checksum: '' }]
  const write = (name: string, some: readonly string[]): string => {
    writeFileSync(join(folder, name), gzipSync(`${some.join('\n')}\n`))
    return join(folder, name)
  }
  const cut = write('cut', lines)
  truncateSync(cut, statSync(cut).size - 100)
  const unchecked = write('unchecked', lines)
  truncateSync(unchecked, statSync(unchecked).size - 8)
  const dearer = (lines[at] ?? '').replace('"payment_amount_minor":', '"payment_amount_minor":1')
  const refused: [string, RegExp][] = [
    [write('lines', lines.slice(0, -1)), /damaged: it ends too early/],
    [cut, /unexpected end of file/],
    [unchecked, /unexpected end of file/],
    [write('longer', [...lines, '["table","orders"]']), /damaged: something follows its last line/],
    [write('row', lines.toSpliced(at, 1)), /table orders is not as it was written/],
    [write('amount', lines.with(at, dearer)), /table orders is not as it was written/],
    [write('strange', ['hello']), /not a backup/],
    [write('newer', [JSON.stringify([header[0], { ...header[1], migrations: newer }])]), /newer version/],
    [join(folder, 'nowhere'), /no such file/],
  ]
  for (const [path, why] of refused) {
    await assert.rejects(
      restore(path),
      (error) => error instanceof StartFailure && why.test(error.message),
      path,
    )
  }
  const kept = Object.entries(await digests(pool)).filter(
    ([table, digest]) => !tablePlans[table]?.isFilledByMigration && !digest.startsWith('0 '),
  )
  assert.deepEqual(kept, [], 'no table has a row')
  assert.ok((await restore(file)).tables.length > 10)
  assert.deepEqual((await verifyLedger(pool)).findings, [], 'what was taken under load is of one moment')
})

test('an encrypted backup is restored with its passphrase or key alone, and not when it was cut or changed', async () => {
  const { pool } = await emptyDatabase()
  await migrate(pool, migrationsFolder)
  await bindMode(pool, { mode: 'sandbox', isModeGiven: true })
  await pool.query(
    `insert into merchants (merchant_id, name, status, created_at) values ('123456789012345678', 'Oldest tea', 'active', 1)`,
  )
  const identity = await generateX25519Identity()
  const recipient = await identityToRecipient(identity)
  const passphrase = 'five green teapots sing'
  const passphraseFile = writeText('passphrase', `${passphrase}\n`)
  const identityFile = writeText('identity', `# made for a test\n${identity}\n`)
  const fill = (write: (text: string) => Promise<void>) =>
    writeBackup(pool, { madeAtMs: 1, madeBy: 'test', write })
  const byPassphrase = join(folder, 'passphrase.age')
  const byKey = join(folder, 'key.age')
  await writeBackupFile(byPassphrase, fill, { kind: 'passphrase', passphrase })
  await writeBackupFile(byKey, fill, { kind: 'recipients', recipients: [recipient] })
  const plain = join(folder, 'plain.jsonl.gz')
  await writeBackupFile(plain, fill)
  for (const path of [byPassphrase, byKey]) assert.ok(!readFileSync(path).includes('Oldest tea'))

  const bytes = readFileSync(byKey)
  const cut = join(folder, 'cut.age')
  writeFileSync(cut, bytes.subarray(0, -20))
  const changed = join(folder, 'changed.age')
  writeFileSync(changed, bytes.with(bytes.length - 40, (bytes.at(-40) ?? 0) ^ 1))
  const target = await emptyDatabase()
  const right = { kind: 'identities', identities: [identity] } as const
  const refused: [string, BackupDecryption | undefined, RegExp][] = [
    [byKey, undefined, /is encrypted\. Give --passphrase-file/],
    [plain, right, /is not encrypted, although/],
    [plain, { kind: 'passphrase', passphrase }, /is not encrypted, although/],
    [
      byPassphrase,
      { kind: 'passphrase', passphrase: 'five green teapots sang' },
      /another passphrase or key/,
    ],
    [byPassphrase, right, /another passphrase or key/],
    [byKey, { kind: 'passphrase', passphrase }, /another passphrase or key/],
    [byKey, { kind: 'identities', identities: [passphrase] }, /a line that is none of age/],
    [cut, right, /cut or changed/],
    [changed, right, /cut or changed/],
  ]
  for (const [path, decryption, why] of refused) {
    const lines = readBackupFile(path, decryption)
    await assert.rejects(
      restoreBackup(target.pool, { lines, migrationsFolder, nowMs: 7, checkHeader: () => {} }),
      (error) => error instanceof StartFailure && why.test(error.message),
      `${path} ${why}`,
    )
  }
  assert.equal((await readCatalog(target.pool)).tables.length, 0, 'nothing was changed')
  const environment = { DATABASE_URL: urlOf(target.connection), MASTER_KEY }
  const { code, err } = await tillgate(environment, 'db', 'restore', byKey, '--identity-file', identityFile)
  assert.equal(code, 0, err)
  const other = { DATABASE_URL: urlOf((await emptyDatabase()).connection), MASTER_KEY }
  const again = await tillgate(other, 'db', 'restore', byPassphrase, '--passphrase-file', passphraseFile)
  assert.equal(again.code, 0, again.err)

  const taken = join(folder, 'taken.age')
  const made = await tillgate(environment, 'db', 'backup', taken, '--recipient', recipient)
  assert.equal(made.code, 0, made.err)
  assert.match(made.out, /encrypted: without/)
  const refusedKeys: [string[], RegExp][] = [
    [['--recipient', 'age1nothing'], /age1nothing is no public key of age/],
    [['--passphrase-file', writeText('short', 'short')], /at least 12 characters/],
    [
      ['--recipient', recipient, '--passphrase-file', passphraseFile],
      /either --recipient or --passphrase-file/,
    ],
  ]
  for (const [args, why] of refusedKeys) {
    const { code, err } = await tillgate(environment, 'db', 'backup', join(folder, 'none.age'), ...args)
    assert.notEqual(code, 0)
    assert.match(err, why)
  }
  assert.ok(!readdirSync(folder).some((name) => name.startsWith('none.age')))
})

function writeText(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

test('a table that somebody else put beside ours does not stand in the way of a restore', async () => {
  const { pool: busy } = await emptyDatabase()
  await migrate(busy, migrationsFolder)
  await busy.query(`create table "Monthly report" as select n as month from generate_series(1, 12) n`)
  const path = join(folder, 'beside.jsonl.gz')
  await writeBackupFile(path, (write) => writeBackup(busy, { madeAtMs: 1, madeBy: 'test', write }))
  const { pool } = await emptyDatabase()
  const lines = readBackupFile(path)
  const { tables, leftOut } = await restoreBackup(pool, {
    lines,
    migrationsFolder,
    nowMs: 7,
    checkHeader: () => {},
  })
  assert.deepEqual(leftOut, [{ table: '"Monthly report"', rows: 12 }])
  assert.equal(
    tables.length,
    Object.keys(tablePlans).length - 2,
    'all of ours but what is about this database alone',
  )
})

test('a restore ends sessions and one-time links, revokes API tokens, and says from when on revocations must be repeated', async () => {
  const { pool } = await emptyDatabase()
  await migrate(pool, migrationsFolder)
  await bindMode(pool, { mode: 'sandbox', isModeGiven: true })
  await pool.query(
    `insert into operators (login, role, status, sealed_password, password_changed_at, created_at)
     values ('ann', 'admin', 'active', '\\x00', 1, 1)`,
  )
  await pool.query(
    `insert into operator_sessions (token_hash, login, address, created_at, last_seen_at, ends_at)
     values ('\\x01', 'ann', '127.0.0.1', 1, 1, 9999999999999)`,
  )
  await pool.query(
    `insert into api_tokens (token_id, token_hash, login, name, scopes, created_at, expires_at, revoked_at)
     values (gen_random_uuid(), '\\x02', 'ann', 'live', '{orders:read}', 1, 9999999999999, null),
            (gen_random_uuid(), '\\x03', 'ann', 'revoked', '{orders:read}', 1, 9999999999999, 5)`,
  )
  await pool.query(
    `insert into member_accounts (login, status, sealed_password, password_changed_at, created_at)
     values ('eve@shop.example', 'active', '\\x00', 1, 1)`,
  )
  await pool.query(
    `insert into member_sessions (token_hash, login, address, created_at, last_seen_at, ends_at)
     values ('\\x04', 'eve@shop.example', '127.0.0.1', 1, 1, 9999999999999)`,
  )
  await pool.query(
    `insert into member_links (link_id, token_hash, kind, login, made_by, created_at, expires_at)
     values (gen_random_uuid(), '\\x05', 'recovery', 'eve@shop.example', 'ann', 1, 9999999999999)`,
  )
  await pool.query(
    `insert into wallets (wallet_id, login, name, sealed_pin, status, created_at)
     values ('WAL1', 'bob@mail.example', 'Bob', '\\x00', 'active', 1)`,
  )
  await pool.query(
    `insert into wallet_sessions (token_hash, wallet_id, session_id, address, device, created_at, last_seen_at, ends_at)
     values ('\\x06', 'WAL1', gen_random_uuid(), '127.0.0.1', '', 1, 1, 9999999999999)`,
  )
  await pool.query(
    `insert into pin_resets (wallet_id, code_hash, created_at, expires_at) values ('WAL1', 'x', 1, 9999999999999)`,
  )
  await pool.query(
    `insert into approvals (approval_id, action, reason, requested_by, requested_as, requested_at, expires_at, status,
                            params, input, summary)
     values (gen_random_uuid(), 'token.add', '', 'ann', 'ann', 1, 9999999999999, 'waiting', '{}', '{}', 'a token')`,
  )
  const path = join(folder, 'access.jsonl.gz')
  await writeBackupFile(path, (write) => writeBackup(pool, { madeAtMs: 1_000, madeBy: 'test', write }))
  const target = await emptyDatabase()
  const { code, out, err } = await tillgate(
    { DATABASE_URL: urlOf(target.connection), MASTER_KEY },
    ...['db', 'restore', path, '--without-master-key'],
  )
  assert.equal(code, 0, err)
  assert.match(out, /Ended: 3 sessions of operators, members and wallets\./)
  assert.match(out, /Deleted: 2 one-time links and codes\. Revoked: 1 API tokens\./)
  assert.match(out, /Expired: 1 requests for approval\./)
  assert.match(out, /Changes and revocations after 1970-01-01T00:00:01\.000Z are lost\. Repeat them/)
  for (const table of [
    'operator_sessions',
    'member_sessions',
    'wallet_sessions',
    'member_links',
    'pin_resets',
  ])
    assert.equal((await target.pool.query(`select from ${table}`)).rowCount, 0, table)
  const tokens = await target.pool.query<{ name: string; revoked_at: string }>(
    'select name, revoked_at from api_tokens order by name',
  )
  assert.deepEqual(
    tokens.rows.map(({ name, revoked_at }) => [name, Number(revoked_at) > 5]),
    [
      ['live', true],
      ['revoked', false],
    ],
  )
  assert.equal((await pool.query('select from operator_sessions')).rowCount, 1, 'the original is untouched')
})

test('a backup of an older version is restored as it was, and brought up to date', async () => {
  const old = await freshDatabase()
  const sql = `insert into merchants (merchant_id, name, status, created_at) values ('123456789012345678', 'Old', 'active', 1)`
  await old.pool.query(sql)
  const path = join(folder, 'old.jsonl.gz')
  await writeBackupFile(path, (write) => writeBackup(old.pool, { madeAtMs: 1, madeBy: 'test', write }))
  const { pool } = await emptyDatabase()
  const newer = join(folder, 'newer migrations')
  cpSync(migrationsFolder, newer, { recursive: true })
  const next = String(readdirSync(newer).length + 1).padStart(4, '0')
  writeFileSync(join(newer, `${next}-nickname.sql`), 'alter table merchants add column nickname text;')
  const { migrated } = await restoreBackup(pool, {
    lines: readBackupFile(path),
    migrationsFolder: newer,
    nowMs: 7,
    checkHeader: () => {},
  })
  assert.deepEqual(migrated, [`${next}-nickname.sql`])
  assert.equal(
    (await pool.query(`select from merchants where name = 'Old' and nickname is null`)).rowCount,
    1,
  )
})
