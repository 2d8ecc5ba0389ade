// The doctor on a gateway that is well, and on the same gateway with one thing wrong: each problem is found, and the fix
// names what to change.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { openBank } from '../../../../examples/rail/server.ts'
import type { Finding } from '../../src/adapters/cli/doctor.ts'
import { type DoctorParts, examineGateway } from '../../src/app/doctor/doctor.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import { unknownNameWarnings } from '../../src/app/settings/unknown-names.ts'
import { noteBackup } from '../../src/platform/database/backup/backup-notes.ts'
import { developmentChecksum } from '../../src/platform/database/migrate.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { type Certificate, makeAuthority, makeSelfSigned } from '../support/certificates.ts'
import { runCommand } from '../support/command.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'
import { startMailServer } from '../support/mail-server.ts'
import { temporaryFolder } from '../support/process.ts'
import { command, urlOf } from '../support/server.ts'
import { freePort } from '../support/test-bank.ts'

const authority = makeAuthority()
const trusted = getCACertificates('default')
setDefaultCACertificates([...trusted, authority.ca])
after(() => setDefaultCACertificates(trusted))

const localhost = ['DNS:localhost']
const { pool, connection } = await freshDatabase()
const mail = await startMailServer({ password: 'right' })
const dataDir = temporaryFolder()
const day = 86_400_000
/** A proxy with a gateway behind it. */
async function serveTls(certificate: Certificate): Promise<string> {
  const server = createServer(certificate, (_request, response) => response.end('{"status":"alive"}'))
  await once(server.listen(0, 'localhost'), 'listening')
  after(() => server.close().closeAllConnections())
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

await noteBackup(pool, { tool: 'tests', takenAtMs: Date.now() })
const well: Readonly<Record<string, string>> = {
  MODE: 'live',
  PUBLIC_URL: await serveTls(authority.issue({ altNames: localhost })),
  TRUSTED_PROXIES: '127.0.0.1',
  HOST: '127.0.0.1',
  PORT: String(await freePort()),
  ADMIN_PORT: String(await freePort()),
  DATA_DIR: dataDir,
  DATABASE_URL: urlOf(connection),
  MASTER_KEY: Buffer.alloc(32, 5).toString('base64'),
  OPERATOR_PASSWORD: 'a long password of tests',
  SMTP_URL: mail.url.replace('//', '//tillgate:right@'),
  SMTP_FROM: 'Example <no-reply@pay.test>',
}

type Changes = Readonly<Record<string, string>>

async function examine(
  changes: Changes = {},
  { dotEnv = '', ...parts }: Partial<DoctorParts> & { dotEnv?: string } = {},
): Promise<readonly Finding[]> {
  const environment = { ...well, ...changes }
  return examineGateway({
    readSettings: () => readConfig(environment, dotEnv),
    unknownNames: () => unknownNameWarnings(environment, dotEnv),
    dotEnvFile: join(dataDir, '.env'),
    clock: systemClock,
    signal: new AbortController().signal,
    ...parts,
  })
}

/** The server of tests does without its disk, which the doctor sees; whatever else it sees is wrong. */
const problems = (findings: readonly Finding[]) =>
  findings.filter(({ outcome, found }) => /failed|warning/.test(outcome) && !found.startsWith('Off:'))

test('a gateway that is well has no problem, and each check says what it looked at', async () => {
  const findings = await examine()
  assert.deepEqual(problems(findings), [])
  assert.deepEqual(
    [...new Set(findings.map(({ check }) => check))],
    [
      ...[
        'settings',
        'files',
        'disk',
        'ports',
        'DNS',
        'TLS',
        'public URL',
        'proxy',
        'mail',
        'database',
        'clock',
      ],
      ...['schema', 'backup', 'master key'],
    ],
  )
})

async function changedDatabase(sql: string): Promise<Changes> {
  const made = await freshDatabase()
  for (const statement of sql.split(';')) await made.pool.query(statement)
  return { DATABASE_URL: urlOf(made.connection) }
}

interface Planted {
  readonly name: string
  readonly plant: () => Promise<Changes> | Changes
  readonly parts?: Parameters<typeof examine>[1]
  readonly found: RegExp
  readonly fix: RegExp
}

const planted: readonly Planted[] = [
  {
    name: 'a port that is none',
    plant: () => ({ PORT: '99999' }),
    found: /PORT must be a port number/,
    fix: /PORT=8080/,
  },
  {
    name: 'a live gateway whose public address is http',
    plant: () => ({ PUBLIC_URL: 'http://pay.example.com' }),
    found: /PUBLIC_URL must be a public https address/,
    fix: /PUBLIC_URL=https/,
  },
  {
    name: 'a misspelled setting in .env',
    plant: () => ({}),
    parts: { dotEnv: 'PUBLIC_ULR=https://pay.example.com' },
    found: /PUBLIC_ULR in \.env is not a setting.*PUBLIC_URL/,
    fix: /PUBLIC_ULR/,
  },
  {
    name: 'a name in the environment that nothing reads',
    plant: () => ({ SMTP_HOST: 'mail.example.com' }),
    found: /SMTP_HOST in the environment is not a setting/,
    fix: /Correct the name/,
  },
  {
    name: 'a master key that others can read',
    async plant() {
      const file = join(temporaryFolder(), 'key')
      writeFileSync(file, well['MASTER_KEY'] ?? '')
      chmodSync(file, 0o644)
      return { MASTER_KEY: '', MASTER_KEY_FILE: file }
    },
    found: /Every user of this machine can read/,
    fix: /chmod 600 .*key$/,
  },
  {
    name: 'a disk that is nearly full',
    plant: () => ({}),
    parts: { freeBytes: async () => 400_000_000 },
    found: /0\.4 GB are free/,
    fix: /Free some space, or move DATA_DIR/,
  },
  {
    name: 'a folder that is a file',
    plant() {
      const file = join(temporaryFolder(), 'data')
      writeFileSync(file, '')
      return { DATA_DIR: join(file, 'tillgate') }
    },
    found: /DATA_DIR cannot be created/,
    fix: /Set DATA_DIR/,
  },
  {
    name: 'a port that another program has',
    async plant() {
      const server = createHttpServer((_request, response) => response.end('another'))
      await once(server.listen(0, '127.0.0.1'), 'listening')
      after(() => server.close().closeAllConnections())
      return { PORT: String((server.address() as AddressInfo).port) }
    },
    found: /is taken by another program/,
    fix: /set PORT to a free port/,
  },
  {
    name: 'a listener on an address that this machine has not',
    plant: () => ({ ADMIN_HOST: '192.0.2.7' }),
    found: /no address 192\.0\.2\.7/,
    fix: /Set ADMIN_HOST/,
  },
  {
    name: 'a public name that does not resolve',
    plant: () => ({ PUBLIC_URL: 'https://pay.invalid' }),
    found: /pay\.invalid.*does not resolve/,
    fix: /DNS record.*pay\.invalid.*PUBLIC_URL/,
  },
  {
    name: 'no TLS at the public address',
    plant: async () => ({ PUBLIC_URL: `https://localhost:${await freePort()}` }),
    found: /No TLS at localhost/,
    fix: /Start the proxy/,
  },
  {
    name: 'a certificate that has expired',
    plant: async () => ({
      PUBLIC_URL: await serveTls(authority.issue({ altNames: localhost, validDays: { from: -9, to: -1 } })),
    }),
    found: /CERT_HAS_EXPIRED/,
    fix: /Renew the certificate/,
  },
  {
    name: 'a certificate that expires soon',
    plant: async () => ({
      PUBLIC_URL: await serveTls(authority.issue({ altNames: localhost, validDays: { from: -9, to: 5 } })),
    }),
    found: /expires in [45] days/,
    fix: /Renew the certificate/,
  },
  {
    name: 'a certificate of another host',
    plant: async () => ({ PUBLIC_URL: await serveTls(authority.issue({ altNames: ['DNS:other.test'] })) }),
    found: /ERR_TLS_CERT_ALTNAME_INVALID/,
    fix: /a certificate for localhost/,
  },
  {
    name: 'a certificate that signed itself',
    plant: async () => ({ PUBLIC_URL: await serveTls(makeSelfSigned(localhost)) }),
    found: /DEPTH_ZERO_SELF_SIGNED_CERT/,
    fix: /public authority/,
  },
  {
    name: 'a proxy that is not trusted',
    plant: () => ({ TRUSTED_PROXIES: 'none' }),
    found: /TRUSTED_PROXIES is empty/,
    fix: /Set TRUSTED_PROXIES/,
  },
  {
    name: 'half of the internet as a proxy',
    plant: () => ({ TRUSTED_PROXIES: '0.0.0.0/1' }),
    found: /any client address/,
    fix: /List only the addresses of your proxies/,
  },
  {
    name: 'a mail server that is not there',
    plant: async () => ({ SMTP_URL: `smtp://127.0.0.1:${await freePort()}` }),
    found: /rejects the gateway: .*ECONNREFUSED/,
    fix: /host, port and scheme.*SMTP_URL/,
  },
  {
    name: 'a wrong password of the mail server',
    plant: () => ({ SMTP_URL: mail.url.replace('//', '//tillgate:wrong@') }),
    found: /rejects the gateway/,
    fix: /user and password in SMTP_URL/,
  },
  {
    name: 'an identity provider that is not there',
    plant: async () => ({
      OIDC_ISSUER: `https://localhost:${await freePort()}`,
      OIDC_CLIENT_ID: 'tillgate',
      OIDC_CLIENT_SECRET: 'secret',
    }),
    found: /openid-configuration does not respond/,
    fix: /Correct OIDC_ISSUER/,
  },
  {
    name: 'a database that is not there',
    plant: async () => ({ DATABASE_URL: `postgresql://me:secret@127.0.0.1:${await freePort()}/tillgate` }),
    found: /me@127\.0\.0\.1:\d+\/tillgate does not respond/,
    fix: /Start the database.*DATABASE_URL/,
  },
  {
    name: 'a database that does not exist',
    plant: () => ({ DATABASE_URL: (well['DATABASE_URL'] ?? '').replace(/\/tillgate_\w+/, '/nowhere') }),
    found: /no such database/,
    fix: /create database/,
  },
  {
    name: 'a database in another encoding',
    async plant() {
      const name = `doctor_latin_${process.pid}`
      await command(
        connection,
        `create database ${name} encoding 'LATIN1' locale_provider libc locale 'C' template template0`,
      )
      after(() => command(connection, `drop database ${name} with (force)`))
      return { DATABASE_URL: (well['DATABASE_URL'] ?? '').replace(/\/tillgate_\w+/, `/${name}`) }
    },
    found: /LATIN1/,
    fix: /encoding 'UTF8'/,
  },
  {
    name: 'a database that accepts no writes',
    async plant() {
      const made = await freshDatabase()
      const { rows } = await made.pool.query<{ name: string }>('select current_database() as name')
      await made.pool.query(`alter database ${rows[0]?.name} set default_transaction_read_only = on`)
      return { DATABASE_URL: urlOf(made.connection) }
    },
    found: /accepts no writes/,
    fix: /default_transaction_read_only/,
  },
  {
    name: 'a schema that is newer than the program',
    plant: () => changedDatabase(`insert into migrations values (99, 'of-tomorrow', 'x', 0)`),
    found: /newer than this program/,
    fix: /Start the newer Tillgate/,
  },
  {
    name: 'a schema from before 1.0',
    plant: () =>
      changedDatabase(`update migrations set checksum = '${developmentChecksum}' where number = 1`),
    found: /development version/,
    fix: /Start commit/,
  },
  {
    name: 'a user who cannot create tables',
    async plant() {
      const made = await emptyDatabase()
      const role = `doctor_${process.pid}`
      await made.pool.query(`create role ${role} login`)
      after(() => command(connection, `drop role ${role}`))
      return { DATABASE_URL: urlOf(made.connection).replace(/\/\/\w+@/, `//${role}@`) }
    },
    found: /cannot create tables/,
    fix: /grant create on schema public/,
  },
  {
    name: 'the database of a sandbox',
    plant: () => changedDatabase(`insert into database_mode (mode) values ('sandbox')`),
    found: /belongs to sandbox/,
    fix: /Set MODE=sandbox/,
  },
  {
    name: 'a master key that is not the one of the database',
    async plant() {
      const made = await freshDatabase()
      const other = {
        DATABASE_URL: urlOf(made.connection),
        MASTER_KEY: Buffer.alloc(32, 6).toString('base64'),
      }
      assert.equal((await runCommand({ ...well, ...other }, ['operator', 'list'])).code, 0)
      return { DATABASE_URL: other.DATABASE_URL }
    },
    found: /another master key/,
    fix: /MASTER_KEY/,
  },
  {
    name: 'no operator and no password for the first one',
    plant: () => ({ OPERATOR_PASSWORD: '' }),
    found: /OPERATOR_PASSWORD must be set at the first start/,
    fix: /Set OPERATOR_PASSWORD/,
  },
  {
    name: 'a clock that is an hour behind',
    plant: () => ({}),
    parts: { clock: { ...systemClock, now: () => Date.now() - 3_600_000 } },
    found: /3600 s ahead of/,
    fix: /Synchronize both clocks/,
  },
  {
    name: 'no backup for three days',
    plant: () => changedDatabase(`insert into backups values ('tests', ${Date.now() - 3 * day})`),
    found: /72 hours old/,
    fix: /tillgate db backup/,
  },
]

for (const { name, plant, parts, found, fix } of planted)
  test(`it is found, with the fix: ${name}`, async () => {
    const all = problems(await examine(await plant(), parts))
    const match = all.find((problem) => found.test(problem.found))
    assert(match, JSON.stringify(all))
    assert.match(match.fix ?? '', fix)
  })

test('a server that would lose what it acknowledged is found', async (t) => {
  const { rows } = await pool.query<{ fsync: string }>('show fsync')
  if (rows[0]?.fsync === 'on') return t.skip('this server keeps its promises')
  const match = (await examine()).find(({ found }) => /Off: .*fsync/.test(found))
  assert.match(match?.fix ?? '', /Turn on/)
})

test('a rail is asked with its own secret: one that is away, one with another secret, one that is well', async () => {
  const made = await freshDatabase()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const sandbox = {
    DATA_DIR: temporaryFolder(),
    DATABASE_URL: urlOf(made.connection),
    PORT: well['PORT'] ?? '',
    ADMIN_PORT: well['ADMIN_PORT'] ?? '',
    SHOP_PORT: 'off',
    RAIL_PORT: 'off',
  }
  const about = (id: string) => [
    '--id',
    id,
    '--name',
    id,
    '--currencies',
    'EUR',
    '--reason',
    'tests',
    '--json',
  ]
  const added = await runCommand(sandbox, ['rail', 'add', '--url', `${url}/messages`, ...about('bank')])
  assert.equal(added.code, 0, added.err)
  const { secret } = JSON.parse(added.out) as { secret: string }
  const examineRail = async () => {
    const { out, code } = await runCommand(sandbox, ['doctor', '--json'])
    const { findings } = JSON.parse(out) as { findings: Finding[] }
    return { code, ...findings.find(({ check }) => check === 'rail bank') }
  }
  const away = await examineRail()
  assert.equal(away.code, 1)
  assert.match(away.found ?? '', /cannot be reached/)
  assert.match(away.fix ?? '', /Start the rail.*rail change bank --url/)

  const bank = (secrets: string[]) => openBank({ url, secrets, journalPath: undefined })
  const stranger = bank([`whsec_${Buffer.alloc(32, 9).toString('base64')}`])
  await once(stranger.listen(port, '127.0.0.1'), 'listening')
  const refused = await examineRail()
  stranger.close().closeAllConnections()
  assert.match(refused.found ?? '', /uses a different secret/)
  assert.match(refused.fix ?? '', /rail rotate-secret bank/)

  const right = bank([secret])
  await once(right.listen(port, '127.0.0.1'), 'listening')
  after(() => right.close().closeAllConnections())
  assert.equal((await examineRail()).outcome, 'ok')
})

test('for people each problem has its fix on the next line', async () => {
  const { out, code } = await runCommand({ ...well, ADMIN_HOST: '192.0.2.7' }, ['doctor'])
  assert.equal(code, 1)
  assert.match(out, /✗ ports +This machine has no address 192\.0\.2\.7\.\n +→ Set ADMIN_HOST to one/)
  assert.match(out, /\d failed, 0 warnings, \d+ ok, \d not checked\.\n$/)
})

test('a server that accepts connections and says nothing does not hold the doctor up', async () => {
  const silent = createTcpServer(() => {})
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  after(() => silent.close())
  const at = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  const all = problems(await examine({ PUBLIC_URL: `https://${at}` }))
  assert.deepEqual(
    all.map(({ check }) => check),
    ['TLS'],
  )
})
