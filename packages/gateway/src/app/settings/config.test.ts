import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigurationFailure } from '../../platform/settings/settings-table.ts'
import { readConfig } from './config.ts'
import { envExample } from './env-example.ts'
import { settings } from './settings.ts'

const key = Buffer.alloc(32, 7).toString('base64')

test('the defaults start a sandbox that listens only on this machine', () => {
  const config = readConfig({})
  assert.equal(config.mode, 'sandbox')
  assert.equal(config.isModeGiven, false)
  assert.deepEqual(config.publicListener, { host: 'localhost', port: 8080 })
  assert.deepEqual(config.adminListener, { host: '127.0.0.1', port: 8081 })
  assert.equal(config.publicUrl, undefined)
  assert.equal(config.databaseUrl, undefined)
  assert.ok(config.dataDir.endsWith('/data'))
})

test('the config is frozen, including its listeners and lists', () => {
  const config = readConfig({})
  assert.ok(Object.isFrozen(config))
  assert.ok(Object.isFrozen(config.publicListener))
  assert.ok(Object.isFrozen(config.trustedProxies))
})

test('the environment overrides .env, and an empty variable counts as not set', () => {
  assert.equal(readConfig({ PORT: '9000' }, 'PORT=9001').publicListener.port, 9000)
  assert.equal(readConfig({}, 'PORT=9001').publicListener.port, 9001)
  assert.equal(readConfig({ PORT: '' }, 'PORT=9001').publicListener.port, 9001)
  assert.equal(readConfig({ PORT: '' }, 'PORT=').publicListener.port, 8080)
})

test('all problems are reported at once, each with an example', () => {
  const problems = problemsOf({
    PORT: 'eighty',
    MODE: 'production',
    DATABASE_POOL: '1',
    PUBLIC_URL: 'pay.example.com',
  })
  assert.deepEqual(
    problems.map(({ name }) => name),
    ['MODE', 'PORT', 'PUBLIC_URL', 'DATABASE_POOL'],
  )
  for (const problem of problems) assert.ok(problem.example)
})

test('a misspelled name in .env is rejected with the closest known name', () => {
  const [problem] = problemsOf({}, 'DATABSE_URL=postgres://localhost/x')
  assert.match(problem?.problem ?? '', /did you mean DATABASE_URL\?/)
  assert.doesNotThrow(() => readConfig({}, 'constructor=1'))
})

test('another tool’s names, in .env or the environment, do not prevent the start', () => {
  assert.doesNotThrow(() => readConfig({}, 'SOMETHING_ELSE_ENTIRELY=1'))
  assert.doesNotThrow(() => readConfig({ HOME: '/root', DATABSE_URL: 'x' }))
})

test('live mode reports all missing settings at once, and starts when they are set', () => {
  assert.deepEqual(
    problemsOf({ MODE: 'live' }).map(({ name }) => name),
    ['PUBLIC_URL', 'MASTER_KEY', 'TRUSTED_PROXIES', 'OPERATOR_PASSWORD'],
  )
  assert.deepEqual(
    problemsOf({
      MODE: 'live',
      PUBLIC_URL: 'http://pay.example.com',
      MASTER_KEY: key,
      TRUSTED_PROXIES: 'none',
      OPERATOR_PASSWORD: 'long enough for us',
    }).map(({ name }) => name),
    ['PUBLIC_URL'],
  )
  const right = {
    MODE: 'live',
    PUBLIC_URL: 'https://pay.example.com/',
    MASTER_KEY: key,
    TRUSTED_PROXIES: '10.0.0.1, fd00::/8',
  }
  const config = readConfig(right)
  assert.equal(config.publicUrl, 'https://pay.example.com')
  assert.deepEqual(config.trustedProxies, ['10.0.0.1', 'fd00::/8'])
})

test('live mode rejects every secret of .env.example, and the sandbox accepts them', () => {
  const right = { MODE: 'live', PUBLIC_URL: 'https://x.example', MASTER_KEY: key, TRUSTED_PROXIES: 'none' }
  const secrets = ['METRICS_TOKEN', 'DATABASE_URL', 'MASTER_KEY', 'OPERATOR_PASSWORD'] as const
  for (const name of secrets) {
    const { example } = settings[name]
    const [problem, ...others] = problemsOf({ ...right, [name]: example })
    assert.deepEqual([problem?.name, others], [name, []])
    assert.match(problem?.problem ?? '', /a published example/)
    assert.doesNotThrow(() => readConfig({ MODE: 'sandbox', [name]: example }))
  }
  const both = `${key},${settings.MASTER_KEY.example}`
  assert.match(problemsOf({ ...right, MASTER_KEY: both })[0]?.problem ?? '', /a published example/)
})

test('proxies are single addresses or ranges, but not every address', () => {
  assert.deepEqual(readConfig({ TRUSTED_PROXIES: 'none' }).trustedProxies, [])
  for (const wrong of ['abc', '1.2.3', '10.0.0.0/99', '10.0.0.1,,', '0.0.0.0/0', '::/0', 'fe80::1%eth0/64']) {
    assert.equal(problemsOf({ TRUSTED_PROXIES: wrong })[0]?.name, 'TRUSTED_PROXIES', wrong)
  }
})

test('a master key is exactly 32 bytes of canonical base64, given once', () => {
  assert.equal(readConfig({ MASTER_KEY: key }).masterKey?.length, 32)
  for (const wrong of ['short', Buffer.alloc(31).toString('base64'), `${key}!`, key.replace(/=$/, '')]) {
    assert.equal(problemsOf({ MASTER_KEY: wrong })[0]?.name, 'MASTER_KEY', wrong)
  }
  assert.equal(problemsOf({ MASTER_KEY: key, MASTER_KEY_FILE: '/x' })[0]?.name, 'MASTER_KEY_FILE')
})

test('the two listeners cannot share a port', () => {
  assert.equal(problemsOf({ PORT: '9000', ADMIN_PORT: '9000' })[0]?.name, 'ADMIN_PORT')
})

test('numbers are accepted up to their limits and rejected beyond', () => {
  assert.equal(readConfig({ DATABASE_POOL: '2' }).databasePoolMax, 2)
  assert.equal(readConfig({ DATABASE_POOL: '500' }).databasePoolMax, 500)
  for (const wrong of ['1', '501', '-3', '3.5', '1e2'])
    assert.equal(problemsOf({ DATABASE_POOL: wrong }).length, 1, wrong)
  assert.equal(readConfig({ PORT: '65535' }).publicListener.port, 65_535)
  assert.equal(problemsOf({ PORT: '65536' }).length, 1)
})

test('.env.example matches the settings', () => {
  const path = join(import.meta.dirname, '../../../../../.env.example')
  assert.equal(
    readFileSync(path, 'utf8'),
    envExample(),
    'run: node packages/gateway/src/app/settings/env-example.ts > .env.example',
  )
})

test('every setting accepts its own example', () => {
  for (const { example, parse } of Object.values(settings)) assert.doesNotThrow(() => parse(example))
})

function problemsOf(environment: Record<string, string>, dotEnv?: string) {
  try {
    readConfig(environment, dotEnv)
  } catch (error) {
    if (error instanceof ConfigurationFailure) return error.problems
    throw error
  }
  assert.fail('the configuration was accepted')
}
