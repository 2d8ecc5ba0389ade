import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { StartFailure } from '../runtime/start-failure.ts'
import { describeConnection, parseDatabaseUrl, withDatabase } from './connection.ts'

test('a DATABASE_URL is shown without its password', () => {
  const cases = {
    'postgresql://ann:s3cret@db.example:6432/shop': 'ann@db.example:6432/shop',
    'postgres://ann:s3cret@[::1]/shop?sslmode=disable': 'ann@::1:5432/shop',
    'postgresql://ann:s3cret@%2Frun%2Fpg/shop': '/run/pg (database shop)',
    'postgresql://ann:s3cret@/shop?host=/run/pg': '/run/pg (database shop)',
    'postgresql://ann:p%40s3cret%23@db.example/shop': 'ann@db.example:5432/shop',
  }
  for (const [url, words] of Object.entries(cases)) {
    assert.equal(describeConnection(parseDatabaseUrl(url)), words)
  }
})

test('an invalid DATABASE_URL is rejected with an example and without the password', () => {
  const cases: Record<string, RegExp> = {
    'mysql://ann:s3cret@db.example/shop': /must begin with postgresql:\/\//,
    'db.example/shop': /must begin with postgresql:\/\//,
    '': /must begin with postgresql:\/\//,
    'postgresql://ann:s3cret#@db.example/shop': /percent-encode/,
    'postgresql://ann:s3cret@db.example:65536/shop': /port/,
    'postgresql://ann:s3cret@db.example:port/shop': /port/,
    'postgresql://ann:s3cret@db.example:0/shop': /port/,
    'postgresql://ann:s3cret@db.example/shop?sslrootcert=/no/such.pem': /\/no\/such\.pem/,
  }
  for (const [url, words] of Object.entries(cases)) {
    assert.throws(
      () => parseDatabaseUrl(url),
      (error) => {
        assert.ok(error instanceof StartFailure)
        assert.match(error.message, words)
        assert.match(error.message, /\nExample: DATABASE_URL=/)
        assert.ok(!error.message.includes('s3cret'))
        return true
      },
      url,
    )
  }
})

test('another database on the same server keeps all other parts', () => {
  const url = parseDatabaseUrl('postgresql://ann:p%40ss@db.example:6432/shop?application_name=x')
  assert.deepEqual(withDatabase(url, 'other'), {
    connectionString: 'postgresql://ann:p%40ss@db.example:6432/other?application_name=x',
  })
  const socket = { host: '/run/pg', port: 5432, user: 'ann', database: 'shop', ssl: false } as const
  assert.deepEqual(withDatabase(socket, 'other'), { ...socket, database: 'other' })
})

test('a URL without a user is shown without one if the process has no user name', (t) => {
  const { user } = pg.defaults
  t.after(() => {
    pg.defaults.user = user
  })
  pg.defaults.user = undefined
  assert.equal(
    describeConnection(parseDatabaseUrl('postgres://db.internal:5432/till')),
    'db.internal:5432/till',
  )
})
