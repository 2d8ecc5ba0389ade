// A DATABASE_URL at startup: which errors are retried, which are final, and their messages.
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import tls from 'node:tls'
import { makeSelfSigned } from '../../../test/support/certificates.ts'
import { makeDataDir } from '../../../test/support/data-dir.ts'
import { exitCodes, StartFailure } from '../runtime/start-failure.ts'
import { parseDatabaseUrl } from './connection.ts'
import { type Embedded, startEmbedded } from './embedded/embedded.ts'
import { openPool } from './pool.ts'
import { type DatabaseAway, insist, oldestMajorVersion, waitForDatabase } from './wait-for-database.ts'

// The server asks the user "guest" for a password over its socket.
const dataDir = await makeDataDir({ after })
const start = () => startEmbedded({ dataDir, settings: { fsync: 'off' } })
const accessFile = path.join(dataDir, 'postgres/pg_hba.conf')
await writeFile(
  accessFile,
  `local all guest scram-sha-256\nlocal all stranger reject\n${await readFile(accessFile, 'utf8')}`,
)
let server: Embedded = await start()
after(() => server.stop())
const pool = openPool(server.connection)
await pool.query(`create role guest login password 's3cret'`)
await pool.close()
assert.ok('host' in server.connection)
const host = encodeURIComponent(server.connection.host)

function urlFor({ user = 'guest', password = 's3cret', database = 'tillgate', query = '' } = {}): string {
  return `postgresql://${user}:${password}@${host}/${database}${query}`
}

async function refusalOf(url: string): Promise<string> {
  const report = (event: DatabaseAway) => assert.fail(`waited: ${event.reason}`)
  try {
    await waitForDatabase(parseDatabaseUrl(url), { report })
  } catch (error) {
    assert.ok(error instanceof StartFailure, String(error))
    assert.equal(error.exitCode, exitCodes.settings)
    assert.ok(!/s3cret|wr0ng/.test(error.message), error.message)
    return error.message
  }
  throw new Error('it was accepted')
}

test('a valid DATABASE_URL is accepted at once', async () => {
  const { majorVersion } = await waitForDatabase(parseDatabaseUrl(urlFor()))
  assert.ok(majorVersion >= oldestMajorVersion)
})

test('a wrong or missing password, an unknown user and a barred one are final errors', async () => {
  assert.match(await refusalOf(urlFor({ password: 'wr0ng' })), /refused the password\.\n.*DATABASE_URL/)
  assert.match(await refusalOf(urlFor({ password: '' })), /refused the password/)
  assert.match(
    await refusalOf(urlFor({ user: 'whoever' })),
    /does not let this user in: role "whoever" does not exist/,
  )
  assert.match(await refusalOf(urlFor({ user: 'stranger' })), /does not let this user in: .*pg_hba\.conf/s)
})

test('an unknown database is a final error', async () => {
  assert.match(
    await refusalOf(urlFor({ database: 'nowhere' })),
    /nowhere\) has no such database\.\nCreate it/,
  )
})

test('TLS that the server does not support is a final error', async () => {
  assert.match(
    await refusalOf(urlFor({ query: '?sslmode=verify-full' })),
    /does not speak TLS\.\n.*sslmode=disable/,
  )
})

test('an unreachable server is retried with growing pauses until it is back', async () => {
  await server.stop()
  const results: DatabaseAway[] = []
  const report = (event: DatabaseAway) => {
    results.push(event)
    // The server returns after two failed attempts.
    if (results.length === 2) starting.resolve(start())
  }
  const starting = Promise.withResolvers<Embedded>()
  const waiting = waitForDatabase(parseDatabaseUrl(urlFor()), { report })
  server = await starting.promise
  await waiting
  assert.ok(results.length >= 2)
  assert.match(results[0]?.reason ?? '', /ENOENT|ECONNREFUSED|shutting down|starting up/)
  assert.deepEqual(
    results.slice(0, 2).map(({ retryInMs }) => retryInMs),
    [250, 500],
  )
  assert.ok(!JSON.stringify(results).includes('s3cret'))
})

test('a closed port is retried, and the wait can be cancelled', async () => {
  const closed = net.createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const { port } = closed.address() as net.AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  const giveUp = new AbortController()
  const results: DatabaseAway[] = []
  const waiting = waitForDatabase(parseDatabaseUrl(`postgresql://ann:s3cret@127.0.0.1:${port}/shop`), {
    signal: giveUp.signal,
    report: (event) => {
      results.push(event)
      giveUp.abort()
    },
  })
  await assert.rejects(waiting, { name: 'AbortError' })
  assert.equal(results.length, 1)
  assert.match(results[0]?.reason ?? '', /ECONNREFUSED/)
  assert.equal(results[0]?.address, `ann@127.0.0.1:${port}/shop`)
})

test('an outdated PostgreSQL is a final error', async (t) => {
  const url = await serve(t, (socket) => {
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', int32(0)), message('Z', Buffer.from('I'))]))
      socket.once('data', () => socket.write(answerOfVersion('140012')))
    })
  })
  assert.match(await refusalOf(url), /is PostgreSQL 14; Tillgate needs 15 or newer/)
})

test('an untrusted certificate is a final error', async (t) => {
  const selfSigned = makeSelfSigned(['IP:127.0.0.1'])
  const url = await serve(t, (socket) => {
    socket.once('data', () => {
      socket.write('S')
      new tls.TLSSocket(socket, { isServer: true, ...selfSigned }).on('error', () => {})
    })
  })
  assert.match(
    await refusalOf(`${url}?sslmode=verify-full`),
    /certificate .* was not accepted: self-signed certificate.*\n.*sslrootcert/,
  )
})

/** A fake server, for behavior that the real one cannot show. */
async function serve(
  t: { after(step: () => Promise<void>): void },
  onConnection: (socket: net.Socket) => void,
): Promise<string> {
  const fake = net.createServer((socket) => {
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise((resolve) => fake.close(() => resolve())))
  return `postgresql://ann:s3cret@127.0.0.1:${(fake.address() as net.AddressInfo).port}/shop`
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value)
  return buffer
}

function message(kind: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body])
}

/** Two columns, one row: the version, and that the server is not a standby. */
function answerOfVersion(version: string): Buffer {
  const column = (name: string, type: number) =>
    Buffer.concat([Buffer.from(`${name}\0`), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)])
  const value = (text: string) => Buffer.concat([int32(text.length), Buffer.from(text)])
  return Buffer.concat([
    message('T', Buffer.concat([int16(2), column('version', 23), column('isStandby', 16)])),
    message('D', Buffer.concat([int16(2), value(version), value('f')])),
    message('C', Buffer.from('SELECT 1\0')),
    message('Z', Buffer.from('I')),
  ])
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeInt16BE(value)
  return buffer
}

test('startup is retried if the database disappears, and not after another error', async () => {
  const sessions = openPool(server.connection)
  const results: DatabaseAway[] = []
  let begun = 0
  const begin = async () => {
    begun++
    if (begun === 1) await sessions.query('select pg_terminate_backend(pg_backend_pid())')
    const { rows } = await sessions.query<{ one: number }>('select 1 as one')
    return rows
  }
  const waiting = { report: (event: DatabaseAway) => results.push(event) }
  assert.deepEqual(await insist(server.connection, waiting, begin), [{ one: 1 }])
  assert.equal(begun, 2)
  assert.match(results.map(({ reason }) => reason).join(), /terminating connection|Connection terminated/)
  await assert.rejects(
    insist(server.connection, waiting, () => sessions.query('select * from nowhere')),
    /"nowhere" does not exist/,
  )
  assert.equal(results.length, 1)
  await sessions.close()
})
